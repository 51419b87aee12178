"""Compare what two models answered: likelihoods of texts, tokens of prompts, answers, their form, and calls of tools.

Each side of the comparison is evidence with a p-value, and `decide` makes one decision of all of it: Holm's correction
keeps the chance of a difference that is none at `LEVEL`, over all tests together.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any, Final, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.extensions.evidence.equality import (
    Matrix,
    answer_kernel,
    blocks,
    detectable_share,
    detectable_shift,
    number_kernel,
    paired_test,
    same_test,
    shift_test,
)
from ais_prompt.metrics import LEVEL, holm
from ais_prompt.types import ChatMessage, Completion, Prediction, Usage
from ais_prompt.utils import counted

RESOLUTION: Final = 1e-4
"""Differences of log-likelihoods, in nats per token, that count as rounding."""
MOST_ANSWERS: Final = 4_000
"""Answers that are compared at most, since every two of them are; prompts beyond are left out at random."""
_LEAST_PROMPTS: Final = 2

Answers = Mapping[str, Prediction]
"""Sample id → what a model answered."""
Subject = Literal["likelihoods", "prompts", "answers", "lengths", "endings", "JSON", "tool calls", "arguments"]


class Evidence(Struct, frozen=True):
    """What was compared, before the decision.

    Attributes:
        subject: what was compared.
        shown: what was found, in words.
        p: of the test; None if nothing was tested.
        differs: whether there is a difference, without a test; None if a test decides, or nothing could be compared.
        detectable: returns the smallest difference that a test at a level finds in 80 % of trials, None if it finds
            none, and what that is a difference of.
    """

    subject: Subject
    shown: str
    p: float | None = None
    differs: bool | None = None
    detectable: Callable[[float], tuple[float | None, str]] | None = None


class ModelFinding(Struct, frozen=True):
    """What was found about one side of two models.

    Attributes:
        subject: what was compared.
        differs: whether a difference was found; None if it could not be compared.
        text: what was found, in words.
        p: of the test, uncorrected; None without a test.
        detectable: smallest difference that would have been found in 80 % of trials: a share of foreign answers, a
            difference of shares, or characters.
    """

    subject: Subject
    differs: bool | None
    text: str
    p: float | None = None
    detectable: float | None = None


def decide(evidence: Sequence[Evidence]) -> list[ModelFinding]:
    """Decide which differences are shown, at `LEVEL` over all tests together (Holm 1979)."""
    tested = {number: one.p for number, one in enumerate(evidence) if one.p is not None}
    corrected = holm(tested)
    findings = []
    for number, one in enumerate(evidence):
        if one.p is None:
            findings.append(ModelFinding(one.subject, one.differs, one.shown))
        elif corrected[number] <= LEVEL:
            findings.append(ModelFinding(one.subject, True, f"{one.shown}, p {one.p:.2g}: they differ", one.p))
        else:
            value, words = (None, "") if one.detectable is None else one.detectable(LEVEL / len(tested))
            text = f"{one.shown}, p {one.p:.2g}: no difference is shown" + (f"; {words}" if words else "")
            findings.append(ModelFinding(one.subject, False, text, one.p, value))
    return findings


def compare_prompts(first: Answers, second: Answers) -> Evidence:
    """Compare the prompts as they were sent, and how many tokens they have there.

    Other tokens for the same prompts show another template, system prompt or BOS of the server.
    """
    pairs = [(first[sample], second[sample]) for sample in first if sample in second]
    sent = [(one.origin_prompt, other.origin_prompt) for one, other in pairs]
    others = sum(isinstance(one, str) == isinstance(other, str) and one != other for one, other in sent)
    if others:
        shown = (
            f"{others} of {counted(len(pairs), 'prompt')} are not the same in both, which alone makes answers differ"
        )
        return Evidence("prompts", shown, differs=True)
    gaps = []
    for pair in pairs:
        tokens = [_prompt_tokens(side) for side in pair]
        if None not in tokens:
            gaps.append(tokens[1] - tokens[0])  # type: ignore[operator]  # none is None
    if not gaps:
        return Evidence("prompts", "a side does not count the tokens of prompts")
    if not any(gaps):
        shown = f"{counted(len(gaps), 'prompt')} have as many tokens on both sides"
        return Evidence("prompts", shown, differs=False)
    low, high = min(gaps), max(gaps)
    range_ = f"{low:+d}" if low == high else f"{low:+d} to {high:+d}"
    why = "a template, system prompt or BOS differs" if low == high else "the tokenizers or templates differ"
    return Evidence("prompts", f"the prompts of the second have {range_} tokens: {why}", differs=True)


def compare_answers(first: Answers, second: Answers) -> list[Evidence]:
    """Compare the texts of the answers to the same prompts, their lengths, and whether they end by themselves."""
    pairs, count = _paired(first, second, 2)
    if len(pairs) < _LEAST_PROMPTS:
        return [Evidence("answers", "too few answers: both sides need answers to two prompts in common")]
    return [
        _texts_of(pairs, count, len(first.keys() & second.keys())),
        *_forms(
            pairs,
            count,
            {"lengths": lambda _, answer: len(_text(answer)), "endings": lambda _, answer: not answer.truncated},
        ),
    ]


def compare_formats(first: Answers, second: Answers, *, with_keys: bool) -> list[Evidence]:
    """Compare how often answers are JSON.

    Args:
        first, second: the sides.
        with_keys: it must be an object with the keys that are the gold.
    """
    return _forms(*_paired(first, second, 1), {"JSON": _keeps_keys if with_keys else _is_json})


def compare_tool_calls(first: Answers, second: Answers) -> list[Evidence]:
    """Compare how often tools are called, and how often the arguments of the calls are JSON objects."""
    return _forms(
        *_paired(first, second, 1),
        {"tool calls": lambda _, answer: bool(answer.tool_calls), "arguments": _parses_arguments},
    )


def compare_likelihoods(first: Sequence[Answers], second: Sequence[Answers]) -> Evidence:
    """Compare the log-likelihoods of texts.

    Args:
        first, second: what each side gave each time it was asked: twice, or in runs once.
    """
    values, others = [], 0
    for sample in first[0]:
        asked = [side.get(sample) for side in (first[0], first[-1], second[0], second[-1])]
        measured = [None if one is None else next(iter(one.completions)).likelihood for one in asked]
        known = [one for one in measured if one is not None and one.tokens]
        if len(known) == len(measured):
            values.append([-one.nll / one.tokens for one in known])  # nats per token
            others += len({one.bytes for one in known}) > 1
    if others:
        shown = f"{others} of {counted(len(values), 'text')} have another length on the other side, as in a template"
        return Evidence("likelihoods", shown)
    if not values:
        return Evidence("likelihoods", "a side gives no likelihoods")
    numbers = np.array(values, np.float64)
    noise = float(np.abs(numbers[:, [0, 2]] - numbers[:, [1, 3]]).mean())
    gap = float(np.abs(numbers[:, :2].mean(axis=1) - numbers[:, 2:].mean(axis=1)).mean())
    p = same_test(np.stack([number_kernel(row, RESOLUTION) for row in numbers.tolist()]), 2)
    shown = f"{counted(len(values), 'text')}: {gap:.2g} nats a token apart"
    if len(first) == 1:
        words = "" if gap <= RESOLUTION else ", and asked once, which does not show the noise"
        return Evidence("likelihoods", shown + words, differs=False if gap <= RESOLUTION else None)
    shown += f", {noise:.2g} when asked again"
    return Evidence("likelihoods", shown, p)


def by_sample(predictions: Iterable[Prediction]) -> Answers:
    """Return predictions by their sample, without those that failed; the turns of a dialogue are one answer."""
    return {one.sample_id: _without_turns(one) for one in predictions if not one.failed}


def _without_turns(prediction: Prediction) -> Prediction:
    prompts = prediction.origin_prompt
    if isinstance(prompts, str) or not prompts or isinstance(prompts[0], ChatMessage):
        return prediction
    turns = prediction.completions
    joined = Completion(
        text="\n".join(map(_text, turns)),
        finish_reason="length" if prediction.truncated else "stop",
        tool_calls=tuple(call for turn in turns for call in turn.tool_calls),
        usage=turns[0].usage if turns else Usage(),
    )
    return replace(prediction, completions=(joined,))


_Pairs = list[tuple[Prediction, Prediction]]


def _paired(first: Answers, second: Answers, least: int) -> tuple[_Pairs, int]:
    """Return what both sides answered, and how many answers of each side to a prompt are compared.

    Args:
        first, second: the sides.
        least: fewer common prompts are none.
    """
    common = [sample for sample in first if sample in second]
    if len(common) < least:
        return [], 0
    count = min(len(side[sample].completions) for side in (first, second) for sample in common)
    most = MOST_ANSWERS // (2 * count)
    if len(common) > most:
        common = sorted(Random(0).sample(common, most))  # for statistics
    return [(first[sample], second[sample]) for sample in common], count


def _texts_of(pairs: _Pairs, count: int, prompts: int) -> Evidence:
    texts = [_text(one) for pair in pairs for side in pair for one in side.completions[:count]]
    kernel = answer_kernel(texts, len(pairs))
    shown = f"{_prompts(len(pairs), prompts)} × {counted(count, 'answer')}"
    if count == 1:
        equal = sum(texts[number] == texts[number + 1] for number in range(0, len(texts), 2))
        return Evidence("answers", f"{shown}, {equal} of them equal", paired_test(kernel))

    def detectable(level: float) -> tuple[float | None, str]:
        share = detectable_share(kernel, len(pairs), count, level)
        return share, "none would be found" if share is None else f"{share:.0%} foreign answers would be found"

    return Evidence("answers", shown, same_test(blocks(kernel, len(pairs)), count), detectable=detectable)


def _forms(pairs: _Pairs, count: int, features: Mapping[Subject, _Feature]) -> list[Evidence]:
    """Compare numbers that answers have, such as their length, or 1 for a property. One that is constant is left out.

    That does not favour a side, since it does not depend on which answers are whose.
    """
    found = []
    for subject, feature in features.items():
        rows = [[feature(side, answer) for side in pair for answer in side.completions[:count]] for pair in pairs]
        values = np.array(rows, np.float64)
        if values.size and np.nanmax(values, initial=-math.inf) > np.nanmin(values, initial=math.inf):
            found.append(_form(subject, values, count))
    return found


def _form(subject: Subject, values: Matrix, count: int) -> Evidence:
    first, second = (float(np.nanmean(side)) if not np.isnan(side).all() else math.nan for side in np.hsplit(values, 2))
    is_share = subject != "lengths"
    means = f"{first:.0%} and {second:.0%}" if is_share else f"{first:.0f} and {second:.0f} characters"

    def detectable(level: float) -> tuple[float | None, str]:
        shift = detectable_shift(values, count, level, of_share=is_share)
        if shift is None:
            return None, "none would be found"
        size = f"{100 * shift:.0f} points" if is_share else f"{shift:.0f} characters"
        return shift, f"a difference of {size} would be found"

    return Evidence(subject, f"{_WORDS[subject]} {means}", shift_test(values, count), detectable=detectable)


_Feature = Callable[[Prediction, Completion], float]
_WORDS: Final[Mapping[Subject, str]] = {
    "lengths": "answers have",
    "endings": "answers that end by themselves:",
    "JSON": "answers that are JSON as asked for:",
    "tool calls": "answers that call a tool:",
    "arguments": "calls with arguments that are JSON objects:",
}


def _is_json(_: Prediction, answer: Completion) -> float:
    return isinstance(_parsed(answer.text), dict | list)


def _keeps_keys(asked: Prediction, answer: Completion) -> float:
    found = _parsed(answer.text)
    return isinstance(found, dict) and sorted(found) == sorted(asked.gold)


def _parses_arguments(_: Prediction, answer: Completion) -> float:
    if not answer.tool_calls:
        return math.nan
    return all(isinstance(_parsed(call.arguments), dict) for call in answer.tool_calls)


def _parsed(text: str) -> Any:
    """Return the JSON of a text, which may be in a block of code; None if it is none."""
    inner = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        return json.loads(inner)
    except (ValueError, RecursionError):
        return None


def _text(answer: Completion) -> str:
    return answer.reasoning + answer.text


def _prompts(compared: int, known: int) -> str:
    return counted(compared, "prompt") if compared == known else f"{compared:,} of {counted(known, 'prompt')}"


def _prompt_tokens(prediction: Prediction) -> int | None:
    return next((one.usage.prompt_tokens for one in prediction.completions if one.usage.prompt_tokens), None)
