"""Models of the peers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

from ais_prompt.peers.table.row import Row
from ais_prompt.peers.table.served import chat_server, lmdeploy_engine, vllm_engine, vllm_server

Change: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]

_NO_EFFECT: Final = dict.fromkeys(("attr", "verbose", "rpm_verbose", "use_timestamp", "stream_chunk_size"), "")
_ENGINE: Final = "the server decides how prompts are put together"
_TEMPLATE: Final = "the chat template of the tokenizer is used"
_SERVED: Final = {
    **_NO_EFFECT,
    "trust_remote_code": "",
    "returns_tool_calls": "tool calls are always kept",
}
_RENAMED: Final = {
    "path": "model",
    "openai_api_base": "base_url",
    "api_base": "base_url",
    "key": "api_key",
    "batch_size": "max_concurrency",
    "max_workers": "max_concurrency",
}
_LOCAL: Final = {
    **_NO_EFFECT,
    "batch_padding": "prompts of a batch are always padded",
    "fastchat_template": _TEMPLATE,
    "use_fastchat_template": _TEMPLATE,
    "extract_pred_after_decode": "only the answer is decoded",
    "pad_token_id": "",
}
_PATIENT: Final = {"timeout": 3600.0}
"""The peers wait an hour for an answer, or for ever."""
_BASE: Final = "HuggingFaceBaseModel"
_CHAT_LOCAL: Final = "HuggingFaceChatModel"
_GREEDY: Final = (
    "answers are greedy unless generation_kwargs say otherwise; there the model's generation_config decides"
)


def _local(args: dict[str, Any]) -> dict[str, Any]:
    """Return our arguments for a model of transformers."""
    options = {name: value for name, value in (args.pop("generation_kwargs", None) or {}).items() if value is not None}
    options.pop("num_return_sequences", None)  # becomes n of the datasets
    for name in ("is_synthetic", "batch_size", "do_performance"):  # AISBench takes them out before it generates
        options.pop(name, None)
    if (least := args.pop("min_out_len", None)) is not None:
        options["min_new_tokens"] = least
    if end := args.pop("end_str", None):
        args["stop_words"] = [*args.get("stop_words", ()), end]
    return {**args, **({"generation_kwargs": options} if options else {})}


def _chat(name: str, change: Change = chat_server, **add: Any) -> Row:
    return Row(name, "OpenAIChatModel", rename=_RENAMED, drop=_SERVED, add={**_PATIENT, **add}, change=change)


def _of_provider(name: str, provider: str) -> Row:
    """Return the row of a class for one provider, whose key there is written in the config."""
    differs = f"it is asked at the address for OpenAI's format of {provider}"
    return Row(
        name,
        "OpenAIChatModel",
        rename={name: ours for name, ours in _RENAMED.items() if ours != "base_url"},
        drop={**_SERVED, "url": "the provider's own address is used"},
        add={**_PATIENT, "provider": provider},
        change=chat_server,
        differs=differs,
    )


def _aisbench(name: str, ours: str, differs: str = "") -> Row:
    rename = {"path": "tokenizer_path", "batch_size": "max_concurrency"}
    return Row(name, ours, rename=rename, drop=_SERVED, add=_PATIENT, change=vllm_server, differs=differs)


def _triton(name: str) -> Row:
    """Return the row of a class for Triton's protocol, as MindIE has it."""
    return Row(
        name,
        "TritonModel",
        rename={"path": "tokenizer_path", "batch_size": "max_concurrency", "model_name": "model"},
        drop={**_SERVED, "stream": "an answer comes as a whole; it is the same"},
        add={**_PATIENT, "max_tokens_field": "max_new_tokens"},
        change=vllm_server,
    )


def _engine(name: str, ours: str, change: Change, local: Change) -> Row:
    """Return the row of an engine that the peer runs in its own process.

    Args:
        name: their class.
        ours: our model for the server that is started.
        change: its arguments.
        local: the arguments of the model of transformers that takes its place with ``--hf``.
    """
    no_engine = dict.fromkeys(
        ("model_kwargs", "engine_config", "concurrency", "backend"), "transformers takes the place of the engine"
    )
    in_process = Row(
        name,
        _CHAT_LOCAL if ours == "OpenAIChatModel" else _BASE,
        rename={"sample_kwargs": "generation_kwargs", "gen_config": "generation_kwargs"},
        drop={**_LOCAL, **no_engine, "vision_kwargs": "the processor's own sizes of images are used"},
        change=local,
        differs="it runs with transformers (--hf)",
    )
    drop = {**_NO_EFFECT, "fastchat_template": _TEMPLATE, "vision_kwargs": _ENGINE, "end_str": _ENGINE}
    rename = {"path": "model", "batch_size": "max_concurrency", "sample_kwargs": "generation_kwargs"}
    return Row(name, ours, rename=rename, drop=drop, add=_PATIENT, change=change, in_process=in_process)


