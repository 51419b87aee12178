"""Find the folder of an earlier run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ais_prompt.errors import ConfigError
from ais_prompt.store.disk import reading
from ais_prompt.store.layout import RUN_NAME, RunFolder, safe_name
from ais_prompt.store.run_file import in_order, started

LATEST = "latest"
_SHOWN = 5
"""Maximum number of names that an error lists."""


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
    found = _called(run, every)
    if len(found) == 1:
        return _run_folder_at(found[0])
    names = [str(folder.relative_to(work_dir)) for folder in found or every]
    what = f"several runs are called {run!r}" if found else f"there is no run {run!r}"
    none = "no runs are here: use -w DIR, or begin one: aisprompt run CONFIG"
    fix = f"runs here: {_listed(names)}" if names else none
    raise ConfigError(what, where=str(work_dir), fix=fix)


def _called(run: str, every: list[Path]) -> list[Path]:
    if run == LATEST:
        return sorted(every, key=started)[-1:]
    return [folder for folder in every if folder.name == run]


def all_runs(work_dir: Path) -> Iterator[Path]:
    """Return the folders of all runs, the newest of each name first."""
    for parent in sorted(_folders(work_dir)):
        yield from (parent / name for name in reversed(_runs(parent)))


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")


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
        fix = f"runs, the newest first: {_listed(runs[::-1])}"
        return ConfigError(f"there is no run {which!r}", where=str(parent), fix=fix)
    others = sorted(folder.name for folder in _folders(work_dir))
    known = f"; there are runs of: {', '.join(others[:_SHOWN])}" if others else ""
    return ConfigError("there is no earlier run", where=str(parent), fix=f"start one without -r{known}")
