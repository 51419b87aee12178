"""Inferencers: which requests are sent for a sample, and what becomes its prediction.

Every inferencer can be imported from here; the module that defines it is loaded when its name is first used.
"""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from ais_prompt.inferencers.gen import GenInferencer
    from ais_prompt.inferencers.likelihoods import (
        ChoicesInferencer,
        CLPInferencer,
        LLInferencer,
        PPLInferencer,
        PPLOnlyInferencer,
    )
    from ais_prompt.inferencers.multi_turn import ChatInferencer, MultiTurnGenInferencer
    from ais_prompt.inferencers.tool_calls import MultiTurnToolCallInferencer, ToolCallInferencer

__all__ = [
    "CLPInferencer",
    "ChatInferencer",
    "ChoicesInferencer",
    "Conversation",
    "DialogueInferencer",
    "GenInferencer",
    "GeneratingInferencer",
    "InferenceContext",
    "Inferencer",
    "LLInferencer",
    "MultiTurnGenInferencer",
    "MultiTurnToolCallInferencer",
    "PPLInferencer",
    "PPLOnlyInferencer",
    "Preview",
    "RepeatingInferencer",
    "RunningConversation",
    "ToolCallInferencer",
]


def __getattr__(name: str) -> Any:
    return INFERENCERS.attribute(__name__, name)
