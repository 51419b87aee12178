"""The models: a prompt in, a completion out."""

from ais_prompt.models.base import AsyncModel, BatchModel, Model
from ais_prompt.models.huggingface.model import HuggingFaceBaseModel, HuggingFaceChatModel
from ais_prompt.models.openai.model import OpenAIChatModel, OpenAICompletionModel
from ais_prompt.models.scripted import ScriptedModel

__all__ = [
    "AsyncModel",
    "BatchModel",
    "HuggingFaceBaseModel",
    "HuggingFaceChatModel",
    "Model",
    "OpenAIChatModel",
    "OpenAICompletionModel",
    "ScriptedModel",
]
