"""Runners: start the shards of a run, here or on other machines. Also what asks all tasks in one process.

Every runner can be imported from here; the module that defines it is loaded when its name is first used.
"""

from typing import Any

from ais_prompt.catalog import public_names
from ais_prompt.registry import RUNNERS
from ais_prompt.runners.base import Runner

__all__ = ["Runner", *public_names("runners")]


def __getattr__(name: str) -> Any:
    return RUNNERS.attribute(__name__, name)
