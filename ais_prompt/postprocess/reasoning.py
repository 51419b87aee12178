"""What a model says after it has thought."""

from __future__ import annotations

from ais_prompt.postprocess.source import THINK_END, THINK_START, said
from ais_prompt.registry import POSTPROCESSORS


@POSTPROCESSORS.register_module(name=["extract_non_reasoning_content", "extract-non-reasoning-content"])
def extract_non_reasoning_content(
    text: str, think_start_token: str = THINK_START, think_end_token: str = THINK_END
) -> str | None:
    """Return the text without its thoughts; None if nothing is left, as when a thought never ended.

    Args:
        text: the answer of the model.
        think_start_token, think_end_token: the texts around a thought.

    Many chat templates write the start themselves, so an answer may have the end only; what comes before it is thought.

    >>> extract_non_reasoning_content("<think>2+2, that is 4</think>4")
    '4'
    >>> extract_non_reasoning_content("that is 4</think> 4")
    '4'
    >>> extract_non_reasoning_content("Well. <think>a</think>So 4 <think>b</think>it is.")
    'Well. So 4 it is.'
    >>> extract_non_reasoning_content("<think>that is 4, or is it")

    Source: OpenCompass and AISBench, ``extract_non_reasoning_content``; there a thought that never ended is the answer.
    """
    rest = said(text, fold=False, start=think_start_token, end=think_end_token)
    return rest.stripped("after thinking", 0, len(rest.text))
