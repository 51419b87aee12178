"""Models: a prompt in, a completion out."""

from ais_prompt.models.base import AsyncModel, BatchModel, Model
from ais_prompt.models.huggingface.model import HuggingFaceBaseModel, HuggingFaceChatModel
from ais_prompt.models.openai.model import OpenAIChatModel, OpenAICompletionModel
from ais_prompt.models.options import Batching, Limits, Loading, Retry, Sampling, Wire
from ais_prompt.models.scripted import ScriptedModel

__all__ = [
    "AsyncModel",
    "BatchModel",
    "Batching",
    "HuggingFaceBaseModel",
    "HuggingFaceChatModel",
    "Limits",
    "Loading",
    "Model",
    "OpenAIChatModel",
    "OpenAICompletionModel",
    "Retry",
    "Sampling",
    "ScriptedModel",
    "Wire",
]
