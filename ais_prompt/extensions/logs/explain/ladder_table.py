"""Show why two scores differ: in a terminal, as JSON, and as a page.

In the terminal it is one sentence, the table of causes, the scores by each rule, and pairs of each cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypedDict

from msgspec import field
from msgspec.structs import asdict
from rich.console import Console
from rich.text import Text

from ais_prompt.comparison import why_undivided
from ais_prompt.extensions.logs.explain.ladder import AskedAgain, Ladder, Step
from ais_prompt.report import finite_json, page_pieces
from ais_prompt.terminal import Column, print_table
from ais_prompt.types import Document, prompts_to_json
from ais_prompt.utils import counted, printable, without_middle
from ais_prompt.verbs import TaskEstimate

LONGEST: Final = 160
"""Characters of an answer that are shown."""
_STEPS: Final = (
    Column("cause", is_name=True, right=False),
    Column("share"),
    Column("95 % interval"),
    Column("samples"),
    Column("certainty", right=False),
    Column("because", is_name=True, right=False),
)

MOST_ON_PAGE: Final = 1_000
"""Pairs of each cause."""
_FOLDER: Final = Path(__file__).parent
SCRIPTS: Final = ("dom.js", "words.js", "text.js", "differences.js", "pairs.js", _FOLDER / "explanation.js")


def print_ladder(ladder: Ladder, pairs: int, console: Console) -> None:
    """Print an explanation.

    Args:
        ladder: the explanation.
        pairs: the most pairs to show of each cause.
        console: where to print.
    """
    for line in _head(ladder):
        console.print(Text(printable(line)), soft_wrap=not console.is_terminal, highlight=False)
    console.print()
    if ladder.steps:
        print_table(list(_STEPS), [_cells(step, ladder) for step in ladder.steps], console)
        console.print()
    # The scores of the answers of each side by the rule of each side.
    columns = [Column("answers of", is_name=True, right=False), *(Column(f"by {title}") for title in ladder.titles)]
    rows: list[list[str | Text]] = [
        [title, *("unknown" if score is None else _value(score, ladder) for score in row)]
        for title, row in zip(ladder.titles, ladder.crossed, strict=True)
    ]
    print_table(columns, rows, console)
    for step in ladder.steps:
        for text in _pairs(step, ladder, pairs):
            console.print(text, soft_wrap=not console.is_terminal, highlight=False)


def sentence(ladder: Ladder) -> str:
    """Return the explanation as one sentence."""
    sides = zip(ladder.titles, (ladder.before, ladder.after), strict=True)
    scores = ", ".join(f"{title} {_value(side.score, ladder)}" for title, side in sides)
    if not ladder.steps:
        return f"{scores}: {why_undivided(ladder.pairing.share) or 'no sample differs'}"
    parts = [f"{step.cause} {_signed(step.difference, ladder)} [{_sureness(step, ladder)}]" for step in ladder.steps]
    return f"{scores}: {_signed(ladder.difference, ladder)} = {', '.join(parts)}"


def rules_in_words(ladder: Ladder) -> list[str]:
    """Return the rule of each side in words."""
    return [side.rule or "a rule of its own, which cannot be applied here" for side in (ladder.before, ladder.after)]


def asked_sentence(asked: AskedAgain) -> str:
    """Return what asking again has shown."""
    return (
        f"asked again: {counted(asked.pairs, 'pair')} of {asked.of} with {counted(asked.requests, 'request')}; "
        f"asked twice, {asked.equal} of {asked.twice} answers are equal, and {asked.as_logged} are those of the logs"
    )


def ladder_json(ladder: Ladder, pairs: int) -> dict[str, Any]:
    """Return an explanation as plain JSON values; scores as stored, not in percent."""
    pairing = ladder.pairing
    return {
        "sentence": sentence(ladder),
        "titles": list(ladder.titles),
        "fraction": ladder.fraction,
        "lower_is_better": bool(ladder.tasks[1].metric.lower_is_better),
        "before": asdict(ladder.before),
        "after": asdict(ladder.after),
        "difference": ladder.difference,
        "pairing": {
            "paired": len(pairing.names),
            "only_before": pairing.before - len(pairing.names),
            "only_after": pairing.after - len(pairing.names),
            "ambiguous": pairing.ambiguous,
            "ways": dict(pairing.ways),
            "near": [list(pair) for pair in pairing.near],
        },
        "steps": [
            {**asdict(step), "pairs": [_pair_json(name, ladder) for name in _changed_first(step, ladder)[:pairs]]}
            for step in ladder.steps
        ],
        "rules": rules_in_words(ladder),
        "scores_by_rule": [list(row) for row in ladder.crossed],
        "unknown": list(ladder.unknown),
        "requests": {name: list(values) for name, values in ladder.requests.items()},
        "asked": None if ladder.asked is None else {**asdict(ladder.asked), "sentence": asked_sentence(ladder.asked)},
    }


def _head(ladder: Ladder) -> Iterator[str]:
    yield sentence(ladder)
    pairing = ladder.pairing
    ways = ", ".join(f"{count} by {way}" for way, count in pairing.ways.items())
    left = [
        f"{counted(size - len(pairing.names), 'sample')} only in {title}"
        for size, title in zip((pairing.before, pairing.after), ladder.titles, strict=True)
        if size > len(pairing.names)
    ]
    doubled = [f"{pairing.ambiguous} of equal questions, in order"] if pairing.ambiguous else []
    yield "; ".join([f"{counted(len(pairing.names), 'pair')}: {ways}", *doubled, *left])
    for old, new in pairing.near[:3]:
        yield f"  near copies: {old} and {new}"
    if ladder.unknown:
        yield f"not in the logs: {', '.join(ladder.unknown)}"
    for name, values in ladder.requests.items():
        yield f"requests differ in {name}: {' → '.join('not sent' if one is None else repr(one) for one in values)}"
    if ladder.asked is not None:
        yield asked_sentence(ladder.asked)
    rules = rules_in_words(ladder)
    if rules[0] == rules[1] and ladder.before.rule:
        yield f"rule of both: {rules[0]}"
        return
    for title, rule in zip(ladder.titles, rules, strict=True):
        yield f"rule of {title}: {rule}"


def _cells(step: Step, ladder: Ladder) -> list[str | Text]:
    ends = "" if step.interval is None else " to ".join(_signed(end, ladder) for end in step.interval)
    samples = str(step.samples or "")
    return [step.cause, _signed(step.difference, ladder), ends, samples, step.certainty, printable(step.why)]


def _pairs(step: Step, ladder: Ladder, most: int) -> Iterator[Text]:
    shown = _changed_first(step, ladder)[:most]
    if not shown:
        return
    changed = sum(map(ladder.has_other_score, step.pairs))
    yield Text()
    yield Text(f"{step.cause}: {counted(len(step.pairs), 'pair')}, {changed} with another score", style="bold")
    for name in shown:
        answers, extracted, values = ladder.answers[name], ladder.extracted[name], ladder.values[name]
        golds = list(dict.fromkeys(str(one.gold) for one in answers))
        yield Text(printable(f"  sample {name}  gold: {_short(' | '.join(golds))}"))
        for title, answer, found, value in zip(ladder.titles, answers, extracted, values, strict=True):
            yield Text(printable(f"    {title} {value:g}: {_short(answer.prediction)} → {_short(found)}"))
    if len(step.pairs) > most:
        yield Text(f"  … and {len(step.pairs) - most} more; --pairs N shows them", style="dim")


def _changed_first(step: Step, ladder: Ladder) -> list[str]:
    """Return the ids of the pairs of a step, those with another score first."""
    return sorted(step.pairs, key=ladder.has_other_score, reverse=True)


def _pair_json(name: str, ladder: Ladder) -> dict[str, Any]:
    answers = ladder.answers[name]
    return {
        "id": name,
        "values": list(ladder.values[name]),
        "golds": [one.gold for one in answers],
        "prompts": [prompts_to_json(one.origin_prompt) for one in answers],
        "answers": [one.prediction for one in answers],
        "extracted": list(ladder.extracted[name]),
    }


def _short(value: Any) -> str:
    return without_middle(" ".join(str(value).split()), LONGEST)


def _sureness(step: Step, ladder: Ladder) -> str:
    if step.interval is None or step.certainty == "certain":
        return step.certainty
    half = (step.interval[1] - step.interval[0]) / 2
    return f"{step.certainty}, ±{_signed(half, ladder).lstrip('+')}"


def _value(value: float, ladder: Ladder) -> str:
    return f"{100 * value:.1f} %" if ladder.fraction else f"{value:.4g}"


def _signed(value: float, ladder: Ladder) -> str:
    return f"{100 * value:+.1f}" if ladder.fraction else f"{value:+.4g}"


class ExplanationEntry(TypedDict):
    """Why two scores of a dataset differ; the page on logs of other tools explains the fields."""

    sentence: str
    before: dict[str, Any]
    after: dict[str, Any]
    difference: float
    pairing: dict[str, Any]
    steps: list[dict[str, Any]]
    rules: list[str]
    scores_by_rule: list[list[float | None]]
    unknown: list[str]
    requests: dict[str, Any]
    asked: dict[str, Any] | None


class ExplainDocument(Document, kw_only=True):
    """What ``explain`` prints.

    Attributes:
        notes: what cannot be explained, and why.
        explanations: of each dataset that both logs have.
        estimates: what each task would ask, with ``--ask``.
    """

    kind: Literal["explain"]
    estimates: list[TaskEstimate] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    explanations: list[ExplanationEntry] = field(default_factory=list)


def explanation_page(before: str, after: str, found: Mapping[str, Any]) -> bytes:
    """Return why the scores of two runs or logs differ as a page.

    Args:
        before, after: their names.
        found: ``explanations`` from `ladder_json`, and ``notes``.
    """
    data = {"before": before, "after": after, **finite_json(found)}
    return "".join(page_pieces(f"{before} → {after}", _FOLDER / "explanation.html", SCRIPTS, data)).encode()
