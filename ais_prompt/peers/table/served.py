"""Arguments of the peers' models behind a server, and of engines for which a server is started."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import ModelError
from ais_prompt.models.huggingface.files import local_folder
from ais_prompt.models.server.options import HOST
from ais_prompt.models.transport.credentials import DEFAULT_VARIABLE

_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
_ENDPOINT: Final = re.compile(r"/(?:chat/)?completions/?$")
_SET_HERE: Final = (
    *("max_tokens", "max_completion_tokens", "max_new_tokens", "n", "stop", "do_sample", "logprobs"),
    "num_return_sequences",  # becomes n of the datasets
)
"""Options of generation that this program sets itself, or that servers do not know."""
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
        found = [_ENDPOINT.sub("", url) for url in ([urls] if isinstance(urls, str) else urls)]
        args["base_url"] = found[0] if len(found) == 1 else found
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
    generation = dict(args.pop("gen_config", None) or {})
    thinking = generation.pop("enable_thinking", None)
    if not generation.get("do_sample"):
        generation = {"temperature": 0.0}  # the peer, too, samples only then
    extra = {} if thinking is None else {"chat_template_kwargs": {"enable_thinking": thinking}}
    concurrency = args.pop("concurrency", None)
    args = {
        **args,
        **({"max_concurrency": concurrency} if concurrency else {}),
        "generation_kwargs": generation | extra,
    }
    words = ["lmdeploy", "serve", "api_server", "{model}", "--server-name", HOST, "--server-port", "{port}"]
    options = {"backend": args.pop("backend", backend), "tp": "{num_gpus}", **engine}
    return {**_with_options(args, "generation_kwargs"), "server": {"command": [*words, *_flags(options)]}}


def _with_options(args: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return arguments whose options of generation are all in ``generation_kwargs``."""
    kept = {name: value for name, value in args.items() if name not in (*names, "temperature")}
    options: dict[str, Any] = {}
    for name in names:
        options |= args.get(name) or {}
    if args.get("temperature") is not None:
        options = {"temperature": args["temperature"], **options}
    options = {name: value for name, value in options.items() if name not in _SET_HERE and value is not None}
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
