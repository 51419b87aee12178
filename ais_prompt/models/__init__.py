"""Models: a prompt in, a completion out.

Every model can be imported from here; the module that defines it is loaded when its name is first used.
"""

from typing import TYPE_CHECKING, Any

from ais_prompt.models.base import AsyncModel, BatchModel, Model
from ais_prompt.models.model_options import Batching, Limits, Loading, Retry, Sampling, Wire
from ais_prompt.models.thoughts import THINK_TAGS, split_reasoning
from ais_prompt.registry import MODELS

if TYPE_CHECKING:
    from ais_prompt.models.function import FunctionModel
    from ais_prompt.models.huggingface.local_model import HuggingFaceBaseModel, HuggingFaceChatModel
    from ais_prompt.models.scripted import ScriptedModel
    from ais_prompt.models.wires.anthropic import AnthropicModel
    from ais_prompt.models.wires.openai.openai_models import (
        OpenAIChatModel,
        OpenAICompletionModel,
        OpenAIResponsesModel,
    )
    from ais_prompt.models.wires.triton import TritonModel

__all__ = [
    "THINK_TAGS",
    "AnthropicModel",
    "AsyncModel",
    "BatchModel",
    "Batching",
    "FunctionModel",
    "HuggingFaceBaseModel",
    "HuggingFaceChatModel",
    "Limits",
    "Loading",
    "Model",
    "OpenAIChatModel",
    "OpenAICompletionModel",
    "OpenAIResponsesModel",
    "Retry",
    "Sampling",
    "ScriptedModel",
    "TritonModel",
    "Wire",
    "split_reasoning",
]


def __getattr__(name: str) -> Any:
    return MODELS.attribute(__name__, name)
