"""The shards of a run: processes on any machine that each ask a part of the samples.

Each works in ``shards/<time>_<i>-of-<N>_<host>_<pid>/``, a run folder of its own. Only its process writes there, so
shards need no locks between machines. The journals decide what is answered: the number of shards may change between
sessions, and a request that two of them answered counts once.

A partitioner may divide the tasks. ``shards/partitions/<digest>/`` then has the division for one number of shards; a
process that finds none writes it. ``portions.json`` in the folder of a shard has the division of its session: another
session may divide the tasks differently.
"""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field, json, to_builtins

from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.store import (
    SESSION_NAME,
    RunFolder,
    read_json,
    read_run_file,
    refuse_links,
    safe_name,
    write_json_atomic,
    writing,
)
from ais_prompt.types import BEAT, SILENCE, Partition, Portion, Shard
from ais_prompt.utils import canonical, digest

_OF_TASKS: Final = ("models", "datasets", "decoding", "rows", "requests")
"""Keys of an agreement that have a value for each model, dataset or task of a shard."""
_NAMED: Final = 3
"""How many differences between two shards an error names."""


class ShardFolder(Struct, frozen=True):
    """The folder of one session of a shard.

    Attributes:
        folder: where.
        shard: the part that it asked.
        start: when, in UTC.
        host: on which machine.
    """

    folder: RunFolder
    shard: Shard
    start: str
    host: str

    @property
    def state(self) -> str:
        """``running``, ``dead``, or how its session ended: ``finished``, ``failed``, ``preempted``."""
        with suppress(StoreError):
            status = str(read_run_file(self.folder).get("status"))
            if status != "running":
                return status
        with suppress(OSError):
            return "running" if time.time() - _heart(self.folder).stat().st_mtime < SILENCE else "dead"
        return "dead"

    @property
    def is_finished(self) -> bool:
        """Whether it has asked everything, successfully or not."""
        return self.state in ("finished", "failed")

    def answered(self) -> int:
        """Return how many requests its journals hold."""
        return _lines_in(self.folder.root)


class HeldTasks(Struct, frozen=True):
    """The tasks that one session of a shard asks, and the portion of each.

    Attributes:
        key: of its partition; empty without a partitioner.
        portions: name of a task → the part of its samples.
    """

    key: str = ""
    portions: Mapping[str, Portion] = field(default_factory=dict)

    def of(self, task: str, shard: Shard) -> Portion | None:
        """Return the portion of a task that the session asks; None for no portion."""
        return self.portions.get(task) if self.key else shard.portion


EVERYTHING: Final = HeldTasks()
"""A part of every dataset, as without a partitioner."""


def parse_shard(text: str, environment: Mapping[str, str] = os.environ) -> Shard:
    """Read ``3/8``, or ``auto/8``, whose number comes from the array job that this process belongs to.

    Raises:
        ConfigError: it has another form, or the number is not below that of all shards.
    """
    number, _, count = text.partition("/")
    if not count.isdecimal() or not (number.isdecimal() or number == "auto"):
        what = f"a shard is written 0/8 to 7/8, or auto/8, not {text!r}"
        raise ConfigError(what, where="--shard", fix="e.g. --shard 0/8")
    index = array_index(environment) if number == "auto" else int(number)
    if not 0 <= index < int(count):
        raise ConfigError(
            f"there is no shard {index} of {count}", where="--shard", fix=f"they are numbered 0 to {int(count) - 1}"
        )
    return Shard(index, int(count))


def shared_run_folder(work_dir: Path, name: str, run: str) -> RunFolder:
    """Return the run folder that several shards share; the first shard creates it.

    Args:
        work_dir, name: as in `ais_prompt.store.layout.create_run_folder`.
        run: a name for the folder, such as the id of a job, or the path of an existing folder.

    Raises:
        ConfigError: it is not a valid name, or the folder cannot be created.
    """
    if Path(run).is_dir():
        return RunFolder(Path(run))
    if run != safe_name(run) or run == "latest":
        raise ConfigError(
            f"{run!r} cannot be the name of a run that shards share",
            where="-r",
            fix="give all shards the same plain name, such as the id of the job: -r 4711",
        )
    root = work_dir / safe_name(name) / run
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"cannot make a run folder: {error.strerror}", where=str(root), fix="choose another place with -w DIR"
        ) from error
    return RunFolder(root)


