"""Models of the peers."""

from __future__ import annotations

from typing import Final

from ais_prompt.peers.table.row import Row

MODELS: Final = (
    Row("HuggingFace", "HuggingFaceBaseModel"),
    Row("HuggingFaceBaseModel", "HuggingFaceBaseModel"),
    Row("HuggingFaceCausalLM", "HuggingFaceBaseModel"),
    Row("HuggingFacewithChatTemplate", "HuggingFaceChatModel"),
    Row("OpenAI", "OpenAIChatModel"),
    Row("OpenAISDK", "OpenAIChatModel"),
    Row("VLLMCustomAPI", "OpenAICompletionModel"),
    Row("VLLMCustomAPIChat", "OpenAIChatModel"),
    Row("VLLMCustomAPIChatStream", "OpenAIChatModel"),
    Row("VLLMCustomAPIStream", "OpenAICompletionModel"),
)