def _vllm(name: str, ours: str) -> Row:
    def local(args: dict[str, Any]) -> dict[str, Any]:
        options = {"temperature": 1.0, **(args.pop("generation_kwargs", None) or {})}
        return _local({**args, "generation_kwargs": options if options["temperature"] else {}})

    return _engine(name, ours, vllm_engine, local)


def _lmdeploy(name: str, ours: str, backend: str | None = None) -> Row:
    def local(args: dict[str, Any]) -> dict[str, Any]:
        options = args.pop("generation_kwargs", None) or {}
        sampled = {key: options[key] for key in ("temperature", "top_p", "top_k") if key in options}
        return _local({**args, "generation_kwargs": sampled if options.get("do_sample") else {}})

    return _engine(name, ours, partial(lmdeploy_engine, backend=backend), local)


MODELS: Final = (
    Row("HuggingFace", _BASE, drop=_LOCAL, change=_local),
    Row("HuggingFaceBaseModel", _BASE, drop=_LOCAL, change=_local),
    Row("HuggingFaceCausalLM", _BASE, drop=_LOCAL, change=_local),
    Row("AlayaLM", _BASE, drop=_LOCAL, change=_local, differs="its attention runs without Triton"),
    Row("ModelScopeCausalLM", _BASE, drop=_LOCAL, change=_local, differs="it is loaded from the Hugging Face Hub"),
    Row("HuggingFacewithChatTemplate", _CHAT_LOCAL, drop=_LOCAL, change=_local),
    Row(
        "HuggingFaceQwen2VLwithChatTemplate",
        _CHAT_LOCAL,
        drop={**_LOCAL, "vision_kwargs": "the processor's own sizes of images are used"},
        change=_local,
        differs=_GREEDY,
    ),
    Row(
        "OpenAI",
        "OpenAIChatModel",
        rename=_RENAMED,
        drop=_SERVED,
        add={**_PATIENT, "temperature": 0.7},
        change=chat_server,
    ),
    _chat("OpenAISDK"),
    _chat("OpenAISDKStreaming", stream=True),
    _chat("LiteLLMAPI"),
    Row(
        "BailingAPI", "OpenAIChatModel", rename={**_RENAMED, "url": "base_url", "token": "api_key"}, change=chat_server
    ),
    _chat(
        "Gemini",
        partial(chat_server, variable="GEMINI_API_KEY"),
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
    ),
    _chat("Claude", partial(chat_server, variable="ANTHROPIC_API_KEY"), base_url="https://api.anthropic.com/v1"),
    _chat("ClaudeSDK", partial(chat_server, variable="ANTHROPIC_API_KEY"), base_url="https://api.anthropic.com/v1"),
    _of_provider("DeepseekAPI", "deepseek"),
    _of_provider("MoonShot", "moonshot"),
    _of_provider("Mistral", "mistral"),
    _of_provider("Qwen", "dashscope"),
    _of_provider("ZhiPuV2AI", "zhipu"),
    _aisbench("VLLMCustomAPI", "OpenAICompletionModel"),
    _aisbench("VLLMCustomAPIStream", "OpenAICompletionModel"),
    _aisbench("VLLMCustomAPIChat", "OpenAIChatModel"),
    _aisbench("VLLMCustomAPIChatStream", "OpenAIChatModel"),
    _aisbench("TGICustomAPI", "OpenAICompletionModel", "it is asked at /v1/completions"),
    _aisbench("MindieStreamApi", "OpenAICompletionModel", "it is asked at /v1/completions"),
    _triton("TritonCustomAPI"),
    _triton("TritonCustomAPIStream"),
    _vllm("VLLM", "OpenAICompletionModel"),
    _vllm("VLLMwithChatTemplate", "OpenAIChatModel"),
    _vllm("VLLMOfflineVLModel", "OpenAIChatModel"),
    _lmdeploy("TurboMindModel", "OpenAICompletionModel"),
    _lmdeploy("TurboMindModelwithChatTemplate", "OpenAIChatModel"),
    _lmdeploy("LmdeployPytorchModel", "OpenAICompletionModel", "pytorch"),
)
