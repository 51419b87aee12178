"""Arguments of the peers' models behind a server, and of engines for which a server is started."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import ModelError
from ais_prompt.models.huggingface.library import local_folder
from ais_prompt.models.server.options import HOST
from ais_prompt.models.transport.credentials import DEFAULT_VARIABLE

_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
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
        local_folder(path, "tokenizer")
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
    if key is None or _VARIABLE.fullmatch(str(key)):
        return {**args, "api_key": variable if key == "ENV" else key}
    if not key:
        return {**args, "api_key": variable}
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
