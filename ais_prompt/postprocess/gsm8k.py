"""Answers of GSM8K, and its gold. What counts as a number: `ais_prompt.postprocess.numbers`.

Source: Cobbe et al. 2021, "Training Verifiers to Solve Math Word Problems" (the ``####`` mark), and OpenCompass,
``opencompass/datasets/gsm8k.py`` (the last number of the answer).
"""

from __future__ import annotations

from ais_prompt.errors import DataError
from ais_prompt.postprocess.numbers import last_number
from ais_prompt.registry import POSTPROCESSORS


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def gsm8k_postprocess(text: str) -> str | None:
    """The last number of an answer, e.g. ``1250.50``; None if there is none.

    A base model goes on with a next "Question:" of its own; what stands there is not part of the answer.
    OpenCompass reads "1,000" as 000 and "16-18" as -18; here they are 1000 and 18.
    """
    return last_number(text.partition("Question:")[0])


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def gsm8k_dataset_postprocess(text: str) -> str:
    """The gold: what stands after ``####``, without thousands commas.

    Raises:
        DataError: there is no ``####``, or nothing after it.
    """
    _, mark, gold = str(text).rpartition("####")
    gold = gold.strip().replace(",", "")
    if not (mark and gold):
        raise DataError(
            f"the gold answer {str(text)[-40:]!r} has no '#### <number>'",
            fix="leave out dataset_postprocessor if the output column holds the plain answer",
        )
    return gold
