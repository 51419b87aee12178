"""Print a comparison of two runs, or return it as JSON.

Changed samples are named by their question, with changed words coloured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec.structs import asdict
from rich.console import Console
from rich.text import Text

from ais_prompt.comparison.runs import Comparison, Flip
from ais_prompt.preview.differences import changed_words
from ais_prompt.report.questions import questions
from ais_prompt.types.request import prompts_to_json
from ais_prompt.utils.tables import Column, print_table
from ais_prompt.utils.text import counted, printable

SIGNIFICANT = 0.05
"""p-values below this are printed bold."""
_MODEL = Column("model", is_name=True, right=False)
_COLUMNS = (
    Column("dataset", is_name=True, right=False),
    _MODEL,
    Column("metric", is_name=True, right=False),
    Column("before"),
    Column("after"),
    Column("difference"),
    Column("95 % interval"),
    Column("p (Holm)"),
    Column("n"),
    Column("worse"),
    Column("better"),
)
COLOURS: Final = {"worse": "red", "better": "green"}
LONGEST: Final = 160
"""Characters of an answer that are shown."""


def print_comparison(comparisons: Sequence[Comparison], notes: Iterable[str], flips: int, console: Console) -> None:
    """Print notes, the table of differences, and the causes and changed samples of each dataset.

    A file or pipe gets every column, and one line for each fact. A terminal shows a model that all rows share above the
    table.

    Args:
        comparisons: one for each dataset; without any only the notes are printed.
        notes: what a reader must know first.
        flips: the most changed samples to show of a dataset, in each direction.
        console: where to print.
    """
    for note in notes:
        _print_line(Text(printable(f"Note: {note}"), style="yellow"), console)
    if not comparisons:
        _print_line(Text("Nothing can be compared."), console)
        return
    models = {one.model for one in comparisons}
    same_model = console.is_terminal and len(models) == 1
    if same_model:
        _print_line(Text(printable(f"model: {models.pop()}")), console)
    columns = [column for column in _COLUMNS if column is not _MODEL or not same_model]
    cells = [dict(zip(_COLUMNS, _cells(one), strict=True)) for one in comparisons]
    print_table(columns, [[row[column] for column in columns] for row in cells], console)
    changed = [one for one in comparisons if _is_changed(one)]
    for comparison in changed:
        for line in _explanation(comparison, flips):
            _print_line(line, console)
    if unchanged := [f"{one.model}/{one.dataset}" for one in comparisons if one not in changed]:
        console.print()
        _print_line(Text(printable(f"Unchanged: {', '.join(unchanged)}"), style="dim"), console)


def _is_changed(one: Comparison) -> bool:
    """Return whether there is anything to say of a dataset, apart from its scores."""
    left_out = one.only_before, one.only_after, one.failed_before, one.failed_after
    return bool(one.flips or one.changes or any(left_out))


def _print_line(line: Text, console: Console) -> None:
    """Print a line whole to a file or pipe; in a terminal, indent the lines into which it is broken."""
    if not console.is_terminal:
        console.print(line, soft_wrap=True, highlight=False)
        return
    indent = len(line.plain) - len(line.plain.lstrip(" ")) + 4
    for number, piece in enumerate(line.wrap(console, max(console.width - indent, 1))):
        console.print(Text(" " * indent if number else "") + piece, soft_wrap=True, highlight=False)


def _cells(one: Comparison) -> list[str | Text]:
    """Return the row of a comparison, one cell for each of `_COLUMNS`."""
    return [
        printable(one.dataset),
        printable(one.model),
        one.metric,
        _value(one.before, one),
        _value(one.after, one),
        Text(_signed(one.difference, one), style=_style(one)),
        "" if one.interval is None else " to ".join(_signed(end, one) for end in one.interval),
        Text(f"{one.p_adjusted:.3g}", style=_style(one)),
        str(one.common),
        str(one.worse),
        str(one.better),
    ]


def _style(one: Comparison) -> str:
    if one.p_adjusted >= SIGNIFICANT:
        return ""
    return "bold red" if one.difference < 0 else "bold green"


def _explanation(one: Comparison, flips: int) -> Iterator[Text]:
    yield Text()
    yield Text(printable(f"{one.model}/{one.dataset}"), style="bold")
    for change in one.changes:
        yield Text(f"  {change.part} differs")
        yield Text(printable(f"    before: {change.before}"))
        yield Text(printable(f"    after:  {change.after}"))
    if one.units != one.common:
        yield Text(f"  {one.common} samples in {one.units} clusters; interval and p are computed from the clusters")
    if not one.changes:
        yield Text("  no part of the two runs differs")
    for what, count in (
        ("only in the first run", one.only_before),
        ("only in the second run", one.only_after),
        ("without an answer in the first run", one.failed_before),
        ("without an answer in the second run", one.failed_after),
    ):
        if count:
            yield Text(f"  left out: {counted(count, 'sample')} {what}", style="yellow")
    if one.reported != one.difference and one.shares:
        yield Text(f"  {_signed(one.reported, one)} between the scores that the runs report, of which")
    for share in one.shares:
        ends = "" if share.interval is None else f" ({' to '.join(_signed(end, one) for end in share.interval)})"
        yield Text(f"  {_signed(share.difference, one)}{ends} from {share.cause}, {share.samples} samples")
    yield from flip_lines(one.flips, flips)


def _value(value: float, one: Comparison) -> str:
    return f"{100 * value:.1f} %" if one.fraction else f"{value:.4g}"


def _signed(value: float, one: Comparison) -> str:
    """Format a difference; in points for percentages."""
    return f"{100 * value:+.1f}" if one.fraction else f"{value:+.4g}"


def comparison_json(comparisons: Iterable[Comparison], notes: Sequence[str]) -> dict[str, Any]:
    """Return everything as plain JSON values; scores as stored, not in percent."""
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
        "flips": [_flip_json(*one) for one in zip(one.flips, questions_of(one.flips), strict=True)],
    }


def _flip_json(flip: Flip, question: str) -> dict[str, Any]:
    old, new = flip.predictions
    return {
        "id": flip.sample_id,
        "index": flip.index,
        "question": question,
        "before": flip.before,
        "after": flip.after,
        "same_prompt": flip.same_prompt,
        "gold": new.gold,
        "prompts": [prompts_to_json(old.origin_prompt), prompts_to_json(new.origin_prompt)],
        "answers": [old.prediction, new.prediction],
        "extracted": list(flip.extracted),
    }


def flip_lines(flips: Sequence[Flip], most: int) -> Iterator[Text]:
    """Yield the lines of the changed samples, those that became worse first.

    Args:
        flips: of one dataset.
        most: the most samples in each direction.
    """
    names = questions_of(flips)
    for name in COLOURS:
        found = [place for place, flip in enumerate(flips) if (flip.after < flip.before) == (name == "worse")]
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
    yield Text(f"    gold:   {printable(str(flip.predictions[1].gold))}")
    before, after = (printable(_shortened(prediction.prediction)) for prediction in flip.predictions)
    pieces = changed_words(before, after, least_alike=0.0)
    for when, side, extracted in zip(("before", "after"), (0, 1), flip.extracted, strict=True):
        marked = [(piece[side], "" if piece[0] == piece[1] else "bold underline") for piece in pieces]
        yield Text.assemble(f"    {when + ':':7} ", *marked, f" → {printable(str(extracted))}")


def _shortened(answer: Any) -> str:
    text = " ".join(str(answer).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"
