"""The publisher's files of a benchmark: in a folder, on the Hugging Face Hub, or on the mirror of ``HF_ENDPOINT``.

Files are data only: the Parquet files that the hub itself makes of every dataset, in the branch
``refs/convert/parquet`` (huggingface.co/docs/dataset-viewer/parquet). No code of a repository is downloaded or run.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final, TypeVar
from unicodedata import normalize

from msgspec import Struct

from ais_prompt.data import Row, read_file, select
from ais_prompt.errors import DataError
from ais_prompt.extensions.benchmarks.card import Card, Files, Hub
from ais_prompt.extensions.benchmarks.layouts.file_layout import csv_records, json_whole, jsonl, tabbed_lines
from ais_prompt.terminal import is_quiet
from ais_prompt.utils import HUB, counted, data_root, file_digest, guard_hub, listed, require

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
    if found.form is not None and found.form.texts:
        values = _with_texts(values, found.path, found.form.texts)
    for value in values:
        yield {**value, **more}


def _with_texts(rows: Iterable[Mapping[str, Any]], file: Path, pattern: str) -> Iterator[Row]:
    """Yield the rows of a file, each with the texts that it names, see `Files.texts`.

    Raises:
        DataError: a text is not there.
    """
    depth, columns = pattern.count("/") + 1, re.findall(r"{(\w+)}", pattern)
    # Archives differ in how they write accents, so names are compared in the composed form of Unicode.
    names = ((path, path.relative_to(file.parent).parts[-depth:]) for path in file.parent.rglob("*") if path.is_file())
    known = {normalize("NFC", "/".join(parts)): path for path, parts in names}
    for number, row in enumerate(rows):
        parts = [[part.strip() for part in str(row[column]).split(";")] for column in columns]
        values = (dict(zip(columns, each, strict=True)) for each in product(*parts))
        wanted = [normalize("NFC", pattern.format_map(value)) for value in values]
        if missing := [name for name in wanted if name not in known]:
            fix = "bring the folder with the texts beside the file, unpacked"
            raise DataError(f"there is no text {missing[0]}", where=f"{file}, row {number}", fix=fix)
        yield {**row, "texts": [known[name].read_text("utf-8") for name in wanted]}


def _values(found: FoundFile) -> Iterable[Mapping[str, Any]]:
    form = found.form
    if form is not None and form.lines:
        return _lines(found.path, form.beside)
    if form is not None and form.vlmeval:
        return _vlmeval_rows(found.path)
    if form is not None and form.header:
        read = tabbed_lines if found.path.suffix == ".tsv" else csv_records
        return (_headed(form.header, record, f"{found.path}:{line}") for line, record in read(found.path))
    if form is not None and form.key:
        [(_, whole)] = json_whole(found.path)
        return list(whole.get(form.key, ())) if isinstance(whole, dict) else []
    return read_file(found.path)


_LONGEST_INDEX: Final = 64
"""Characters of an image at most that is the index of another row, as in VLMEvalKit."""


def _vlmeval_rows(file: Path) -> Iterator[Row]:
    """Yield the rows of a TSV of VLMEvalKit, each with its image in base64; empty fields are left out.

    Raises:
        DataError: an image is the index of a row that is not there.
    """
    table = read_file(file, quotechar='"')
    wanted = {row["image"] for row in table if len(row["image"]) <= _LONGEST_INDEX}
    images = {row["index"]: row["image"] for row in table if row["index"] in wanted}
    for number, row in enumerate(table):
        image = row["image"]
        if image in wanted and image not in images:
            fix = "bring the whole file of the publisher"
            raise DataError(
                f"the image is that of row {image!r}, which is not there", where=f"{file}, row {number}", fix=fix
            )
        yield {**{name: value for name, value in row.items() if value}, "image": images.get(image, image)}


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


T = TypeVar("T")

CONVERTED: Final = "refs/convert/parquet"
"""The branch with Parquet files, one folder a configuration and split."""
OFFLINE: Final = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")


def fetch(card: Card, revision: str | None = None) -> tuple[str, list[FoundFile]]:
    """Download the files of a benchmark into a cache; what is there already is not downloaded again.

    Args:
        card: the benchmark.
        revision: the commit; None takes the newest of the branch of Parquet files.

    Returns:
        The commit, and the files.

    Raises:
        DataError: there is no connection or no such repository, its terms were not accepted, it has other files than
            the card says, or a file is not what the hub says it is.
        MissingExtra: `huggingface_hub` is not installed.
    """
    assert card.hub is not None
    hub = require("huggingface_hub", extra="hub", why="aisprompt data get")
    _refuse_offline(card)
    guard_hub()
    repo, endpoint = card.hub.repo, os.environ.get("HF_ENDPOINT") or HUB
    api = hub.HfApi(endpoint=endpoint)
    if revision is None:
        revision = str(_listed(card, lambda: api.dataset_info(repo, revision=CONVERTED)).sha)
    tree = _listed(card, lambda: list(api.list_repo_tree(repo, repo_type="dataset", revision=revision, recursive=True)))
    entries = [entry for entry in tree if hasattr(entry, "size")]
    if odd := next((entry for entry in entries if not _is_file(entry)), None):
        what = f"the hub lists a file of {repo} that cannot be: {str((odd.path, odd.size))[:200]}"
        raise DataError(what, where=_page(card), fix="check the mirror that HF_ENDPOINT names")
    sizes = {entry.path: entry for entry in entries}
    matched = next(filter(None, (match(patterns, sizes) for patterns in hub_patterns(card.hub))), None)
    if matched is None:
        wanted = listed(hub_patterns(card.hub)[0].values())
        what = f"{repo} has no files {wanted}; it has {listed(sizes, 3) or 'none'}"
        raise DataError(what, where=_page(card), fix=f"bring the files yourself: {_from_command(card)}")
    found = []
    # From version 2 on the library resumes a download itself, five times.
    fix = f"run it again: the download goes on where it broke off; or {_from_command(card)}"
    for name, split, subset in matched:
        download = partial(_download, hub, repo, name, str(revision), endpoint)
        path = _asked(card, download, "the download broke off", fix)
        _check(path, sizes[name], card)
        found.append(FoundFile(path, name, split, subset))
    return revision, found


def _is_file(entry: Any) -> bool:
    """Return whether an entry of a list has a size, and a path that leads to a file below its folder."""
    if not (isinstance(entry.path, str) and type(entry.size) is int):
        return False
    return not {"", ".", ".."} & set(entry.path.split("/")) and not {"\\", "\0"} & set(entry.path)


def _download(hub: Any, repo: str, name: str, revision: str, endpoint: str) -> Path:
    """Download a file with a progress bar; one that broke off is resumed."""
    bars = hub.utils
    was_disabled = bars.are_progress_bars_disabled()
    if is_quiet():
        bars.disable_progress_bars()
    try:
        where = {"repo_type": "dataset", "revision": revision, "endpoint": endpoint, "cache_dir": _cache()}
        return Path(hub.hf_hub_download(repo, name, **where))
    finally:
        if is_quiet() and not was_disabled:
            bars.enable_progress_bars()


def forget(card: Card) -> None:
    """Remove the downloaded files of a benchmark, once its rows are stored."""
    assert card.hub is not None
    shutil.rmtree(_cache() / f"datasets--{card.hub.repo.replace('/', '--')}", ignore_errors=True)


def _cache() -> Path:
    """Return the folder of files that are not stored as rows yet."""
    return data_root() / ".hub"


def _listed(card: Card, call: Callable[[], T]) -> T:
    """Return what the hub says of the files of a benchmark.

    Raises:
        DataError: the hub refuses, or cannot be reached.
    """
    fix = f"check the connection, name a mirror with HF_ENDPOINT, or {_from_command(card)}"
    return _asked(card, call, "the files cannot be listed", fix)


def _asked(card: Card, call: Callable[[], T], what_failed: str, fix_of_failure: str) -> T:
    errors = require("huggingface_hub.errors", extra="hub", why="aisprompt data get")
    try:
        return call()
    except errors.GatedRepoError:
        fix = f"accept its terms at {_page(card)}, and set HF_TOKEN to your token"
        what = f"{card.name} is gated: its publisher asks for consent"
        raise DataError(what, where=_page(card), fix=fix) from None
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError, errors.EntryNotFoundError) as error:
        fix = f"check HF_ENDPOINT, or bring the files yourself: {_from_command(card)}"
        raise DataError(f"the hub does not have it: {_first_line(error)}", where=_page(card), fix=fix) from None
    except (errors.HTTPError, OSError, RuntimeError) as error:
        # RuntimeError: what huggingface_hub raises for a file that is shorter than announced.
        raise DataError(f"{what_failed}: {_first_line(error)}", where=_page(card), fix=fix_of_failure) from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:  # the library takes replies as they should be
        what = f"a reply of the hub has another form: {type(error).__name__}: {_first_line(error)}"
        raise DataError(what, where=_page(card), fix="check the mirror that HF_ENDPOINT names") from error


def _check(path: Path, entry: Any, card: Card) -> None:
    """Compare a file with the size and SHA-256 that the hub lists.

    Raises:
        DataError: it differs. The file is removed, so that the next download brings it again.
    """
    digest = getattr(entry.lfs, "sha256", None)
    size = path.stat().st_size
    if size == entry.size and (digest is None or file_digest(path) == digest):
        return
    path.resolve().unlink()
    path.unlink(missing_ok=True)
    what = f"{entry.path} is not the file that the hub lists: {size:,} of {entry.size:,} bytes, or another SHA-256"
    raise DataError(what, where=_page(card), fix="run it again; the broken file was removed")


def _refuse_offline(card: Card) -> None:
    for name in OFFLINE:
        if os.environ.get(name, "").upper() in ("1", "ON", "YES", "TRUE"):
            fix = f"unset {name}, or bring the files: {_from_command(card)}"
            raise DataError(f"{card.name} cannot be downloaded: {name} is set", where=_page(card), fix=fix)


def _page(card: Card) -> str:
    assert card.hub is not None
    return f"{os.environ.get('HF_ENDPOINT') or HUB}/datasets/{card.hub.repo}"


def _from_command(card: Card) -> str:
    return f"aisprompt data get {card.name} --from FOLDER"


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
