"""Explain the difference of a dataset in lines: the parts that differ, the causes, and the changed samples.

Changed samples are named by their question, with changed words coloured.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from rich.text import Text

from ais_prompt.comparison.changes import Change
from ais_prompt.comparison.compared_task import Comparison, Flip
from ais_prompt.comparison.differences import Difference
from ais_prompt.preview import changed_words, questions
from ais_prompt.types import Prediction
from ais_prompt.utils import counted, printable, without_middle

COLOURS: Final = {"worse": "red", "better": "green"}
LONGEST: Final = 160
"""Characters of an answer that are shown."""


def explanation(one: Comparison, name: str, flips: int, common: Collection[Change] = ()) -> Iterator[Text]:
    """Yield the lines about a dataset: the parts that differ, the causes, and the changed samples.

    Args:
        one: the dataset.
        name: its heading.
        flips: the most changed samples to show, in each direction.
        common: what all datasets have in common, which is left out.
    """
    yield Text()
    yield Text(printable(name), style="bold")
    yield from change_lines(change for change in one.changes if change not in common)
    if one.units != one.common:
        yield Text(f"  {one.common} samples in {one.units} clusters; interval and p are computed from the clusters")
    if not one.changes:
        yield Text("  no part of the two runs differs")
    for what, count in (
        ("only in the first run", one.only_before),
        ("only in the second run", one.only_after),
        ("without an answer in the first run", one.failed_before),
        ("without an answer in the second run", one.failed_after),
        ("without a gold answer", one.without_gold),
    ):
        if count:
            yield Text(f"  left out: {counted(count, 'sample')} {what}", style="yellow")
    if one.undivided:
        yield Text(f"  {one.undivided}", style="yellow")
    if one.reported != one.difference and one.shares:
        yield Text(f"  {signed(one.reported, one)} between the scores that the runs report, of which")
    for share in one.shares:
        ends = "" if share.interval is None else f" ({' to '.join(signed(end, one) for end in share.interval)})"
        yield Text(f"  {signed(share.difference, one)}{ends} from {share.cause}, {share.samples} samples")
    yield from flip_lines(one.flips, flips, lower_is_better=one.lower_is_better)


def change_lines(changes: Iterable[Change]) -> Iterator[Text]:
    """Yield the lines of parts that differ."""
    for change in changes:
        if change.words:
            yield Text(printable(f"  {change.part} differs: {change.words}"))
            continue
        yield Text(f"  {change.part} differs")
        yield Text(printable(f"    before: {change.before}"))
        yield Text(printable(f"    after:  {change.after}"))


def score_text(value: float, one: Difference) -> str:
    """Format a score; in percent if it is a part of 1."""
    return f"{100 * value:.1f} %" if one.fraction else f"{value:.4g}"


def signed(value: float, one: Difference) -> str:
    """Format a difference; in points for percentages."""
    return f"{100 * value:+.1f}" if one.fraction else f"{value:+.4g}"


def flip_lines(flips: Sequence[Flip], most: int, *, lower_is_better: bool = False) -> Iterator[Text]:
    """Yield the lines of the changed samples, those that became worse first.

    Args:
        flips: of one dataset.
        most: the most samples in each direction.
        lower_is_better: whether a sample whose value rose became worse.
    """
    names = questions_of(flips)
    for name in COLOURS:
        fell = (name == "worse") != lower_is_better
        found = [place for place, flip in enumerate(flips) if (flip.after < flip.before) == fell]
        for place in found[:most]:
            yield from _flip(flips[place], name, names[place])
        if most and len(found) > most:
            yield Text(f"  … and {len(found) - most} more became {name}; --flips N or --json shows them", style="dim")


def questions_of(flips: Sequence[Flip]) -> list[str]:
    """Return the question of each changed sample in one line; of a single one, the end of its prompt."""
    predictions = [flip.predictions[1] for flip in flips]
    found = questions(predictions)
    return [_end(one.origin_prompt) for one in predictions] if len(found) == 1 else found


def _end(prompt: Any) -> str:
    while isinstance(prompt, tuple | list) and prompt:
        prompt = prompt[-1]
    text = " ".join(str(getattr(prompt, "content", prompt)).split())
    return text if len(text) <= LONGEST else f"…{text[1 - LONGEST :]}"


def _flip(flip: Flip, name: str, question: str) -> Iterator[Text]:
    same = "same prompt" if flip.same_prompt else "other prompt"
    yield Text()
    yield Text.assemble(
        (f"  {name}: ", COLOURS[name]),
        (printable(question), "bold"),
        (f"  row {flip.index}, sample {flip.sample_id}, {same}", "dim"),
    )
    measured = [_measured(prediction) for prediction in flip.predictions]
    if all(measured):
        for when, words in zip(("before", "after"), measured, strict=True):
            yield Text(f"    {when + ':':7} {words}")
        return
    yield Text(f"    gold:   {printable(str(flip.predictions[1].gold))}")
    before, after = (printable(_shortened(prediction.prediction)) for prediction in flip.predictions)
    pieces = changed_words(before, after, least_alike=0.0)
    for when, side, extracted in zip(("before", "after"), (0, 1), flip.extracted, strict=True):
        marked = [(piece[side], "" if piece[0] == piece[1] else "bold underline") for piece in pieces]
        yield Text.assemble(f"    {when + ':':7} ", *marked, f" → {printable(str(extracted))}")


def _measured(prediction: Prediction) -> str:
    """Return a perplexity with what was measured for it; empty if the model gave an answer."""
    likelihood = prediction.completions[0].likelihood if len(prediction.completions) == 1 else None
    if likelihood is None or not isinstance(prediction.prediction, float):
        return ""
    measured = f"{likelihood.nll:.6g} nats, {counted(likelihood.tokens, 'token')}, {counted(likelihood.bytes, 'byte')}"
    return f"{prediction.prediction:.4g} ({measured})"


def _shortened(answer: Any) -> str:
    return without_middle(" ".join(str(answer).split()), LONGEST)
