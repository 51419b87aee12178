"""Find earlier runs, read their ``run.json``, and sort the runs by it.

The runs that this user made on this machine have a file ``.made-here``: an HMAC of the folder's path and its
``config.py``, with a key that only this user can read. A folder that was moved, copied, unpacked from an archive or
changed by hand counts as a run of others.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from ais_prompt.config import differing_values, literal_values
from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.store.disk import reading, replacing
from ais_prompt.store.layout import RUN_NAME, RunFolder, safe_name
from ais_prompt.store.results import RunFile, check_shape, read_json
from ais_prompt.utils import read_regular

LATEST = "latest"
_SHOWN = 5
_CHANGES_SHOWN: Final = 2
"""Maximum number of names that an error lists."""
SCHEMA_VERSION: Final = 2
"""Version of run folders. Version 1 does not write it; its keys contain the id of the row and the address."""
_FIX: Final = "undo the change to that file, or start a new run without -r"
STATE: Final = "XDG_STATE_HOME"
"""Environment variable with the folder for such files; ``~/.local/state`` without it."""
KEY_BYTES: Final = 32


def locate_run(work_dir: Path, run: str) -> RunFolder:
    """Return the run folder that a user names.

    Args:
        work_dir: where run folders are kept.
        run: the path of a run folder, or below ``work_dir`` a name and time (``eval/20260131_235959Z``), a name alone,
            which means its latest run, a time alone, or ``latest``.

    Raises:
        ConfigError: there is no such run, or several runs have this time.
        StoreError: the folder of earlier runs cannot be read.
    """
    for place in (Path(run), work_dir / run):
        if (place / "config.py").is_file():
            return RunFolder(place)
        if runs := _runs(place):
            return _run_folder_at(place / runs[-1])
    every = list(all_runs(work_dir))
    found = sorted(every, key=started)[-1:] if run == LATEST else [folder for folder in every if folder.name == run]
    if len(found) == 1:
        return _run_folder_at(found[0])
    if not found and Path(run).is_file():
        raise _is_a_file(work_dir, run, every)
    what = f"several runs are called {run!r}" if found else f"there is no run {run!r}"
    none = "no runs are here: use -w DIR, or begin one: aisprompt run CONFIG"
    fix = f"runs here: {_listed(found or every, work_dir)}" if every else none
    raise ConfigError(what, where=str(work_dir), fix=fix)


def _is_a_file(work_dir: Path, file: str, every: Sequence[Path]) -> ConfigError:
    """Say that a config or a file of data is no run, and which runs bear its name."""
    source = file if file.endswith(".py") else f"--data {file} --url http://…/v1"
    of_file = [folder for folder in every if Path(file).stem in folder.parent.name]
    fix = f"its runs: {_listed(of_file, work_dir)}" if of_file else f"run it first: aisprompt run {source}"
    return ConfigError(f"{file!r} is a file, not a run", where=str(work_dir), fix=fix)


def runs_called(work_dir: Path, name: str) -> list[Path]:
    """Return the folders of the runs with a name, oldest first; none for the path or time of a run."""
    return [work_dir / name / run for run in _runs(work_dir / name)]


def config_changes(before: Path, after: Path) -> list[str]:
    """Return how the config of a run differs from that of another: ``temperature: 0.0 → 0.7``.

    Args:
        before, after: run folders. Nothing is said of configs that are programs, as earlier versions wrote.
    """
    with suppress(OSError, ValueError, SyntaxError, RecursionError):
        texts = [read_regular(RunFolder(root).config_file).decode("utf-8", "replace") for root in (before, after)]
        return differing_values(*map(literal_values, texts))
    return []


def all_runs(work_dir: Path) -> Iterator[Path]:
    """Return the folders of all runs, the newest of each name first."""
    for parent in sorted(_folders(work_dir)):
        yield from (parent / name for name in reversed(_runs(parent)))


def find_run_folder(work_dir: Path, name: str, which: str = LATEST) -> RunFolder:
    """Return the folder of an earlier run.

    Args:
        work_dir, name: as in `create_run_folder`.
        which: ``latest``, a timestamp such as ``20260131_235959Z``, or the path of a run folder.

    Raises:
        ConfigError: there is none; it lists those that exist.
        StoreError: the folder of earlier runs cannot be read.
    """
    parent = work_dir / safe_name(name)
    runs = _runs(parent)
    if which == LATEST and runs:
        return RunFolder(parent / runs[-1])
    if which in runs:
        return RunFolder(parent / which)
    if os.sep in which:
        return _run_folder_at(Path(which))
    raise _no_such_run(work_dir, parent, runs, which)


def read_run_file(folder: RunFolder) -> dict[str, Any]:
    """Read ``run.json`` of a run of this version or an earlier version.

    Raises:
        StoreError: it is missing or broken, or a later version wrote it.
    """
    record = read_json(folder.run_file)
    version = record.get("schema_version", 1)
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise StoreError(
            f"a later version of ais-prompt wrote this run: its schema_version is {version}, known is {SCHEMA_VERSION}",
            where=str(folder.run_file),
            fix="use that version, or a later one",
        )
    try:
        check_shape(record, RunFile)
    except ValueError as error:
        raise StoreError(
            f"run.json is not as this program writes it: {error}", where=str(folder.run_file), fix=_FIX
        ) from None
    return record


def in_order(runs: Sequence[Path]) -> list[Path]:
    """Sort the run folders of one config from oldest to newest.

    A run gets a number above those of the runs that exist when it starts, so neither a clock that is set back nor
    another time zone changes the order. Earlier versions wrote no number: such runs come first, by their start.
    A run whose ``run.json`` cannot be read is last, so that the error is shown.
    """
    return sorted(runs, key=_place)


def next_number(folder: RunFolder) -> int:
    """Return one more than the highest number of the other runs of the same config."""
    others = [path for path in folder.root.resolve().parent.iterdir() if RUN_NAME.fullmatch(path.name)]
    return 1 + max((int(number) for path in others if math.isfinite(number := _place(path)[0])), default=0)


def started(root: Path) -> tuple[float, float, int]:
    """Return the sort key of a run among those of all configs: its start, and its place among those of its own."""
    number, start, suffix = _place(root)
    return start, number, suffix


def note_made_here(folder: RunFolder, config: bytes) -> None:
    """Note that this user made a run with this ``config.py``. Nothing is noted if the key cannot be kept.

    Raises:
        StoreError: the folder cannot be written.
    """
    if (mark := _mark(folder, config)) is not None:
        with replacing(folder.made_here_file, restorable=True, binary=True) as stream:
            stream.write(mark)


def is_made_here(folder: RunFolder, config: bytes) -> bool:
    """Return whether `note_made_here` was called for this folder and content."""
    with suppress(OSError):
        noted, mark = folder.made_here_file.read_bytes(), _mark(folder, config)
        return mark is not None and hmac.compare_digest(noted, mark)
    return False


def is_own(folder: RunFolder) -> bool:
    """Return whether this user made a run here, and its ``config.py`` is as it was."""
    with suppress(OSError):
        return is_made_here(folder, read_regular(folder.config_file))
    return False


def _listed(runs: Sequence[Path], work_dir: Path) -> str:
    """Return the names of runs, and of each how it differs from the run of the same name before it."""
    shown = []
    for run in runs[:_SHOWN]:
        name, earlier = str(run.relative_to(work_dir)), _runs(run.parent)
        place = earlier.index(run.name) if run.name in earlier else 0
        changes = config_changes(run.parent / earlier[place - 1], run)[:_CHANGES_SHOWN] if place else []
        shown.append(f"{name} ({'; '.join(changes)})" if changes else name)
    return ", ".join(shown) + (", …" if len(runs) > _SHOWN else "")


def _runs(parent: Path) -> list[str]:
    """Return the names of run folders, oldest first. The user names those that shards share."""
    runs = in_order([one for one in _folders(parent) if RUN_NAME.fullmatch(one.name) or RunFolder(one).shards.is_dir()])
    return [folder.name for folder in runs]


def _folders(parent: Path) -> list[Path]:
    """Return the folders in a folder; none if it does not exist."""
    with reading(parent, fix="check its permissions, or choose another place with -w DIR"):
        return [folder for folder in parent.iterdir() if folder.is_dir()] if parent.is_dir() else []


def _run_folder_at(root: Path) -> RunFolder:
    folder = RunFolder(root)
    if not root.is_dir():
        raise ConfigError("there is no such run folder", where=str(root), fix="check the path, or use -r latest")
    if not folder.config_file.is_file():
        raise ConfigError("this is not a run folder: it has no config.py", where=str(root), fix="use -r latest")
    return folder


def _no_such_run(work_dir: Path, parent: Path, runs: list[str], which: str) -> ConfigError:
    if runs:
        fix = f"runs, the newest first: {_listed([parent / run for run in reversed(runs)], parent)}"
        return ConfigError(f"there is no run {which!r}", where=str(parent), fix=fix)
    others = sorted(folder.name for folder in _folders(work_dir))
    known = f"; there are runs of: {', '.join(others[:_SHOWN])}" if others else ""
    return ConfigError("there is no earlier run", where=str(parent), fix=f"start one without -r{known}")


def _place(root: Path) -> tuple[float, float, int]:
    """Return the sort key of a run: its number, its start in seconds since 1970, and the suffix of its name."""
    name = RUN_NAME.fullmatch(root.name)
    suffix = int(name["suffix"] or 1) if name else 1
    folder = RunFolder(root)
    if not folder.run_file.exists():
        return 0, _start_by_name(root.name), suffix
    try:
        record = read_run_file(folder)
        start = datetime.fromisoformat(record["sessions"][0]["started"]).timestamp()
        return int(record.get("run_number", 0)), start, suffix
    except (StoreError, ValueError, LookupError, TypeError, OverflowError):
        return math.inf, math.inf, suffix


def _start_by_name(name: str) -> float:
    """Return the start in the name of a folder: UTC with a ``Z``, local time without it, as in earlier versions."""
    found = RUN_NAME.fullmatch(name)
    try:
        start = datetime.strptime(found["start"], "%Y%m%d_%H%M%S") if found else datetime.min
        return (start.replace(tzinfo=UTC) if found and found["utc"] else start).timestamp()
    except (ValueError, OverflowError):  # 20260231_000000 is not a time
        return 0


def _mark(folder: RunFolder, config: bytes) -> bytes | None:
    """Return the mark of a folder; None if there is no key."""
    key = _key(Path(os.environ.get(STATE) or "~/.local/state").expanduser() / "aisprompt" / "key")
    if key is None:
        return None
    root = os.fsencode(folder.root.resolve())
    return hmac.new(key, root + b"\0" + config, hashlib.sha256).hexdigest().encode() + b"\n"


@cache
def _key(path: Path) -> bytes | None:
    """Return the key of this user, which is made with the first run; None if it cannot be kept."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        own = path.with_name(f"key.{secrets.token_hex(8)}")
        try:
            if not path.exists():
                descriptor = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(secrets.token_bytes(KEY_BYTES))
                with suppress(FileExistsError):  # another process was faster
                    os.link(own, path)
        finally:
            own.unlink(missing_ok=True)
        key = path.read_bytes()
        return key if len(key) == KEY_BYTES else None
    return None
