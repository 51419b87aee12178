"""Test whether a postprocessor finds the answer in ordinary phrasings.

The gold of a dataset is put into ordinary phrasings, and must come back out of each. Eight, from "a short sentence" on,
are the frames of answers that real models gave: SmolLM2-135M-Instruct to sums, and code-davinci-002 to BIG-Bench Hard.
The last ten were written by people who did not write the postprocessors, and no postprocessor was made for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct

from ais_prompt.checks.prompt_warning import PromptWarning
from ais_prompt.errors import AisPromptError
from ais_prompt.evaluators import BatchEvaluator, Evaluator, JudgeEvaluator
from ais_prompt.parts import exception_line
from ais_prompt.plan import Plan, PlannedDataset, Postprocessor
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import Sample

PHRASINGS: Final[Mapping[str, str]] = {
    "plain": "%s",
    "on a line of its own": "\n%s\n",
    "in a sentence": "The answer is %s.",
    "after a colon": "Answer: %s",
    "bold": "The answer is **%s**.",
    "a bold heading": "**Final Answer:** %s",
    "boxed": "The final answer is $\\boxed{%s}$.",
    "in brackets": "The correct answer is (%s).",
    "in quotation marks": 'So the answer is "%s".',
    "after reasoning": "Let us think step by step. First we read the question twice.\n\nTherefore, the answer is %s.",
    "Chinese": "答案是%s。",
    "Chinese, after reasoning": "我们一步一步来想。\n\n因此，正确答案是：%s",
    "a short sentence": "It is %s.",
    "an opinion": "I think it is %s.",
    "after a word": "Sure! %s",
    "with a remark": "%s\n\nThis is a classic example of such a question.",
    "marked twice": "#### %s\nThe answer is: %s",
    "in capitals": "ANSWER: %s",
    "after a thought": "Let's think step by step. So the answer is %s.",
    "before an offer": "The correct answer is **%s**.\n\nLet me know if you need more help.",
    "my answer": "My answer is %s.",
    "a result": "I get %s.",
    "what comes out": "This gives us %s.",
    "a choice": "I would go with %s.",
    "a conclusion": "That makes %s.",
    "below a heading": "### Final answer\n%s",
    "a displayed formula": "\\[\\boxed{%s}\\]",
    "a tag": "<answer>%s</answer>",
    "JSON": '{"answer": "%s"}',
    "Chinese, a result": "最后得到%s。",
}
"""Name → how a model may say it; ``%s`` is the answer."""

GOLDS: Final = 20
"""Different golds of a dataset that are tried, spread over it."""

LONGEST: Final = 80
"""Characters of a gold that fits into a sentence; longer texts and programs do not."""


class LostAnswer(Struct, frozen=True):
    """An answer that did not come back.

    Attributes:
        phrasing: name of the phrasing.
        text: what the model would have said.
        extracted: what the postprocessor made of it; None if it found nothing.
    """

    phrasing: str
    text: str
    extracted: Any


class ExtractionTrial(Struct, frozen=True):
    """How many golds of a dataset a postprocessor finds.

    Attributes:
        dataset: its ``abbr``.
        postprocessor: type of the postprocessor.
        golds: how many golds were tried, each in every phrasing.
        lost: the first answer of each phrasing that does not come back for all golds.
    """

    dataset: str
    postprocessor: str
    golds: int
    lost: tuple[LostAnswer, ...]


def reader_warnings(plan: Plan, place: Callable[[str], str]) -> Iterator[PromptWarning]:
    """Warn of the user's own postprocessors that lose most phrasings of an answer; each is tried with one gold.

    Args:
        plan: of a run.
        place: adds ``file:line`` to a config path.
    """
    tried: set[str] = set()
    for dataset in plan.scorings:
        reader = dataset.spec.eval.pred_postprocessor
        if reader is None or reader.type in POSTPROCESSORS.shipped or reader.type in tried:
            continue
        tried.add(reader.type)
        with suppress(AisPromptError):  # the run says what is wrong with the data
            trial = try_extraction(dataset, most=1)
            if trial is not None and len(trial.lost) > len(PHRASINGS) / 2:
                kept = len(PHRASINGS) - len(trial.lost)
                what = f"{reader.type} gives back the answer of {kept} of {len(PHRASINGS)} ordinary phrasings"
                lost = trial.lost[0]
                example = f"{lost.text!r} gives {'nothing' if lost.extracted is None else repr(lost.extracted)}"
                fix = f"read more forms, or say in the prompt which form you want: {example}; check shows all"
                yield PromptWarning(what, place(reader.where), fix)


def try_extraction(dataset: PlannedDataset, most: int = GOLDS) -> ExtractionTrial | None:
    """Try the postprocessor of a dataset; None without one, with a judge, with an evaluator
    of all answers at once, or without short golds.

    Args:
        dataset: of a plan.
        most: golds that are tried at most.

    Raises:
        AisPromptError: the data cannot be read, or a gold cannot be used.
    """
    evaluator = dataset.evaluator
    postprocessor = dataset.spec.eval.pred_postprocessor
    if evaluator is None or postprocessor is None or isinstance(evaluator, JudgeEvaluator | BatchEvaluator):
        return None
    golds = _short_golds(dataset.data.test, dataset.gold_of)[:most]
    if not golds:
        return None
    lost = [found for name in PHRASINGS if (found := _first_lost(name, golds, dataset.answer_of, evaluator))]
    return ExtractionTrial(dataset.spec.abbr, postprocessor.type, len(golds), tuple(lost))


def _short_golds(samples: Sequence[Sample], gold_of: Postprocessor) -> list[Any]:
    """Return different golds that are short texts or numbers, spread over the dataset."""
    step = max(1, len(samples) // GOLDS)
    golds = [gold_of(samples[row].gold) for row in range(0, len(samples), step)][:GOLDS]
    short = [gold for gold in golds if isinstance(gold, str | int | float) and 0 < len(str(gold)) <= LONGEST]
    return list(dict.fromkeys(gold for gold in short if "\n" not in str(gold)))


def _first_lost(
    phrasing: str, golds: Sequence[Any], answer_of: Postprocessor, evaluator: Evaluator
) -> LostAnswer | None:
    for gold in golds:
        text = PHRASINGS[phrasing].replace("%s", str(gold))
        try:
            extracted = answer_of(text)
            back = extracted is not None and _value(evaluator, extracted, gold) == _value(evaluator, str(gold), gold)
        except Exception as error:  # a postprocessor of the user's own can raise whatever it likes
            extracted, back = exception_line(error.__cause__ or error), False
        if not back:
            return LostAnswer(phrasing, text, extracted)
    return None


def _value(evaluator: Evaluator, answer: Any, gold: Any) -> float:
    """Return the main metric of an answer."""
    return evaluator.score(answer, gold)[evaluator.metrics[0]]
