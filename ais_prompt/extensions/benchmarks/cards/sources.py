"""Find the publisher's files of a benchmark in a folder, and read their rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from ais_prompt.config.cards import Card, Files, Hub
from ais_prompt.errors import DataError
from ais_prompt.extensions.benchmarks.layouts.layout import csv_records, json_whole, jsonl, tabbed_lines
from ais_prompt.readers.formats import read_file
from ais_prompt.readers.ranges import select
from ais_prompt.readers.table import Row
from ais_prompt.utils.text import counted, listed

SUBSET: Final = "{subset}"
_PARQUET: Final = ("{config}/{split}/*.parquet", "{config}/{split}-*.parquet", "data/{split}-*.parquet")
"""Where a repository of the hub, and the branch that the hub converts it to, keep the files of a split."""


class FoundFile(Struct, frozen=True):
    """A file of the publisher.

    Attributes:
        path: the file.
        name: its path below the folder or in the repository, with ``/``.
        split: the split that its rows belong to, by our name.
        subset: what the file's path says of all its rows; empty if nothing.
        form: how it is read; None: as a table.
    """

    path: Path
    name: str
    split: str
    subset: str = ""
    form: Files | None = None


def hub_patterns(hub: Hub) -> list[dict[str, str]]:
    """Return the layouts of a repository: split → pattern of its files."""
    config = SUBSET if hub.config == "*" else hub.config
    return [
        {split: layout.format(config=config, split=theirs) for split, theirs in hub.splits.items()}
        for layout in _PARQUET
    ]


def match(patterns: Mapping[str, str], names: Iterable[str]) -> list[tuple[str, str, str]]:
    """Return name, split and subset of the files that a layout means; empty if a split has none.

    Args:
        patterns: split → end of a path, in which ``*`` is a part of a name and ``{subset}`` a whole one.
        names: paths with ``/``.
    """
    found = []
    names = sorted(names)
    for split, pattern in patterns.items():
        wanted = re.escape(pattern).replace(re.escape(SUBSET), "(?P<subset>[^/]+)").replace(r"\*", "[^/]*")
        matches = [(name, one) for name in names if (one := re.fullmatch(f"(?:.*/)?{wanted}", name))]
        if not matches:
            return []
        found += [(name, split, one.groupdict().get("subset", "")) for name, one in matches]
    return found


def find_files(card: Card, source: Path) -> list[FoundFile]:
    """Return the files of a benchmark below a folder, in the first form of its card of which all files are there.

    Args:
        card: the benchmark.
        source: the folder, or a file that is the whole benchmark.

    Raises:
        DataError: no form is there; or two files could be the same one.
    """
    folder = source.parent if source.is_file() else source
    paths = [source] if source.is_file() else [path for path in source.rglob("*") if path.is_file()]
    names = [path.relative_to(folder).as_posix() for path in paths]
    for form in card.files:
        matched = [one for one in match(form.splits, names) if not form.subsets or one[2] in form.subsets]
        by_place: dict[tuple[str, str], str] = {}
        for name, split, subset in matched:
            if other := by_place.get((split, subset)):
                fix = "give the folder that holds only one of them"
                raise DataError(f"both {other} and {name} could be the {split} split", where=str(source), fix=fix)
            by_place[split, subset] = name
        if matched:
            return [FoundFile(folder / name, name, split, subset, form) for name, split, subset in matched]
    for patterns in hub_patterns(card.hub) if card.hub else ():
        if matched := match(patterns, names):
            return [FoundFile(folder / name, name, split, subset) for name, split, subset in matched]
    raise _nothing(card, source, names)


def _nothing(card: Card, source: Path, names: Sequence[str]) -> DataError:
    forms = [f"{' and '.join(form.splits.values())} ({form.about})" for form in card.files]
    forms += [f"{' and '.join(hub_patterns(card.hub)[0].values())} (the hub's {card.hub.repo})"] if card.hub else []
    there = f"it has {listed(names, 3)}" if names else "it is empty"
    return DataError(
        f"there are no files of {card.name} here: {there}", where=str(source), fix=f"bring {' or '.join(forms)}"
    )


def raw_rows(found: FoundFile) -> Iterator[Row]:
    """Yield the rows of a file as the publisher has them, with ``subset`` if the path says one.

    Raises:
        DataError: it cannot be read.
    """
    more = {"subset": found.subset} if found.subset else {}
    values: Iterable[Mapping[str, Any]] = _values(found)
    if found.form is not None and (rows := found.form.ranges.get(found.split)):
        every = list(values)
        values = (every[row] for row in select(rows, len(every)))
    for value in values:
        yield {**value, **more}


def _values(found: FoundFile) -> Iterable[Mapping[str, Any]]:
    form = found.form
    if form is not None and form.lines:
        return _lines(found.path, form.beside)
    if form is not None and form.header:
        read = tabbed_lines if found.path.suffix == ".tsv" else csv_records
        return (_headed(form.header, record, f"{found.path}:{line}") for line, record in read(found.path))
    if form is not None and form.key:
        [(_, whole)] = json_whole(found.path)
        return list(whole.get(form.key, ())) if isinstance(whole, dict) else []
    return read_file(found.path)


def _lines(file: Path, beside: str) -> Iterator[Row]:
    """Yield the objects of a file, each with the columns of the same ``id`` in the file beside it, if there is one."""
    other = file.parent / beside.format(name=file.name) if beside else file
    more = {row["id"]: row for _, row in jsonl(other)} if beside and other.is_file() else {}
    for _, row in jsonl(file):
        yield {**row, **more.get(row.get("id"), {})}


def _headed(header: Sequence[str], record: Sequence[str], where: str) -> Row:
    if len(record) != len(header):
        what = f"the record has {counted(len(record), 'field')}, not {len(header)}: {listed(header)}"
        raise DataError(what, where=where, fix="bring the file of the publisher unchanged")
    return dict(zip(header, record, strict=True))
