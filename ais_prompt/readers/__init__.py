"""From files to rows: where the questions of a dataset come from.

The readers can be imported from here; the module that defines one is loaded when its name is first used.
"""

from typing import Any

from ais_prompt.catalog import public_names
from ais_prompt.readers.ranges import select
from ais_prompt.registry import READERS

__all__ = [*public_names("readers"), "select"]


def __getattr__(name: str) -> Any:
    return READERS.attribute(__name__, name)
