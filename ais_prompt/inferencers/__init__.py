"""How models are asked about samples."""

from ais_prompt.inferencers.base import Conversation, Desk, DialogueInferencer, Inferencer, Preview, RepeatingInferencer
from ais_prompt.inferencers.chat import ChatInferencer
from ais_prompt.inferencers.dialogue import Dialogue
from ais_prompt.inferencers.drive import drive
from ais_prompt.inferencers.gen import GenInferencer
from ais_prompt.inferencers.multi_turn import MultiTurnGenInferencer

__all__ = [
    "ChatInferencer",
    "Conversation",
    "Desk",
    "Dialogue",
    "DialogueInferencer",
    "GenInferencer",
    "Inferencer",
    "MultiTurnGenInferencer",
    "Preview",
    "RepeatingInferencer",
    "drive",
]
