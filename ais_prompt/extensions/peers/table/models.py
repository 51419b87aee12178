"""Models of the peers, with the arguments of models behind a server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from ais_prompt.errors import ModelError
from ais_prompt.extensions.peers.table.row import PartRow
from ais_prompt.models import DEFAULT_VARIABLE, HOST, is_variable, local_path

_ENDPOINT: Final = re.compile(r"/(?:chat/)?completions/?$")
LENGTHS: Final = ("max_tokens", "max_completion_tokens", "max_new_tokens")
"""Options of generation that limit the length of an answer."""
_AS_ARGUMENTS: Final = ("temperature", "top_p", "top_k")
"""Options of generation that are arguments of some classes."""
_STOPS: Final = ("stop", "stop_sequences", "stop_words")
_FOR_SAMPLING: Final = ("temperature", "top_p", "top_k", "min_p", "random_seed")
"""Options of LMDeploy that mean something only if it samples."""
_REPEATS: Final = "num_return_sequences"
"""It becomes ``n`` of the datasets."""
_DEFAULT_PORT: Final = 8080


def chat_server(args: dict[str, Any], variable: str = DEFAULT_VARIABLE) -> dict[str, Any]:
    """Return our arguments for those of ``OpenAI``, ``OpenAISDK`` and their like.

    Args:
        args: renamed already: ``base_url``, ``api_key``, ``temperature``, ``openai_extra_kwargs``, ``extra_body``, ...
        variable: environment variable that ``key='ENV'`` means.
    """
    args = _with_options(args, "openai_extra_kwargs", "extra_body", "generation_kwargs")
    if (most := args.pop("max_completion_tokens", None)) is not None:
        args |= {"max_out_len": most, "max_tokens_field": "max_completion_tokens"}
    if urls := args.pop("base_url", None):
        found = [_ENDPOINT.sub("", str(url)) for url in (urls if isinstance(urls, list | tuple) else [urls])]
        args["base_url"] = found[0] if len(found) == 1 else found
    if isinstance(args.get("org"), str):  # `check` refuses several, which take turns there
        args["headers"] = {"OpenAI-Organization": args.pop("org")} | (args.get("headers") or {})
    return _with_key(args, variable)


def vllm_server(args: dict[str, Any]) -> dict[str, Any]:
    """Return our arguments for those of AISBench's models, which are served at ``url`` or ``host_ip:host_port``."""
    args = _with_options(args, "generation_kwargs")
    host, port = args.pop("host_ip", "localhost"), args.pop("host_port", _DEFAULT_PORT)
    scheme = "https" if args.pop("enable_ssl", False) else "http"
    address = _ENDPOINT.sub("", str(args.pop("url", "") or f"{host}:{port}").strip().rstrip("/")).removesuffix("/v1")
    address = address if "://" in address else f"{scheme}://{address}"
    key = args.pop("api_key", "")
    given = {name: args[name] for name in ("tokenizer_path", "request_rate") if args.get(name)}
    if (path := given.get("tokenizer_path")) and not _is_here(path):
        del given["tokenizer_path"]
    kept = {name: value for name, value in args.items() if name not in ("tokenizer_path", "request_rate")}
    # An address of the command line, --set models.0.base_url=…, comes before that of the config.
    kept = {"model": "", "max_out_len": 4096, "base_url": f"{address}/v1", **kept, **given, "api_key": key or None}
    return _with_key(kept, DEFAULT_VARIABLE)


def _is_here(path: str) -> bool:
    """Return whether a tokenizer can be loaded from a path: it is a folder, or may be a hub id.

    Often it names the weights on the machine of the server. AISBench opens it to measure speed only.
    """
    try:
        local_path(path, "tokenizer")
    except ModelError:
        return False
    return True


