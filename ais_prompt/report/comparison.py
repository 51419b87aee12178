"""A comparison of two runs, for the eye and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import asdict
from rich.console import Console
from rich.text import Text

from ais_prompt.regression.comparison import Comparison, Flip
from ais_prompt.types.prompt import prompts_to_json
from ais_prompt.utils.tables import Column, print_table
from ais_prompt.utils.text import printable

SIGNIFICANT = 0.05
"""p-values below it are shown bold."""


def print_comparison(comparisons: Sequence[Comparison], notes: Iterable[str], flips: int, console: Console) -> None:
    """Print notes, the table, and what stands behind each difference.

    Args:
        comparisons: of each dataset.
        notes: what a reader must know first.
        flips: most changed samples of a dataset that are shown, in each direction.
        console: where to.
    """
    for note in notes:
        console.print(Text(printable(f"Note: {note}"), style="yellow"), soft_wrap=True)
    print_table(_COLUMNS, [_cells(one) for one in comparisons], console)
    for comparison in comparisons:
        for line in _explanation(comparison, flips):
            console.print(line, soft_wrap=True, highlight=False)


_COLUMNS = (
    Column("dataset", is_name=True, right=False),
    Column("model", is_name=True, right=False),
    Column("metric", is_name=True, right=False),
    Column("before"),
    Column("after"),
    Column("difference", folded="differ-\nence"),
    Column("p (Holm)", folded="p\n(Holm)"),
    Column("95 % interval", folded="95 %\ninterval"),
    Column("n"),
    Column("worse"),
    Column("better"),
)


def _cells(one: Comparison) -> list[str | Text]:
    """The row of one comparison, one cell for each of `_COLUMNS`."""
    return [
        printable(one.dataset),
        printable(one.model),
        one.metric,
        _value(one.before, one),
        _value(one.after, one),
        Text(_signed(one.difference, one), style=_style(one)),
        Text(f"{one.p_adjusted:.3g}", style=_style(one)),
        "" if one.interval is None else " to ".join(_signed(end, one) for end in one.interval),
        str(one.common),
        str(one.worse),
        str(one.better),
    ]


def _style(one: Comparison) -> str:
    if one.p_adjusted >= SIGNIFICANT:
        return ""
    return "bold red" if one.difference < 0 else "bold green"


def _explanation(one: Comparison, flips: int) -> Iterator[Text]:
    yield Text(f"\n{printable(f'{one.model}/{one.dataset}')}", style="bold")
    for change in one.changes:
        yield Text(printable(f"  {change.part} differs: {change.before}  →  {change.after}"))
    if one.units != one.common:
        yield Text(f"  {one.common} samples in {one.units} clusters, which are the units of interval and p")
    if not one.changes:
        yield Text("  no part of the two runs differs")
    for what, count in (
        ("samples only in the first run", one.only_before),
        ("samples only in the second run", one.only_after),
        ("samples that the first run has no answer for", one.failed_before),
        ("samples that the second run has no answer for", one.failed_after),
    ):
        if count:
            yield Text(f"  left out: {count} {what}", style="yellow")
    if one.reported != one.difference and one.shares:
        yield Text(f"  {_signed(one.reported, one)} between the scores that the runs report, of which")
    for share in one.shares:
        ends = "" if share.interval is None else f" ({' to '.join(_signed(end, one) for end in share.interval)})"
        yield Text(f"  {_signed(share.difference, one)}{ends} from {share.cause}, {share.samples} samples")
    worse = [flip for flip in one.flips if flip.after < flip.before]
    better = [flip for flip in one.flips if flip.after > flip.before]
    for name, found in (("worse", worse), ("better", better)):
        for flip in found[:flips]:
            yield from _flip(flip, name)
        if flips and len(found) > flips:
            yield Text(f"  … and {len(found) - flips} more became {name}; --flips N or --json shows them", style="dim")


def _flip(flip: Flip, name: str) -> Iterator[Text]:
    same = "the same prompt" if flip.same_prompt else "another prompt"
    yield Text(
        f"\n  {name}: row {flip.index}, sample {flip.sample_id}, {same}", style="red" if name == "worse" else "green"
    )
    old, new = flip.predictions
    yield Text(f"    prompt: {printable(_last_words(new.origin_prompt))}", style="dim")
    yield Text(f"    gold:   {printable(str(new.gold))}")
    for when, prediction, extracted in (("before", old, flip.extracted[0]), ("after", new, flip.extracted[1])):
        yield Text(f"    {when + ':':7} {printable(_shortened(prediction.prediction))} → {printable(str(extracted))}")


def _last_words(prompts: Any) -> str:
    """The end of what was sent, where the question stands."""
    value = prompts_to_json(prompts)
    while isinstance(value, list) and value:
        value = value[-1]
    text = " ".join(str(value["content"] if isinstance(value, dict) else value).split())
    return "…" + text[-159:] if len(text) > 160 else text


def _shortened(answer: Any, length: int = 160) -> str:
    text = " ".join(str(answer).split())
    return text if len(text) <= length else f"{text[: length // 2]} … {text[-length // 2 :]}"


def _value(value: float, one: Comparison) -> str:
    return f"{100 * value:.1f} %" if one.fraction else f"{value:.4g}"


def _signed(value: float, one: Comparison) -> str:
    """A difference; of percentages in points."""
    return f"{100 * value:+.1f}" if one.fraction else f"{value:+.4g}"


def comparison_json(comparisons: Iterable[Comparison], notes: Sequence[str]) -> dict[str, Any]:
    """Everything as plain JSON values; scores are as they are stored, not in percent."""
    return {"notes": list(notes), "comparisons": [_to_json(one) for one in comparisons]}


def _to_json(one: Comparison) -> dict[str, Any]:
    return {
        "dataset": one.dataset,
        "model": one.model,
        "metric": one.metric,
        "fraction": one.fraction,
        "before": one.before,
        "after": one.after,
        "difference": one.difference,
        "interval": one.interval,
        "n": one.common,
        "only_before": one.only_before,
        "only_after": one.only_after,
        "failed_before": one.failed_before,
        "failed_after": one.failed_after,
        "worse": one.worse,
        "better": one.better,
        "units": one.units,
        "p": one.p,
        "p_adjusted": one.p_adjusted,
        "reported_difference": one.reported,
        "shares": [asdict(share) for share in one.shares],
        "changes": [{"part": c.part, "before": c.before, "after": c.after} for c in one.changes],
        "flips": [_flip_json(flip) for flip in one.flips],
    }


def _flip_json(flip: Flip) -> dict[str, Any]:
    old, new = flip.predictions
    return {
        "id": flip.sample_id,
        "index": flip.index,
        "before": flip.before,
        "after": flip.after,
        "same_prompt": flip.same_prompt,
        "gold": new.gold,
        "prompts": [prompts_to_json(old.origin_prompt), prompts_to_json(new.origin_prompt)],
        "answers": [old.prediction, new.prediction],
        "extracted": list(flip.extracted),
    }
