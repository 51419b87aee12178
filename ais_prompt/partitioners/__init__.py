"""Partitioners: divide the tasks of a run into groups, which shards ask.

Every partitioner can be imported from here; the module that defines it is loaded when its name is first used.
"""

from typing import Any

from ais_prompt.catalog import public_names
from ais_prompt.partitioners.base import Chunk, Partitioner, TaskSize
from ais_prompt.registry import PARTITIONERS

__all__ = ["Chunk", "Partitioner", "TaskSize", *public_names("partitioners")]


def __getattr__(name: str) -> Any:
    return PARTITIONERS.attribute(__name__, name)
