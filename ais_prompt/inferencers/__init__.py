"""How models are asked about samples."""

from ais_prompt.inferencers.base import (
    Conversation,
    DialogueInferencer,
    InferenceContext,
    Inferencer,
    Preview,
    RepeatingInferencer,
)
from ais_prompt.inferencers.clp import CLPInferencer
from ais_prompt.inferencers.drive import drive
from ais_prompt.inferencers.gen import GenInferencer
from ais_prompt.inferencers.ll import LLInferencer
from ais_prompt.inferencers.multi_turn import ChatInferencer, MultiTurnGenInferencer
from ais_prompt.inferencers.ppl import PPLInferencer, PPLOnlyInferencer
from ais_prompt.inferencers.running_conversation import RunningConversation

__all__ = [
    "CLPInferencer",
    "ChatInferencer",
    "Conversation",
    "DialogueInferencer",
    "GenInferencer",
    "InferenceContext",
    "Inferencer",
    "LLInferencer",
    "MultiTurnGenInferencer",
    "PPLInferencer",
    "PPLOnlyInferencer",
    "Preview",
    "RepeatingInferencer",
    "RunningConversation",
    "drive",
]