def vllm_engine(args: dict[str, Any]) -> dict[str, Any]:
    """Return our arguments for vLLM in the process of the peer: a server that ``vllm serve`` starts."""
    engine = {"trust_remote_code": True, **(args.pop("model_kwargs", None) or {})}
    args = _on_gpus(args, engine.pop("tensor_parallel_size", None))
    if most := args.get("max_seq_len"):
        engine.setdefault("max_model_len", most)
    # An offline engine of vLLM samples at temperature 1 by default.
    args["generation_kwargs"] = {"temperature": 1.0, **(args.get("generation_kwargs") or {})}
    return {**_with_options(args, "generation_kwargs"), "server": {"preset": "vllm", "args": _flags(engine)}}


def lmdeploy_engine(args: dict[str, Any], backend: str | None = None) -> dict[str, Any]:
    """Return our arguments for LMDeploy in the process of the peer: a server that ``lmdeploy serve`` starts.

    Source of its options: https://lmdeploy.readthedocs.io/en/latest/llm/api_server.html
    """
    engine = dict(args.pop("engine_config", None) or {})
    args = _on_gpus(args, engine.pop("tp", None))
    config = args.pop("gen_config", None) or {}
    generation, extra = lmdeploy_options(config)
    if not config.get("do_sample"):
        generation["temperature"] = 0.0  # the peer, too, samples only then
    concurrency = args.pop("concurrency", None)
    args = {
        **args,
        **({"max_concurrency": concurrency} if concurrency else {}),
        "generation_kwargs": {**generation, **extra},
    }
    words = ["lmdeploy", "serve", "api_server", "{model}", "--server-name", HOST, "--server-port", "{port}"]
    options = {"backend": args.pop("backend", backend), "tp": "{num_gpus}", **engine}
    return {**_with_options(args, "generation_kwargs"), "server": {"command": [*words, *_flags(options)]}}


