"""How models are asked about samples."""

from ais_prompt.inferencers.base import Conversation, Desk, Inferencer, Preview
from ais_prompt.inferencers.dialogue import Dialogue
from ais_prompt.inferencers.drive import drive
from ais_prompt.inferencers.gen import GenInferencer

__all__ = ["Conversation", "Desk", "Dialogue", "GenInferencer", "Inferencer", "Preview", "drive"]
