"""Translate a ``summarizer``: its rows, its groups, and the names of metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.config import GROUP, SUMMARIZER
from ais_prompt.extensions.peers.parts import NO_EFFECT, Translation, inside
from ais_prompt.extensions.peers.tables import RATED, RATES, RATES_SHOWN, SUMMARIES, RatingOptions
from ais_prompt.utils import listed

TOTALS: Final = "MTBenchSummarizer"
"""The summarizer that joins the ratings of several datasets: one for each temperature."""

OF_DATASETS: Final = "SubjectiveSummarizer"
"""The summarizer that shows what those of the datasets compute; its ``function`` only says so."""

SHOWS_TABLE: Final = (
    *("DefaultSummarizer", "CircularSummarizer", "MultiFacetedSummarizer", "DefaultPerfSummarizer"),
    *(OF_DATASETS, "DefaultSubjectiveSummarizer"),
    *SUMMARIES,
    RATES,
)
"""Summarizers whose table is the one that every run has here."""

_KEYS: Final = tuple(name for name in SUMMARIZER.names if name not in ("attr", "prompt_db"))

DROPPED: Final = {
    "prompt_db": NO_EFFECT,
    "attr": "-m perf measures performance; other modes measure the speed beside the scores",
    "metric_types": "the rows of every metric are shown",
}
"""Keys of a summarizer that mean nothing here → why."""


def translate_summarizer(
    values: Any, datasets: Sequence[Mapping[str, Any]], where: str, translation: Translation
) -> Any:
    """Return a summarizer in terms of this program.

    Args:
        values: the summarizer.
        datasets: those of the run, in terms of this program.
        where: its config path.
        translation: takes the notes.
    """
    if not isinstance(values, Mapping):
        return values
    kind = values.get("type")
    name = kind.rpartition(".")[2] if isinstance(kind, str) else ""
    run = [str(one.get("abbr")) for one in datasets]
    joined = [
        abbr
        for abbr, one in zip(run, datasets, strict=True)
        if inside(one, "eval_cfg", "evaluator", "summarizer") == TOTALS
    ]
    if len(joined) > 1:
        subsets = [[abbr, "total"] for abbr in joined]
        total = {"name": "MTBench", "subsets": subsets, "weights": f"@{RATED}", "metric": "total"}
        values = {**values, "summary_groups": [*(values.get("summary_groups") or []), total]}
    if name and name not in SHOWS_TABLE:
        translation.notes.note(f"{name} is not known here: the summary is that of every run", f"{where}.type")
    if name == RATES:  # `_reading` of judges has some; the table always shows what the others choose
        taken = (*RatingOptions.__struct_fields__, *RATES_SHOWN)
        values = {key: value for key, value in values.items() if key not in taken}
    if name == OF_DATASETS:
        values = {key: value for key, value in values.items() if key != "function"}
    values = _one_table(values, where, translation)
    kept = translation.known(values, _KEYS, DROPPED, where)
    kept = {key: value for key, value in kept.items() if value is not None and key != "type"}
    written = [kept.get(key) or [] for key in ("summary_groups", "dataset_abbrs")]
    if not all(isinstance(items, list | tuple) for items in written):
        return kept  # which the parser refuses
    groups = _groups(written[0], run, f"{where}.summary_groups", translation)
    entries = [_entry(entry, translation) for entry in written[1]]
    _note_missing(groups, entries, run, where, translation)
    return {**kept, "summary_groups": groups, "dataset_abbrs": entries, "missing": "show"}


def _one_table(values: Mapping[str, Any], where: str, translation: Translation) -> Mapping[str, Any]:
    """Return a summarizer with one table in place of several: its rows, each once, with a note."""
    tables = values.get("dataset_abbrs_list")
    if not isinstance(tables, list):
        return values
    translation.notes.note("the tables of dataset_abbrs_list are shown as one", f"{where}.dataset_abbrs_list")
    rows = [row for table in tables if isinstance(table, Mapping) for row in table.get("dataset_abbrs") or []]
    unique = {str(row): row for row in [*(values.get("dataset_abbrs") or []), *rows]}
    rest = {key: value for key, value in values.items() if key != "dataset_abbrs_list"}
    return {**rest, "dataset_abbrs": list(unique.values())}


def _groups(groups: Sequence[Any], run: Sequence[str], where: str, translation: Translation) -> list[Any]:
    """Return the groups whose members are in the run. Of several with one name and metric, the last counts there."""
    found: dict[tuple[str, str], Any] = {}
    names = set(run)
    for index, group in enumerate(groups):
        place = f"{where}[{index}]"
        if not isinstance(group, Mapping) or not isinstance(group.get("subsets"), list | tuple):
            translation.notes.note("a group without subsets is left out", place)
            continue
        kept = translation.known(group, GROUP.names, {}, place)
        entries = [_entry(entry, translation) for entry in kept["subsets"]]
        if names.isdisjoint(map(_name, entries)):
            continue
        name = _safe(str(kept.get("name")))
        names.add(name)
        transforms = kept.get("transforms")
        if isinstance(transforms, Mapping):
            transforms = {_safe(str(key)): value for key, value in transforms.items()}
        made = {
            **kept,
            "name": name,
            "subsets": entries,
            "transforms": transforms,
            **_weights(kept.get("weights"), entries),
        }
        found.pop((name, _metric(kept)), None)
        found[name, _metric(kept)] = {key: value for key, value in made.items() if value not in (None, {})}
    return list(found.values())


def _metric(group: Mapping[str, Any]) -> str:
    """Return what the score of a group is called there."""
    kinds = [key for key in ("metric", "std", "sum", "weights", "harmonic_mean") if group.get(key)]
    return str(group["metric"]) if kinds[:1] == ["metric"] else next(iter(kinds), "")


def _safe(name: str) -> str:
    """Return a name as datasets have it here: without slashes."""
    return name.replace("/", "_")


def _weights(weights: Any, entries: Sequence[Any]) -> dict[str, Any]:
    """Return the weights of a group: members that it does not name weigh nothing there."""
    if isinstance(weights, str):
        return {"weights": weights}
    if not isinstance(weights, Mapping):
        return {}
    weights = {_safe(str(key)): value for key, value in weights.items()}
    keys = [_key(entry) if _key(entry) in weights else _name(entry) for entry in entries]
    found = {key: weights.get(key, 0) for key in keys}
    return {"weights": found if any(found.values()) else None}


def _entry(entry: Any, translation: Translation) -> Any:
    """Return an entry with the name of its metric here, where the evaluator of the dataset calls it otherwise."""
    if not isinstance(entry, list | tuple) or len(entry) != 2 or not isinstance(entry[1], str):
        return _safe(entry) if isinstance(entry, str) else entry
    name, metric = _safe(str(entry[0])), entry[1]
    return [name, translation.metrics.get(name, {}).get(metric, metric)]


def _note_missing(
    groups: Sequence[Any], entries: Sequence[Any], run: Sequence[str], where: str, translation: Translation
) -> None:
    known = {*run, *(group["name"] for group in groups)}
    missing = [name for entry in entries if (name := _name(entry)) and name not in known and not name.startswith("--")]
    if missing:
        translation.notes.note(
            f"{len(missing)} of {len(entries)} rows of the summary are not in this run and show '-': "
            f"{listed(missing, 3)}",
            f"{where}.dataset_abbrs",
        )
    partial = [group["name"] for group in groups if not known.issuperset(map(_name, group["subsets"]))]
    if partial:
        what = f"no score for groups of which not all members are run: {listed(partial, 3)}"
        translation.notes.note(what, f"{where}.summary_groups")


def _name(entry: Any) -> str:
    return str(entry[0]) if isinstance(entry, list | tuple) and entry else str(entry)


def _key(entry: Any) -> str:
    return "@".join(map(str, entry)) if isinstance(entry, list | tuple) else f"{entry}@"
