"""Evaluators: score an answer against the gold.

Every evaluator can be imported from here; the module that defines it is loaded when its name is first used.
"""

from typing import Any

from ais_prompt.catalog import public_names
from ais_prompt.evaluators.base import Evaluator
from ais_prompt.registry import EVALUATORS

__all__ = ["Evaluator", *public_names("evaluators")]


def __getattr__(name: str) -> Any:
    return EVALUATORS.attribute(__name__, name)
