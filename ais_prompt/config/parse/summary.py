"""Parse ``summarizer``: which datasets the summary shows, and groups with their averages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.config.keys import advice, near_miss
from ais_prompt.config.parse.section import ConfigSection, shown
from ais_prompt.config.schema import GROUP, SUMMARIZER
from ais_prompt.types import SummaryEntry, SummaryGroup, SummarySpec
from ais_prompt.utils.text import listed

BY_SIZE = "n"
"""In place of weights: the number of questions."""


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
    groups = []
    for index, item in enumerate(_items(section, "summary_groups")):
        opened = ConfigSection.open(item, f"{section.at('summary_groups')}[{index}]", section.faults)
        group = _parse_group(opened, known) if opened else None
        if group is not None:
            groups.append(group)
            known.append(group.name)
    entries = [entry for entry in _parse_entries(section, "dataset_abbrs", known) if entry is not None]
    return SummarySpec(tuple(entries), tuple(groups))


def _parse_group(section: ConfigSection, known: Sequence[str]) -> SummaryGroup | None:
    """Parse a group; None if no dataset of it is in this run, or after a fault."""
    section.refuse_unknown(GROUP)
    name = section.get("name", (str,), "the name of the group")
    names = [_name(item) for item in _items(section, "subsets")]
    foreign = [one for one in names if one not in known]
    if foreign == names and not any(near_miss(str(one), known) for one in foreign):
        return None
    entries = _parse_entries(section, "subsets", known)
    weights = _parse_weights(section, [entry.name for entry in entries])
    if name in known:
        section.fault("name", f"two rows of the summary are called {name!r}", "give the group a name of its own")
    return SummaryGroup(name, tuple(entries), weights, section.where) if name else None


def _parse_entries(section: ConfigSection, key: str, known: Sequence[str]) -> list[SummaryEntry]:
    """Parse names or (name, metric) pairs. Lines such as ``'--- exams ---'``, titles in OpenCompass, are skipped."""
    entries = []
    for index, item in enumerate(_items(section, key)):
        name = _name(item)
        where = f"{section.at(key)}[{index}]"
        if name is None:
            section.faults.add(f"{where} is {shown(item)}", where, "give an abbr, or a list of abbr and metric")
        elif name in known:
            entries.append(SummaryEntry(name, None if isinstance(item, str) else item[1]))
        elif not name.startswith("--"):
            section.faults.add(f"there is no dataset or group {name!r}", where, advice(name, known))
    return entries


def _name(item: Any) -> str | None:
    """Return the name in an entry; None if it has none."""
    if isinstance(item, str):
        return item
    is_pair = isinstance(item, list | tuple) and len(item) == 2 and all(isinstance(part, str) for part in item)
    return item[0] if is_pair else None


def _parse_weights(section: ConfigSection, names: Sequence[str]) -> Mapping[str, float] | str | None:
    """Parse dataset → weight, or `BY_SIZE`."""
    weights: Any = section.get("weights", (Mapping, str, type(None)), "a dict of abbr → number, or 'n'", None)
    if weights is None or weights == BY_SIZE:
        return weights  # type: ignore[no-any-return]
    numbers = isinstance(weights, Mapping) and all(
        isinstance(weight, int | float) and not isinstance(weight, bool) and weight > 0 for weight in weights.values()
    )
    if not numbers or set(weights) != set(names):
        fix = f"give one number above 0 for each of {listed(names)}"
        section.fault("weights", f"{section.at('weights')} is {shown(weights)}", fix)
        return None
    return {name: float(weight) for name, weight in weights.items()}


def _items(section: ConfigSection, key: str) -> list[Any]:
    return list(section.get(key, (list, tuple), "a list", ()) or ())
