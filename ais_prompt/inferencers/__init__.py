"""Inferencers: which requests are sent for a sample, and what becomes its prediction.

Every inferencer can be imported from here; the module that defines it is loaded when its name is first used.
"""

from typing import Any

from ais_prompt.catalog import public_names
from ais_prompt.inferencers.base import (
    Conversation,
    DialogueInferencer,
    GeneratingInferencer,
    InferenceContext,
    Inferencer,
    Preview,
    RepeatingInferencer,
)
from ais_prompt.inferencers.running_conversation import RunningConversation
from ais_prompt.registry import INFERENCERS

__all__ = [
    "Conversation",
    "DialogueInferencer",
    "GeneratingInferencer",
    "InferenceContext",
    "Inferencer",
    "Preview",
    "RepeatingInferencer",
    "RunningConversation",
    *public_names("inferencers"),
]


def __getattr__(name: str) -> Any:
    return INFERENCERS.attribute(__name__, name)
