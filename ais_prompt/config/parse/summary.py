"""Parse ``summarizer``: which datasets the summary shows, and groups with their averages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.config.keys import advice, near_miss
from ais_prompt.config.parse.section import ConfigSection, shown
from ais_prompt.config.schema import GROUP, SUMMARIZER
from ais_prompt.types import GroupKind, SummaryEntry, SummaryGroup, SummarySpec
from ais_prompt.utils.arithmetic import evaluate
from ais_prompt.utils.text import listed

BY_SIZE = "n"
"""In place of weights: the number of questions."""

KINDS: Final[Mapping[str, GroupKind]] = {"std": "standard_deviation", "sum": "sum", "harmonic_mean": "harmonic_mean"}
"""Key of a group that is True → what is computed in place of the average."""


def parse_summary(top: ConfigSection, abbrs: Sequence[str]) -> SummarySpec:
    """Parse the ``summarizer`` of a config, which may be missing; note faults.

    A group none of whose datasets is in the run is left out, as configs of OpenCompass list all groups that there are.

    Args:
        top: the whole config.
        abbrs: of the datasets.
    """
    if top.values.get("summarizer") is None:
        return SummarySpec()
    section = top.section("summarizer")
    if section is None:
        return SummarySpec()
    section.refuse_unknown(SUMMARIZER)
    known = list(abbrs)
    missing = section.get("missing", (str,), "'fault' or 'show'", "fault")
    if missing not in ("fault", "show"):
        section.fault("missing", f"{section.at('missing')} is {shown(missing)}", "write 'fault' or 'show'")
    shows = missing == "show"
    groups = []
    for index, item in enumerate(_items(section, "summary_groups")):
        opened = ConfigSection.open(item, f"{section.at('summary_groups')}[{index}]", section.faults)
        group = _parse_group(opened, known, shows_missing=shows) if opened else None
        if group is not None:
            groups.append(group)
            known.append(group.name)
    entries = _parse_entries(section, "dataset_abbrs", known, shows_missing=shows)
    return SummarySpec(tuple(entries), tuple(groups), shows)


def _parse_group(section: ConfigSection, known: Sequence[str], *, shows_missing: bool) -> SummaryGroup | None:
    """Parse a group; None if no dataset of it is in this run, or after a fault."""
    section.refuse_unknown(GROUP)
    name = section.get("name", (str,), "the name of the group")
    names = [_item_name(item) for item in _items(section, "subsets")]
    foreign = [one for one in names if one not in known]
    if foreign == names and (shows_missing or not any(near_miss(str(one), known) for one in foreign)):
        return None
    entries = _parse_entries(section, "subsets", known, shows_missing=shows_missing)
    weights = _parse_weights(section, entries)
    # Groups for any run may give a dataset, or another group, one more metric.
    if name in known and not shows_missing:
        section.fault("name", f"two rows of the summary are called {name!r}", "give the group a name of its own")
    kind, metric = _parse_kind(section)
    transforms = _parse_transforms(section)
    if not name:
        return None
    return SummaryGroup(name, tuple(entries), weights, section.where, kind, metric, transforms)


def _parse_kind(section: ConfigSection) -> tuple[GroupKind, str | None]:
    """Parse what is computed of a group, and the name of its score, which may say that too."""
    kinds = [kind for key, kind in KINDS.items() if section.get(key, (bool,), "True or False", False)]
    if len(kinds) > 1:
        section.fault("name", f"{section.where} asks for {' and '.join(kinds)}", "make a group for each")
    metric = section.get("metric", (str, type(None)), "the name of its score", None)
    if not kinds and metric in KINDS.values():
        kinds = [metric]
    return next(iter(kinds), "average"), metric


def _parse_transforms(section: ConfigSection) -> Mapping[str, str]:
    """Parse dataset → expression of ``x``."""
    transforms: Any = section.get("transforms", (Mapping,), "a dict of name → expression of x", {}) or {}
    for name, expression in transforms.items():
        try:
            evaluate(expression if isinstance(expression, str) else "", 0.5)
        except ValueError as error:
            fix = "write numbers, x, + - * /, min, max and abs: '(2 - x) / 2 * 100'"
            section.fault("transforms", f"the transform of {name!r} cannot be used: {error}", fix)
            return {}
    return dict(transforms)


def _parse_entries(
    section: ConfigSection, key: str, known: Sequence[str], *, shows_missing: bool
) -> list[SummaryEntry]:
    """Parse names or (name, metric) pairs. Lines such as ``'--- exams ---'``, titles in OpenCompass, are skipped."""
    entries = []
    for index, item in enumerate(_items(section, key)):
        name = _item_name(item)
        where = f"{section.at(key)}[{index}]"
        if name is None:
            section.faults.add(f"{where} is {shown(item)}", where, "give an abbr, or a list of abbr and metric")
        elif name in known or (shows_missing and name and not name.startswith("--")):
            entries.append(SummaryEntry(name, None if isinstance(item, str) else item[1]))
        elif name and not name.startswith("--"):
            section.faults.add(f"there is no dataset or group {name!r}", where, advice(name, known))
    return entries


def _item_name(item: Any) -> str | None:
    """Return the name in an entry; None if it has none."""
    if isinstance(item, str):
        return item
    is_pair = isinstance(item, list | tuple) and len(item) == 2 and all(isinstance(part, str) for part in item)
    return item[0] if is_pair else None


def _parse_weights(section: ConfigSection, entries: Sequence[SummaryEntry]) -> Mapping[str, float] | str | None:
    """Parse dataset → weight, or `BY_SIZE`."""
    weights: Any = section.get("weights", (Mapping, str, type(None)), "a dict of abbr → number, or 'n'", None)
    if weights is None or weights == BY_SIZE:
        return weights  # type: ignore[no-any-return]
    if not _weighs_each(weights, entries):
        fix = f"give one number from 0 for each of {listed([entry.name for entry in entries])}; not all can be 0"
        section.fault("weights", f"{section.at('weights')} is {shown(weights)}", fix)
        return None
    return {name: float(weight) for name, weight in weights.items()}


def _weighs_each(weights: Any, entries: Sequence[SummaryEntry]) -> bool:
    """Return whether every entry has a weight, by its name or key, nothing else has one, and not all are 0."""
    if not isinstance(weights, Mapping) or not all(map(_is_weight, weights.values())) or not any(weights.values()):
        return False
    named = [{entry.name, entry.key} for entry in entries]
    return all(not names.isdisjoint(weights) for names in named) and set(weights) <= set().union(*named)


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _items(section: ConfigSection, key: str) -> list[Any]:
    return list(section.get(key, (list, tuple), "a list", ()) or ())
