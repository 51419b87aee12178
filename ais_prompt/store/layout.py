"""The paths of a run folder, ``<work_dir>/<name>/<YYYYmmdd_HHMMSS>Z/``, and its lock for one writer.

A run folder may come from elsewhere. Nothing is written through symbolic links in it: they may lead to other files. The
operating system releases the lock when the process ends, kill -9 included.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final, Self, overload

from msgspec import Struct

from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.store.disk import unwritable, writing
from ais_prompt.utils import digest

_NUMBERS: Final = re.compile(r"\d+")
RUN_NAME: Final = re.compile(r"(?P<start>\d{8}_\d{6})(?P<utc>Z?)(?:_(?P<suffix>\d+))?")
"""The name of a run folder: its start in UTC. Earlier versions wrote local time, without the ``Z``."""
SESSION_NAME: Final = re.compile(
    r"(?P<start>\d{8}_\d{6}Z)_(?P<index>\d+)-of-(?P<count>\d+)_(?P<host>.+)_(?P<pid>\d+)(?:-\d+)?"
)
"""The name of the folder in which one process of several asked its part of a run."""
_PLAIN = frozenset("-_.+=,@()[]")
"""Characters besides letters and digits that a file name keeps."""
_LONGEST = 150
"""Maximum bytes of a file name without its ending; file systems allow 255."""
NAMES_KEPT: Final = 4096
"""Names that are kept: a run asks for those of each task a dozen times."""


class _Below:
    """A path in a run folder."""

    def __init__(self, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, folder: None, _: type) -> Self: ...
    @overload
    def __get__(self, folder: RunFolder, _: type) -> Path: ...
    def __get__(self, folder: RunFolder | None, _: type) -> Path | Self:
        return self if folder is None else folder.root / self._name


class RunFolder(Struct, frozen=True):
    """The paths of one run. Nothing is created here: the writer of a file creates its folder."""

    root: Path

    config_file = _Below("config.py")
    """The resolved config, secrets redacted."""
    run_file = _Below("run.json")
    """Versions, digests, seeds and the command line."""
    made_here_file = _Below(".made-here")
    """The mark of the user who made the run, see `ais_prompt.store.runs`."""
    writer_lock_file = _Below(".lock")
    """The lock of the process that writes this folder."""
    summary_dir = _Below("summary")
    """The tables of scores: ``summary.txt``, ``.csv``, ``.md`` and ``.json``."""
    report = _Below("report.html")
    """The report for a browser."""
    view = _Below("view")
    """Files of ``aisprompt view``, to show the run again at once; they may be removed."""
    shards = _Below("shards")
    """The folders of shards, each a run folder of its own."""
    loads = _Below("loads")
    """The folders of several loads, each a run folder of its own."""
    shard_file = _Below("shard.json")
    """In the folder of a shard: the agreement of all shards of its run."""
    servers = _Below("servers")
    """The servers that shards share, as they are announced."""
    portions_file = _Below("portions.json")
    """In the folder of a shard: the portions that it asks, where a partitioner decides it."""
    logs = _Below("logs")
    """The folder of log files."""

    @property
    def partial(self) -> RunFolder:
        """Scores of a run that is not finished: a run folder of its own, which the next session removes."""
        return RunFolder(self.root / "partial")

    @property
    def whole(self) -> RunFolder:
        """The run of this folder, if it holds the scores of a run that is not finished; else itself."""
        return RunFolder(self.root.parent) if self.root.name == "partial" else self

    def sessions(self) -> list[RunFolder]:
        """Return the folders in `shards`, oldest first; other folders there are ignored."""
        with suppress(OSError):
            names = sorted(path.name for path in self.shards.iterdir())
            return [RunFolder(self.shards / name) for name in names if SESSION_NAME.fullmatch(name)]
        return []

    def load_folders(self) -> list[RunFolder]:
        """Return the folders in `loads` by the numbers in their names; none if there is no such folder."""
        with suppress(OSError):
            paths = [path for path in self.loads.iterdir() if path.is_dir() and not path.is_symlink()]
            return [
                RunFolder(path) for path in sorted(paths, key=lambda path: [*map(int, _NUMBERS.findall(path.name))])
            ]
        return []

    @property
    def run_of_shard(self) -> RunFolder:
        """The run folder that the folder of a shard belongs to."""
        return RunFolder(self.root.parent.parent)

    def journal(self, model_abbr: str, dataset_abbr: str) -> Path:
        """Finished requests of one task, one a line."""
        return self._of_task("journal", model_abbr, dataset_abbr, ".jsonl")

    def journals(self, model_abbr: str, dataset_abbr: str) -> list[Path]:
        """Return the journals of one task that are there: of the run itself, then of its `sessions`."""
        found = (one.journal(model_abbr, dataset_abbr) for one in (self, *self.sessions()))
        return [journal for journal in found if journal.exists()]

    def predictions(self, model_abbr: str, dataset_abbr: str) -> Path:
        """Predictions of one task, one sample a line."""
        return self._of_task("predictions", model_abbr, dataset_abbr, ".jsonl")

    def results(self, model_abbr: str, dataset_abbr: str) -> Path:
        """Scores of one task."""
        return self._of_task("results", model_abbr, dataset_abbr, ".json")

    def load_file(self, model_abbr: str, dataset_abbr: str, ending: str) -> Path:
        """A file about the performance of a model under the load of a dataset, such as ``_schedule.jsonl``."""
        return self._of_task("performances", model_abbr, dataset_abbr, ending)

    def judge(self, model_abbr: str, evaluator: str = "") -> RunFolder:
        """The verdicts of judges on the answers of a model: a journal and predictions, like those of a run.

        Args:
            model_abbr: the model.
            evaluator: the name of the evaluator that asks them, of several.
        """
        folder = self.root / "judge" / safe_name(model_abbr)
        return RunFolder(folder / "by" / safe_name(evaluator) if evaluator else folder)

    def judges(self, model_abbr: str) -> list[RunFolder]:
        """The verdicts of the judges of each evaluator on the answers of a model."""
        folder = self.judge(model_abbr)
        return [folder, *(RunFolder(path) for path in sorted(folder.root.glob("by/*")))]

    def _of_task(self, kind: str, model_abbr: str, dataset_abbr: str, ending: str) -> Path:
        return self.root / f"{kind}/{safe_name(model_abbr)}/{safe_name(dataset_abbr)}{ending}"


def create_run_folder(work_dir: Path, name: str, now: datetime | None = None) -> RunFolder:
    """Create the folder of a new run; a second run in the same second gets ``_2``.

    Args:
        work_dir: where run folders are kept; created if needed.
        name: the name of the config.
        now: the start, as a time with an offset; the clock's time if not given.

    Raises:
        ConfigError: it cannot be made there.
    """
    parent = work_dir / safe_name(name)
    stamp = (now or datetime.now(UTC)).astimezone(UTC).strftime("%Y%m%d_%H%M%SZ")
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for number in itertools.count(1):
            root = parent / (stamp if number == 1 else f"{stamp}_{number}")
            with suppress(FileExistsError):  # perhaps of another run
                root.mkdir()
                break
    except OSError as error:
        raise ConfigError(
            f"cannot make a run folder: {error.strerror}", where=str(work_dir), fix="choose another place with -w DIR"
        ) from error
    return RunFolder(root)


@lru_cache(NAMES_KEPT)
def safe_name(abbr: str) -> str:
    """Return a readable file name for an abbr. Different abbrs have different names.

    Letters and digits of any script stay, other characters become ``%XX`` as in a URL: ``org/model:8b`` →
    ``org%2Fmodel%3A8b``. A long name is cut, and ends with ``%-`` (which no other name contains) and a digest.
    """
    name = "".join(
        character if character.isalnum() or character in _PLAIN else _percent(character) for character in abbr
    )
    if name.startswith("."):
        name = _percent(".") + name[1:]
    encoded = name.encode()
    if len(encoded) > _LONGEST:
        name = f"{encoded[:_LONGEST].decode(errors='ignore')}%-{digest(abbr)}"
    return name


def refuse_links(folder: RunFolder) -> None:
    """Raise an error if a run folder holds a symbolic link that leads out of it. Links inside of it may be.

    The folder itself may be a link, as the user named it. The folders of single shards are left out: they may be a
    thousand, and only their own process writes them.

    Raises:
        StoreError: there is a link, or the folder cannot be read.
    """
    if (link := next(_links(folder.root, folder.shards, os.path.realpath(folder.root)), None)) is not None:
        raise StoreError(
            "a run folder is not written through a symbolic link that leads out of it",
            where=str(link),
            fix="remove the link, or put the file or folder itself there",
        )


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def _links(folder: Path | str, but: Path, root: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except FileNotFoundError:  # a new run, or a temporary folder that is gone
        return
    except OSError as error:
        fix = "check its permissions"
        raise StoreError(f"cannot read: {error.strerror}", where=str(folder), fix=fix) from error
    for entry in found:
        if entry.is_symlink():
            if not Path(os.path.realpath(entry.path)).is_relative_to(root):
                yield entry.path
        elif entry.is_dir(follow_symlinks=False) and entry.path != str(but):
            yield from _links(entry.path, but, root)


_REFUSED: Final = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EISDIR}
"""Errors of a folder that does not exist or cannot be written."""


@contextmanager
def try_file_lock(path: Path) -> Iterator[bool]:
    """Hold a lock file while the body runs, and yield True; yield False at once if another process holds it.

    The file is not removed: otherwise a third process could lock a new file of the same name.

    Raises:
        OSError: the file cannot be made, or the file system has no locks.
    """
    from filelock import FileLock, Timeout  # a command that only reads goes without

    path.parent.stat()  # FileLock would create a missing folder
    lock = FileLock(path, timeout=0, thread_local=False)  # any thread may release it
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    except NotImplementedError as error:
        raise OSError(errno.ENOLCK, "the file system has no locks") from error
    try:
        yield True
    finally:
        lock.release()


@contextmanager
def hold_writer_lock(folder: RunFolder) -> Iterator[None]:
    """Lock a run folder while the body runs.

    Raises:
        StoreError: another process holds it, which the message names; the disk is full or has no locks; or there is a
            symbolic link in the folder.
        ConfigError: the folder cannot be written.
    """
    # Windows lets no other process read a locked file, so the holder is named in another one.
    holder = folder.writer_lock_file.with_name(".lock.holder")
    refuse_links(folder)
    with ExitStack() as stack:
        try:
            is_ours = stack.enter_context(try_file_lock(folder.writer_lock_file))
        except OSError as error:
            if error.errno not in _REFUSED:
                raise unwritable(folder.writer_lock_file, error) from error
            what = f"the run folder cannot be written: {error.strerror}"
            raise ConfigError(what, where=str(folder.root), fix="choose another place with -w DIR") from error
        if not is_ours:
            raise StoreError(
                f"another process writes this run folder: PID {_named(holder)}",
                where=str(folder.root),
                fix="wait until it has ended or stop it; or start a new run without -r",
            )
        with writing(holder):
            holder.write_text(f"{os.getpid()}\n", "utf-8")
        yield


def _named(holder: Path) -> str:
    try:
        return holder.read_text("utf-8").strip() or "unknown"
    except (OSError, UnicodeDecodeError):
        return "unknown"