def lmdeploy_options(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of generation in LMDeploy's ``gen_config``, and variables of the chat template."""
    options = {name: value for name, value in config.items() if name not in ("do_sample", "enable_thinking")}
    if not config.get("do_sample"):
        options = {name: value for name, value in options.items() if name not in _FOR_SAMPLING}
    thinking = config.get("enable_thinking")
    return options, {} if thinking is None else {"chat_template_kwargs": {"enable_thinking": thinking}}


def _with_options(args: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return arguments whose options of generation are all in ``generation_kwargs``."""
    kept = {name: value for name, value in args.items() if name not in (*names, *_AS_ARGUMENTS)}
    options: dict[str, Any] = {}
    for name in names:
        options |= args.get(name) or {}
    options = {name: args[name] for name in _AS_ARGUMENTS if args.get(name) is not None} | options
    options = {name: value for name, value in options.items() if name != _REPEATS and value is not None}
    lengths = [options.pop(name) for name in LENGTHS if name in options]
    if lengths:
        kept["max_out_len"] = lengths[-1]
    for stop in [options.pop(name) for name in _STOPS if name in options]:
        kept["stop_words"] = [*(kept.get("stop_words") or ()), *(stop if isinstance(stop, list | tuple) else [stop])]
    return {**kept, **({"generation_kwargs": options} if options else {})}


def _with_key(args: dict[str, Any], variable: str) -> dict[str, Any]:
    """Return arguments whose ``api_key`` is a variable; a key itself becomes a header, whose value is kept secret."""
    if "api_key" not in args:
        return args
    key = args["api_key"]
    key = key[0] if isinstance(key, Sequence) and not isinstance(key, str) and key else key
    if key == "ENV" or not key:
        return {**args, "api_key": key if key is None else variable}
    if is_variable(str(key)):
        return {**args, "api_key": key}
    header = {"Authorization": f"Bearer {key}".replace("$", "$$")}
    return {**args, "api_key": None, "headers": header | (args.get("headers") or {})}


def _on_gpus(args: Mapping[str, Any], number: int | None) -> dict[str, Any]:
    """Return arguments whose ``run_cfg`` has as many GPUs as the engine is spread over."""
    if number is None:
        return dict(args)
    return {**args, "run_cfg": {**(args.get("run_cfg") or {}), "num_gpus": number}}


def _flags(options: Mapping[str, Any]) -> list[str]:
    """Return options of an engine as words of a command: ``max_model_len=4096`` is ``--max-model-len 4096``."""
    words = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append(f"--{name.replace('_', '-')}")
        if value is not True:
            words.append(json.dumps(value) if isinstance(value, Mapping | list | tuple) else str(value))
    return words


Change: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]

_CUT: Final = "prompts that are too long for the model are refused, not cut"
_LOGGED: Final = "the journal of a run has every request with its answer"
_LOGPROBS: Final = "log-likelihoods are asked for where an inferencer needs them"
_PROXY: Final = "proxies are those of the environment: HTTPS_PROXY, NO_PROXY"
_IMAGES: Final = "images are sent as they are"
_CACHE: Final = "weights are kept where HF_HOME says"
_NO_EFFECT: Final = {
    "attr": "the class says whether the model is a service",
    "sync_rank": "a model is loaded in one process",
    "rpm_verbose": _LOGGED,
    "verbose": _LOGGED,
    "stream_chunk_size": "a stream is read as it comes",
}
_ENGINE: Final = "the server decides how prompts are put together"
_TEMPLATE: Final = "the chat template of the tokenizer is used"
_SERVED: Final = {
    **_NO_EFFECT,
    "trust_remote_code": "code of a tokenizer is never run",
    "returns_tool_calls": "tool calls are always kept",
    "finish_reason_confirm": "an answer that was cut off is marked as such",
    "http_client_cfg": _PROXY,
    "image_format": _IMAGES,
    "image_min_edge": _IMAGES,
    "logprobs": _LOGPROBS,
    "mode": _CUT,
    "openai_proxy_url": _PROXY,
    "status_code_mappings": "what a status means is known: see docs/api-failures.md",
    "think_tag": "thoughts are kept apart from the answer",
    "top_logprobs": _LOGPROBS,
}
_RENAMED: Final = {
    "path": "model",
    "openai_api_base": "base_url",
    "api_base": "base_url",
    "extra_headers": "headers",
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
    "drop_middle": _CUT,
    "hf_cache_dir": _CACHE,
    "mode": _CUT,
    "ms_cache_dir": _CACHE,
    "pad_token_id": "padding is masked, so its token makes no difference",
    "tokenizer_only": "weights are loaded when a prompt is asked",
}
_OPTIONS: Final = {
    "do_sample": "servers sample according to temperature: 0 is greedy",
    "logprobs": _LOGPROBS,
    "n": "n of the dataset says how often a question is asked",
}
"""Options of generation that no server is sent."""
_LENGTHS: Final = dict.fromkeys(LENGTHS, "max_out_len comes first there too")
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
        args["stop_words"] = [*(args.get("stop_words") or ()), end]
    return {**args, **({"generation_kwargs": options} if options else {})}


def _chat(name: str, change: Change = chat_server, **add: Any) -> PartRow:
    return PartRow(
        name,
        "OpenAIChatModel",
        rename=_RENAMED,
        drop=_SERVED,
        drop_options=_OPTIONS,
        add={**_PATIENT, **add},
        change=change,
    )


def _of_provider(name: str, provider: str) -> PartRow:
    """Return the row of a class for one provider, whose key there is written in the config."""
    differs = f"it is asked at the address for OpenAI's format of {provider}"
    return PartRow(
        name,
        "OpenAIChatModel",
        rename={name: ours for name, ours in _RENAMED.items() if ours != "base_url"},
        drop={**_SERVED, "url": "the provider's own address is used"},
        drop_options=_OPTIONS,
        add={**_PATIENT, "provider": provider},
        change=chat_server,
        differs=differs,
    )


def _aisbench(name: str, ours: str, differs: str = "") -> PartRow:
    rename = {"path": "tokenizer_path", "batch_size": "max_concurrency"}
    options = _OPTIONS | _LENGTHS
    return PartRow(
        name, ours, rename=rename, drop=_SERVED, drop_options=options, add=_PATIENT, change=vllm_server, differs=differs
    )


def _triton(name: str) -> PartRow:
    """Return the row of a class for Triton's protocol, as MindIE has it."""
    return PartRow(
        name,
        "TritonModel",
        rename={"path": "tokenizer_path", "batch_size": "max_concurrency", "model_name": "model"},
        drop={**_SERVED, "stream": "an answer comes as a whole; it is the same"},
        drop_options=_OPTIONS | _LENGTHS,
        add={**_PATIENT, "max_tokens_field": "max_new_tokens"},
        change=vllm_server,
    )


def _engine(name: str, ours: str, change: Change, local: Change, drop_options: Mapping[str, str]) -> PartRow:
    """Return the row of an engine that the peer runs in its own process.

    Args:
        name: their class.
        ours: our model for the server that is started.
        change: its arguments.
        local: the arguments of the model of transformers that takes its place with ``--hf``.
        drop_options: options of generation that are not used.
    """
    no_engine = dict.fromkeys(
        ("model_kwargs", "engine_config", "concurrency", "backend"), "transformers takes the place of the engine"
    )
    in_process = PartRow(
        name,
        _CHAT_LOCAL if ours == "OpenAIChatModel" else _BASE,
        rename={"sample_kwargs": "generation_kwargs", "gen_config": "generation_kwargs"},
        drop={**_LOCAL, **no_engine, "vision_kwargs": "the processor's own sizes of images are used"},
        drop_options=drop_options,
        change=local,
        differs="it runs with transformers (--hf)",
    )
    drop = {
        **_NO_EFFECT,
        "mode": _CUT,
        "drop_middle": _CUT,
        "tokenizer_only": _ENGINE,
        "batch_padding": _ENGINE,
        "use_fastchat_template": _TEMPLATE,
        "fastchat_template": _TEMPLATE,
        "vision_kwargs": _ENGINE,
        "end_str": _ENGINE,
    }
    rename = {"path": "model", "batch_size": "max_concurrency", "sample_kwargs": "generation_kwargs"}
    return PartRow(
        name,
        ours,
        rename=rename,
        drop=drop,
        drop_options=drop_options,
        add=_PATIENT,
        change=change,
        in_process=in_process,
    )


def _vllm(name: str, ours: str) -> PartRow:
    def local(args: dict[str, Any]) -> dict[str, Any]:
        options = {"temperature": 1.0, **(args.pop("generation_kwargs", None) or {})}
        return _local({**args, "generation_kwargs": options if options["temperature"] else {}})

    return _engine(name, ours, vllm_engine, local, _OPTIONS)


def _lmdeploy(name: str, ours: str, backend: str | None = None) -> PartRow:
    def local(args: dict[str, Any]) -> dict[str, Any]:
        options, extra = lmdeploy_options(args.pop("generation_kwargs", None) or {})
        return _local({**args, **extra, "generation_kwargs": options})

    return _engine(name, ours, partial(lmdeploy_engine, backend=backend), local, _LENGTHS)


MODELS: Final = (
    *(
        PartRow(name, _BASE, drop=_LOCAL, change=_local)
        for name in ("HuggingFace", "HuggingFaceBaseModel", "HuggingFaceCausalLM")
    ),
    PartRow("AlayaLM", _BASE, drop=_LOCAL, change=_local, differs="its attention runs without Triton"),
    PartRow("ModelScopeCausalLM", _BASE, drop=_LOCAL, change=_local, differs="it is loaded from the Hugging Face Hub"),
    PartRow("HuggingFacewithChatTemplate", _CHAT_LOCAL, drop=_LOCAL, change=_local),
    PartRow(
        "HuggingFaceQwen2VLwithChatTemplate",
        _CHAT_LOCAL,
        drop={**_LOCAL, "vision_kwargs": "the processor's own sizes of images are used"},
        change=_local,
        differs=_GREEDY,
    ),
    _chat("OpenAI", temperature=0.7),
    _chat("OpenAISDK"),
    _chat("OpenAISDKStreaming", stream=True),
    _chat("LiteLLMAPI"),
    PartRow(
        "BailingAPI",
        "OpenAIChatModel",
        rename={**_RENAMED, "url": "base_url", "token": "api_key"},
        drop_options=_OPTIONS,
        change=chat_server,
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
