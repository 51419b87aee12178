"""Print a comparison of two runs or two models.

A file or pipe gets every dataset on one line. A terminal shows many datasets in groups, the worst first. Below are the
parts that differ, the causes, and the changed samples, which are named by their question, with changed words coloured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ais_prompt.comparison.changes import Change
from ais_prompt.comparison.compared_task import Comparison, Flip
from ais_prompt.comparison.differences import Difference, differences_together, intervals_together
from ais_prompt.comparison.paired_runs import RunComparison
from ais_prompt.preview import changed_words, questions
from ais_prompt.terminal import Cell, Column, fits, fitted, print_table
from ais_prompt.types import Prediction
from ais_prompt.utils import counted, listed, printable, without_middle

SIGNIFICANT: Final = 0.05
"""p-values below this are printed bold."""
FEW: Final = 6
"""So many datasets are all explained, in the order of the config; of more, the worst and the best `EXPLAINED`."""
EXPLAINED: Final = 3
FLIPS: Final = 3
"""Changed samples of a single dataset that are shown in each direction."""
MOST_LINES: Final = 40
"""So many datasets have a line in a terminal; of more, the worst and the best `EXPLAINED` of each group."""
NARROWEST: Final = 12
"""Columns of a terminal for a shortened name; with fewer, rows are stacks with whole names."""
OTHERS: Final = "others"
"""The datasets that are in no group."""
_MODEL = Column("model", is_name=True, right=False)
_METRIC = Column("metric", is_name=True, right=False)
_DATASET = Column("dataset", is_name=True, right=False)
_P = Column("p (Holm)")
ABOUT_P: Final = "p (Holm): how probable such a difference is by chance, adjusted for the number of datasets"
_COLUMNS: Final = (
    _DATASET,
    _MODEL,
    _METRIC,
    Column("before"),
    Column("after"),
    Column("difference"),
    Column("95 % interval"),
    _P,
    Column("n"),
    Column("worse"),
    Column("better"),
)
_NARROW: Final = (_DATASET, *map(Column, ("before", "after", "diff.", "95 % interval", "worse", "better")))
STARRED: Final = "* p < 0.05 after Holm's correction over {comparisons}"


class FurtherComparison(NamedTuple):
    """What an extension compares of two runs beside their scores, or in one run: the result of its steps.

    Attributes:
        fields: of the ``--json`` document; the extension's ``documents`` have their types.
        show: prints it.
        is_empty: whether nothing could be compared.
    """

    fields: Mapping[str, Any]
    show: Callable[[], None]
    is_empty: bool


def print_comparison(found: RunComparison, flips: int | None, console: Console) -> None:
    """Print notes, the verdict, the table of differences, and the causes and changed samples of datasets.

    Of many datasets, the three worst and the three best are explained.

    Args:
        found: without comparisons only the notes are printed.
        flips: the most changed samples to show of a dataset, in each direction; None: `FLIPS` of a single dataset, and
            none of several.
        console: where to print. A pipe gets every dataset on one line, with every column.
    """
    lines = [Text(printable(f"Note: {note}"), style="yellow") for note in found.notes]
    lines += _verdicts(found) if found.comparisons else [Text("Nothing can be compared.")]
    for line in lines:
        _print_line(line, console)
    if found.comparisons:
        _print_table(found, console)
        for line in _causes(found.comparisons, flips, is_terminal=console.is_terminal):
            _print_line(line, console)


def _causes(comparisons: Sequence[Comparison], flips: int | None, *, is_terminal: bool) -> Iterator[Text]:
    """Yield what differs in all datasets, then the causes and changed samples of each, and the unchanged datasets."""
    first = comparisons[0].changes
    common = [change for change in first if len(comparisons) > 1 and all(change in one.changes for one in comparisons)]
    if common:
        yield Text()
        yield Text(f"All {len(comparisons)} datasets", style="bold")
        yield from change_lines(common)
    is_same_model = is_terminal and len({one.model for one in comparisons}) == 1  # named above the table
    changed = [one for one in comparisons if _is_changed(one, common)]
    counts = Counter((one.model, one.dataset) for one in comparisons)  # one for each evaluator

    def named(one: Comparison) -> str:
        name = one.dataset if is_same_model else f"{one.model}/{one.dataset}"
        return f"{name} {one.metric}" if counts[one.model, one.dataset] > 1 else name

    shown = changed if len(changed) <= FEW else _ends(sorted(changed, key=_badness))
    most = flips if flips is not None else FLIPS if len(comparisons) == 1 else 0
    for comparison in shown:
        yield from explanation(comparison, named(comparison), most, common)
    if more := len(changed) - len(shown):
        text = f"{more:,} more changed: --html FILE and --json have the causes and samples of all"
        yield from (Text(), Text(text + ("" if most else f"; --flips {FLIPS} shows samples"), style="dim"))
    if unchanged := [named(one) for one in comparisons if one not in changed]:
        yield from (Text(), Text(f"Unchanged: {printable(listed(unchanged, FEW))}", style="dim"))


def print_model_difference(differences: Sequence[Difference], root: Path, console: Console) -> None:
    """Print the difference of the two models of a run: its means, and each dataset if there are few.

    Models that are equally good have a line whose interval leaves out 0 in at most 5 % of runs, however many lines
    there are. Of many datasets none is shown: the largest differences would be those of luck.

    Args:
        differences: of datasets, then means; without any nothing is printed.
        root: the run folder, for the command that shows the rest.
        console: where to.
    """
    datasets = [one for one in differences if one.datasets == 1]
    if not datasets:
        return
    means = [one for one in differences if one.datasets > 1]
    shown = intervals_together([*means, *datasets] if len(datasets) <= FEW else means)
    before, _, after = datasets[0].model.partition(" → ")
    console.print()
    kind = "95 % interval" if len(shown) <= 1 else f"95 % intervals for all {len(shown)} together"
    _print_line(Text.assemble((printable(f"{after} − {before}"), "bold"), f", {kind}" if shown else ""), console)
    width = max((cell_len(_name(one)) for one, _ in shown), default=0)
    for one, interval in shown:
        ends = "" if interval is None else f"({' to '.join(signed(end, one) for end in interval)})"
        is_sure = interval is not None and not interval[0] <= 0 <= interval[1]
        name = printable(_name(one))
        line = Text.assemble(
            f"  {name}{' ' * (width - cell_len(name))}  ",
            (f"{signed(one.difference, one):>6}", _colour(one) if is_sure else ""),
        )
        _print_line(line.append(f"  {ends}"), console)
    if len(datasets) > FEW:
        _print_line(Text(f"  every dataset, causes, samples: aisprompt compare {root}", style="dim"), console)


def print_together(found: Sequence[Difference], console: Console) -> None:
    """Print intervals of all differences that hold together, by max-T, with their p-values.

    Args:
        found: of datasets.
        console: where to.
    """
    joint = differences_together(found)
    console.print()
    kind = "95 % intervals" if len(joint) > 1 else "95 % interval"
    _print_line(Text(f"{kind} for all {counted(len(joint), 'comparison')} together (max-T)", style="bold"), console)
    columns = [_DATASET, _MODEL, _METRIC, Column("difference"), Column("95 % interval"), Column("p (max-T)")]
    rows: list[list[Cell]] = [
        [
            printable(one.dataset),
            printable(one.model),
            one.metric,
            Text(signed(one.difference, one), style=_colour(one) if p < SIGNIFICANT else ""),
            "" if interval is None else " to ".join(signed(end, one) for end in interval),
            f"{p:.3g}",
        ]
        for one, interval, p in joint
    ]
    print_table(columns, rows, console)


def _verdicts(found: RunComparison) -> Iterator[Text]:
    """Yield for each model what became of it, over all datasets or on the only one."""
    wholes = [one for one in found.means if not one.dataset]
    for one in wholes or (found.comparisons if len(found.comparisons) == 1 else ()):
        of = [other for other in found.comparisons if other.model == one.model]
        sure = [other for other in of if other.p_adjusted < SIGNIFICANT]
        worse, better = sum(other.gain < 0 for other in sure), sum(other.gain > 0 for other in sure)
        verdict = "no difference is shown" if one.p >= SIGNIFICANT else "worse" if one.gain < 0 else "better"
        interval = f" ({' to '.join(signed(end, one) for end in one.interval)})" if one.interval else ""
        each = f" · {worse} of {counted(len(of), 'dataset')} worse, {better} better" if len(of) > 1 else ""
        style = "" if one.p >= SIGNIFICANT else _colour(one)
        yield Text.assemble(
            (printable(f"{one.model}: {verdict}"), style), f", {signed(one.difference, one)}{interval}{each}"
        )


def _ends(worst_first: Sequence[Comparison]) -> list[Comparison]:
    """Return the worst and the best of many."""
    return [*worst_first[:EXPLAINED], *worst_first[-EXPLAINED:]]


def _is_changed(one: Comparison, common: Sequence[Change]) -> bool:
    """Return whether there is anything to say of a dataset, apart from its scores."""
    left_out = one.only_before, one.only_after, one.failed_before, one.failed_after, one.without_gold
    return bool(one.flips or any(change not in common for change in one.changes) or any(left_out))


def _badness(one: Difference) -> tuple[bool, float, float]:
    """Order the worst first: significant drops before others."""
    is_significant = one.p_adjusted < SIGNIFICANT and one.gain < 0
    return not is_significant, one.gain if one.fraction else 0.0, one.p


def _print_line(line: Text, console: Console) -> None:
    """Print a line whole to a file or pipe; in a terminal, indent the lines into which it is broken."""
    if not console.is_terminal:
        console.print(line, soft_wrap=True, highlight=False)
        return
    indent = len(line.plain) - len(line.plain.lstrip(" ")) + 4
    for number, piece in enumerate(line.wrap(console, max(console.width - indent, 1))):
        console.print(Text(" " * indent if number else "") + piece, soft_wrap=True, highlight=False)


def _print_table(found: RunComparison, console: Console) -> None:
    comparisons = found.comparisons
    models = {one.model for one in comparisons}
    if not console.is_terminal:
        rows = [_cells(one, _name(one)) for one in (*comparisons, *found.means, *found.further_means)]
        print_table(_COLUMNS, [list(row.values()) for row in rows], console)
        return
    if len(models) == 1:
        _print_line(Text(printable(f"model: {next(iter(models))}")), console)
    is_grouped = len(comparisons) > FEW
    columns = [column for column in _COLUMNS if column is not _MODEL or not (is_grouped or len(models) == 1)]
    means = [one for one in (*found.means, *found.further_means) if not one.dataset]
    few = [*(_cells(one, _name(one)) for one in comparisons), *(_cells(one, _name(one), "bold") for one in means)]
    rows = list(_grouped(found)) if is_grouped else few
    lines = [[row[column] for column in columns] for row in rows]
    is_narrow = len(comparisons) > 1 and not fits(columns, lines, console)
    if is_narrow:
        columns = list(_NARROW)
        lines = list(_narrow(few if len(models) == 1 and not is_grouped else list(_grouped(found)), console.width))
    print_table(columns, lines, console)
    if _P in columns:
        _print_line(Text(ABOUT_P, style="dim"), console)
    if is_narrow and any("*" in str(line[3]) for line in lines):
        _print_line(Text(STARRED.format(comparisons=counted(len(comparisons), "comparison")), style="dim"), console)


def _grouped(found: RunComparison) -> Iterator[dict[Column, Cell]]:
    """Yield the rows of each group, the worst group and the worst dataset first.

    Groups are the models if there are several, else those of the summary.
    """
    comparisons = found.comparisons
    several = len({one.model for one in comparisons}) > 1
    homes = {dataset: name for name, datasets in reversed(list(found.groups.items())) for dataset in datasets}
    groups: dict[str, list[Comparison]] = {}
    for one in comparisons:
        groups.setdefault(one.model if several else homes.get(one.dataset, OTHERS), []).append(one)
    means = {one.model if several else one.dataset: one for one in found.means if not (several and one.dataset)}
    if not several and "" in means:
        yield _cells(means[""], _name(means[""]), "bold")
    known = sorted(groups, key=lambda name: (name == OTHERS, means[name].gain if name in means else 0.0))
    for name in known:
        members = sorted(groups[name], key=lambda one: one.gain if one.fraction else 0.0)
        is_short = len(comparisons) <= MOST_LINES or len(members) <= 2 * EXPLAINED
        shown = members if is_short else _ends(members)
        if len(groups) > 1 or several:
            yield _cells(means[name], name, "bold") if name in means else _titled(name, "bold")
        indent = "  " if len(groups) > 1 or several else ""
        for number, one in enumerate(shown):
            if number == EXPLAINED and (more := len(members) - len(shown)):
                yield _titled(f"{indent}… {more} more", "dim")
            yield _cells(one, indent + one.dataset)


def _name(one: Difference) -> str:
    """Return the dataset, or what a mean is over."""
    if one.datasets == 1:
        return one.dataset
    return one.dataset or f"mean of {one.datasets} datasets"


def _titled(name: str, style: str) -> dict[Column, Cell]:
    return {**dict.fromkeys(_COLUMNS, ""), _DATASET: Text(printable(name), style)}


def _cells(one: Difference, name: str, style: str = "") -> dict[Column, Cell]:
    """Return the row of a difference."""
    values: tuple[Cell, ...] = (
        Text(printable(name), style),
        printable(one.model),
        one.metric,
        score_text(one.before, one),
        score_text(one.after, one),
        Text(signed(one.difference, one), style=_style(one)),
        "" if one.interval is None else " to ".join(signed(end, one) for end in one.interval),
        Text(f"{one.p_adjusted:.3g}", style=_style(one)),
        str(one.common),
        str(one.worse),
        str(one.better),
    )
    return dict(zip(_COLUMNS, values, strict=True))


def _narrow(rows: Sequence[dict[Column, Cell]], width: int) -> Iterator[list[Cell]]:
    """Yield rows without metric, p and n; a star marks what is significant, and long names are cut in the middle."""
    kept = [column for column in _COLUMNS if column in _NARROW or column.title == "difference"]
    lines = [[row[column] for column in kept] for row in rows]
    titles = [column.title for column in _NARROW]
    taken = sum(max(map(len, (titles[place], *(str(line[place]) for line in lines)))) + 2 for place in range(1, 7))
    room = width - taken - 1
    for row, line in zip(rows, lines, strict=True):
        name, difference = line[0], line[3]
        if isinstance(difference, Text) and difference.style and row[_P]:
            line[3] = Text(f"{difference.plain}*", difference.style)
        style = name.style if isinstance(name, Text) else ""
        yield [Text(fitted(str(name), room) if room >= NARROWEST else str(name), style), *line[1:]]


def _style(one: Difference) -> str:
    if one.p_adjusted >= SIGNIFICANT:
        return ""
    return _colour(one)


def _colour(one: Difference) -> str:
    return "bold red" if one.gain < 0 else "bold green"


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
    before, after = (
        printable(without_middle(" ".join(str(prediction.prediction).split()), LONGEST))
        for prediction in flip.predictions
    )
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