@contextmanager
def open_shard(
    run: RunFolder, shard: Shard, plan: Mapping[str, Any], held: HeldTasks = EVERYTHING
) -> Iterator[RunFolder]:
    """Create the folder of a shard, and write heartbeats while the body runs.

    Args:
        run: the run folder that all shards share.
        shard: the part that is asked.
        plan: the agreement of all shards, as JSON values that were read back.
        held: the tasks and portions that the session asks.

    Raises:
        ConfigError: another shard was started with something else.
        StoreError: the folder cannot be written.
    """
    refuse_links(run)
    _refuse_others(run, plan)
    stamp = datetime.now(UTC).strftime("%Y%m%d_%H%M%SZ")
    host = safe_name(socket.gethostname())
    folder = _make_folder(run, f"{stamp}_{shard.index}-of-{shard.count}_{host}_{os.getpid()}")
    if held.key:
        write_held(folder, held)
    write_json_atomic(folder.shard_file, plan)
    heart = _heart(folder)
    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT):
            with suppress(OSError):
                heart.touch()

    with writing(heart):
        heart.touch()
    thread = threading.Thread(target=beat, name="aisprompt-heartbeat", daemon=True)
    thread.start()
    try:
        yield folder
    finally:
        over.set()
        thread.join()


def join_shards(run: RunFolder, parts: Sequence[Path]) -> list[int]:
    """Copy the shards of other copies of a run folder into this one, and return how many each copy has.

    Raises:
        ConfigError: a copy has none, or they asked something else. Nothing is copied then.
        StoreError: they cannot be copied.
    """
    found = [list_shard_folders(RunFolder(part)) for part in parts]
    agreed = stored_agreements(run)
    for part, sessions in zip(parts, found, strict=True):
        if not sessions:
            fix = "name a run folder in which shards worked"
            raise ConfigError("the folder has no shards", where=str(part), fix=fix)
        asked = stored_agreements(RunFolder(part))
        for theirs, ours in itertools.product(asked, agreed):
            if differing := _differing(theirs, ours):
                raise ConfigError(
                    f"the shards did not ask what those of the run asked: {'; '.join(differing[:_NAMED])}",
                    where=str(part),
                    fix="merge only copies of one run folder",
                )
        agreed += asked
    for one in itertools.chain.from_iterable(found):
        target = run.shards / one.folder.root.name
        if not target.exists() or _lines_in(target) < _lines_in(one.folder.root):
            with writing(target):
                shutil.copytree(one.folder.root, target, dirs_exist_ok=True)
    return list(map(len, found))


def list_shard_folders(run: RunFolder) -> list[ShardFolder]:
    """Return the sessions of all shards of a run, oldest first. Other folders are ignored."""
    found = []
    for folder in run.sessions():
        match = SESSION_NAME.fullmatch(folder.root.name)
        assert match is not None
        shard = Shard(int(match["index"]), int(match["count"]))
        found.append(ShardFolder(folder, shard, match["start"], match["host"]))
    return found


def latest_shards(run: RunFolder) -> dict[Shard, ShardFolder | None]:
    """Return the latest session of each shard; None for a shard that was not started.

    The latest session decides how many there are. Sessions that divided the tasks differently do not count: what they
    asked is not what the shard of this number is to ask.
    """
    found = list_shard_folders(run)
    if not found:
        return {}
    newest = max(found, key=_began)
    count, key = newest.shard.count, read_held(newest.folder).key
    latest = {one.shard: one for one in found if one.shard.count == count and read_held(one.folder).key == key}
    return {shard: latest.get(shard) for shard in (Shard(index, count) for index in range(count))}


def stored_agreements(run: RunFolder) -> list[dict[str, Any]]:
    """Return the agreements of the shards of a run: one, unless shards of different runs were copied together."""
    found: dict[bytes, dict[str, Any]] = {}
    for one in list_shard_folders(run):
        with suppress(StoreError, OSError):  # it is starting, or was killed at once
            content = one.folder.shard_file.read_bytes()
            if content not in found:
                found[content] = read_json(one.folder.shard_file)
    return list(found.values())


def is_merged(run: RunFolder) -> bool:
    """Return whether all shards are done, and `aisprompt merge` has put their answers together."""
    sessions = list(latest_shards(run).values())
    done = [one.folder.run_file for one in sessions if one is not None and one.is_finished]
    if not done or len(done) < len(sessions):
        return False
    with suppress(StoreError, OSError):
        # All are written on one file system, whose clock is that of no machine.
        is_newest = run.run_file.stat().st_mtime_ns >= max(path.stat().st_mtime_ns for path in done)
        return is_newest and read_run_file(run).get("status") in ("finished", "failed")
    return False


def partition_key(partitioner: Any, tasks: list[str], count: int) -> str:
    """Return the key that a partition is recorded under.

    Args:
        partitioner: its part of the config, as JSON values.
        tasks: names of all tasks of the run.
        count: number of shards.
    """
    return digest([partitioner, tasks, count], 16)


