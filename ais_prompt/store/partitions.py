"""Record which shards ask which tasks, where a partitioner decides it.

``shards/partitions/<digest>/`` has the division for one number of shards; a process that finds none writes it.
``portions.json`` in the folder of a shard has what that session asks: another session may divide the tasks differently.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field, json, to_builtins

from ais_prompt.errors import StoreError
from ais_prompt.store.layout import RunFolder, safe_name
from ais_prompt.store.results import write_json_atomic
from ais_prompt.types import Partition, Portion, Shard
from ais_prompt.utils.digest import digest


class HeldTasks(Struct, frozen=True):
    """What one session of a shard asks.

    Attributes:
        key: of its partition; empty without a partitioner.
        portions: name of a task → the part of its samples.
    """

    key: str = ""
    portions: Mapping[str, Portion] = field(default_factory=dict)

    def of(self, task: str, shard: Shard) -> Portion | None:
        """Return what the session asks of a task; None for nothing."""
        return self.portions.get(task) if self.key else shard.portion


EVERYTHING: Final = HeldTasks()
"""A part of every dataset, as without a partitioner."""


def partition_key(partitioner: Any, tasks: list[str], count: int) -> str:
    """Return what a partition is recorded under.

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
    """Write what a session of a shard asks, before it asks.

    Raises:
        StoreError: it cannot be written.
    """
    write_json_atomic(session.portions_file, to_builtins(held))


def read_held(session: RunFolder) -> HeldTasks:
    """Return what a session of a shard asks; without a partitioner there is no file.

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
