"""Where everything of a run lies: ``<work_dir>/<name>/<YYYYmmdd_HHMMSS>/``."""

from __future__ import annotations

import itertools
import os
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ais_prompt.errors import ConfigError
from ais_prompt.store.disk import reading
from ais_prompt.utils.digest import digest

LATEST = "latest"
_TIMESTAMP = re.compile(r"(\d{8}_\d{6})(?:_(\d+))?")
_PLAIN = frozenset("-_.+=,@()[]")
"""Characters besides letters and digits that a file name keeps."""
_LONGEST = 150
"""Most bytes of a file name without its ending; file systems take 255."""
_SHOWN = 5
"""Most names that an error lists."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of one run. Nothing is made here: whoever writes a file makes its folder."""

    root: Path

    @property
    def config_file(self) -> Path:
        """The resolved config, secrets redacted."""
        return self.root / "config.py"

    @property
    def run_file(self) -> Path:
        """Versions, digests, seeds and the command line."""
        return self.root / "run.json"

    @property
    def lock_file(self) -> Path:
        """Held by the process that writes this folder."""
        return self.root / ".lock"

    @property
    def summary_dir(self) -> Path:
        """The tables of scores: ``summary.txt``, ``.csv``, ``.md`` and ``.json``."""
        return self.root / "summary"

    @property
    def report(self) -> Path:
        """The report for a browser."""
        return self.root / "report.html"

    @property
    def logs(self) -> Path:
        """The folder of log files."""
        return self.root / "logs"

    def journal(self, model_abbr: str, dataset_abbr: str) -> Path:
        """Finished requests of one task, one a line."""
        return self._of_task("journal", model_abbr, dataset_abbr, ".jsonl")

    def predictions(self, model_abbr: str, dataset_abbr: str) -> Path:
        """Predictions of one task, one sample a line."""
        return self._of_task("predictions", model_abbr, dataset_abbr, ".jsonl")

    def results(self, model_abbr: str, dataset_abbr: str) -> Path:
        """Scores of one task."""
        return self._of_task("results", model_abbr, dataset_abbr, ".json")

    def _of_task(self, kind: str, model_abbr: str, dataset_abbr: str, ending: str) -> Path:
        return self.root / kind / safe_name(model_abbr) / (safe_name(dataset_abbr) + ending)


def safe_name(abbr: str) -> str:
    """A readable file name for an abbr; two abbrs never share one.

    Letters and digits of any script stay, other characters become ``%XX`` as in an address: ``org/model:8b`` →
    ``org%2Fmodel%3A8b``. A long name is cut, and ends with ``%-`` (which no other name holds) and a digest.
    """
    name = "".join(character if _is_plain(character) else _percent(character) for character in abbr)
    if name.startswith("."):
        name = _percent(".") + name[1:]
    encoded = name.encode()
    if len(encoded) > _LONGEST:
        name = f"{encoded[:_LONGEST].decode(errors='ignore')}%-{digest(abbr)}"
    return name


def _is_plain(character: str) -> bool:
    return character.isalnum() or character in _PLAIN


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def create_run_folder(work_dir: Path, name: str, now: datetime | None = None) -> RunFolder:
    """Make the folder of a new run; a second run in the same second gets ``_2``.

    Args:
        work_dir: where run folders are kept; made if needed.
        name: the name of the config.
        now: local time of the start; the clock's time if not given.

    Raises:
        ConfigError: it cannot be made there.
    """
    parent = work_dir / safe_name(name)
    stamp = (now or datetime.now()).strftime("%Y%m%d_%H%M%S")
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for number in itertools.count(1):
            root = parent / (stamp if number == 1 else f"{stamp}_{number}")
            if _made(root):
                break
    except OSError as error:
        raise ConfigError(
            f"cannot make a run folder: {error.strerror}", where=str(work_dir), mend="choose another place with -w DIR"
        ) from error
    return RunFolder(root)


def _made(folder: Path) -> bool:
    """Make a folder; False if there is one already, perhaps made by another run just now."""
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    return True


def find_run_folder(work_dir: Path, name: str, which: str = LATEST) -> RunFolder:
    """The folder of an earlier run.

    Args:
        work_dir, name: as in `create_run_folder`.
        which: ``latest``, a timestamp such as ``20260131_235959``, or the path of a run folder.

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
    """Names of run folders, the oldest first."""
    found = []
    for folder in _folders(parent):
        match = _TIMESTAMP.fullmatch(folder.name)
        if match:
            found.append((match[1], int(match[2] or 1), folder.name))
    return [name for _, _, name in sorted(found)]


def _folders(parent: Path) -> list[Path]:
    """The folders in a folder; none if it is not there."""
    with reading(parent, mend="check its permissions, or choose another place with -w DIR"):
        return [folder for folder in parent.iterdir() if folder.is_dir()] if parent.is_dir() else []


def _run_folder_at(root: Path) -> RunFolder:
    folder = RunFolder(root)
    if not root.is_dir():
        raise ConfigError("there is no such run folder", where=str(root), mend="check the path, or use -r latest")
    if not folder.config_file.is_file():
        raise ConfigError("this is not a run folder: it has no config.py", where=str(root), mend="use -r latest")
    return folder


def _no_such_run(work_dir: Path, parent: Path, runs: list[str], which: str) -> ConfigError:
    if runs:
        shown = ", ".join(reversed(runs[-_SHOWN:])) + (", …" if len(runs) > _SHOWN else "")
        return ConfigError(f"there is no run {which!r}", where=str(parent), mend=f"runs, the newest first: {shown}")
    others = sorted(folder.name for folder in _folders(work_dir))
    known = f"; there are runs of: {', '.join(others[:_SHOWN])}" if others else ""
    return ConfigError("there is no earlier run", where=str(parent), mend=f"start one without -r{known}")