def read_partition(run: RunFolder, key: str) -> Partition | None:
    """Return a partition that was recorded; None if there is none that can be read."""
    for path in sorted(_folder(run, key).glob("*.json")):
        with suppress(OSError, ValueError):
            return json.decode(path.read_bytes(), type=Partition)
    return None


def record_partition(run: RunFolder, key: str, partition: Partition) -> None:
    """Record a partition, in a file of this process alone. Processes that compute it at once find the same.

    Raises:
        StoreError: it cannot be written.
    """
    name = f"{safe_name(socket.gethostname())}_{os.getpid()}.json"
    write_json_atomic(_folder(run, key) / name, to_builtins(partition))


def write_held(session: RunFolder, held: HeldTasks) -> None:
    """Write the tasks and portions of a session of a shard, before it asks.

    Raises:
        StoreError: it cannot be written.
    """
    write_json_atomic(session.portions_file, to_builtins(held))


def read_held(session: RunFolder) -> HeldTasks:
    """Return the tasks and portions of a session of a shard; without a partitioner there is no file.

    Raises:
        StoreError: the file cannot be read, or is none of `write_held`.
    """
    try:
        return json.decode(session.portions_file.read_bytes(), type=HeldTasks)
    except FileNotFoundError:
        return EVERYTHING
    except (OSError, ValueError) as error:
        raise StoreError(
            f"cannot read what a shard asks: {error}", where=str(session.portions_file), fix="repair the disk"
        ) from error


def _folder(run: RunFolder, key: str) -> Path:
    return run.shards / "partitions" / key


def _make_folder(run: RunFolder, name: str) -> RunFolder:
    with writing(run.shards):
        run.shards.mkdir(parents=True, exist_ok=True)
        for number in itertools.count(1):  # a process can start two sessions in a second
            root = run.shards / (name if number == 1 else f"{name}-{number}")
            with suppress(FileExistsError):
                root.mkdir()
                return RunFolder(root)
    raise AssertionError


def _refuse_others(run: RunFolder, plan: Mapping[str, Any]) -> None:
    for theirs in stored_agreements(run):
        if differing := _differing(theirs, plan):
            raise ConfigError(
                f"this shard would not ask what the others ask: {'; '.join(differing[:_NAMED])}",
                where=str(run.root),
                fix="start all shards of a run with the same config, data and version, or give -r another name",
            )


def _differing(before: Mapping[str, Any], now: Mapping[str, Any], place: str = "") -> list[str]:
    """Return the paths of what differs, with the values unless they are digests."""
    found = []
    # A shard may have only some of the tasks.
    keys = [key for key in before if key in now] if place in _OF_TASKS else dict.fromkeys([*before, *now])
    for key in keys:
        one, other = before.get(key), now.get(key)
        path = f"{place}.{key}" if place else str(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            found += _differing(one, other, path)
        elif canonical(one) != canonical(other):
            is_digest = path.startswith(("rows.", "requests."))
            found.append(f"{path} differs" if is_digest else f"{path} is {other!r:.60}, theirs is {one!r:.60}")
    return found


def _began(session: ShardFolder) -> tuple[str, int]:
    """Return when a session began; its name has only the second."""
    with suppress(OSError):
        return session.start, session.folder.shard_file.stat().st_mtime_ns
    return session.start, 0


def _heart(folder: RunFolder) -> Path:
    return folder.root / "heartbeat"


def _lines_in(root: Path) -> int:
    return sum(map(_lines, root.glob("journal/*/*.jsonl")))


def _lines(path: Path) -> int:
    try:
        with path.open("rb") as stream:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: stream.read(1 << 20), b""))
    except OSError:
        return 0


def is_asked(folder: RunFolder) -> bool:
    """Return whether all shards of a run have come to their end."""
    return all(one is not None and one.is_finished for one in latest_shards(folder).values())


def array_index(environment: Mapping[str, str]) -> int:
    """Return the number of this process in the array job of Slurm or the indexed job of Kubernetes, from 0.

    Args:
        environment: variables of the process.

    Raises:
        ConfigError: there is no array job, or a variable is not a number.
    """
    fix = "give the number: --shard 0/8"
    try:
        if task := environment.get("SLURM_ARRAY_TASK_ID"):
            first, step = (int(environment.get(f"SLURM_ARRAY_TASK_{name}", n)) for name, n in (("MIN", 0), ("STEP", 1)))
            return (int(task) - first) // step
        if index := environment.get("JOB_COMPLETION_INDEX"):
            return int(index)
    except (ValueError, ZeroDivisionError) as error:
        raise ConfigError(
            f"the variable of the array job is not a number: {error}", where="--shard auto", fix=fix
        ) from None
    raise ConfigError(
        "there is no array job: SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX are not set", where="--shard auto", fix=fix
    )
