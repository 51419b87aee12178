"""A run on several machines: divide it into shards, start and follow them, merge what they answered.

Runners start shards, and partitioners divide the tasks among them. All of them can be imported from here.
"""

from typing import Any

from ais_prompt.catalog import public_names
from ais_prompt.registry import PARTITIONERS, RUNNERS
from ais_prompt.shards.runner import Runner
from ais_prompt.types.shard import Chunk, Partitioner, TaskSize

__all__ = ["Chunk", "Partitioner", "Runner", "TaskSize", *public_names("partitioners"), *public_names("runners")]


def __getattr__(name: str) -> Any:
    return (PARTITIONERS if name in public_names("partitioners") else RUNNERS).attribute(__name__, name)
