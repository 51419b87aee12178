"""``-a vllm``: start a server for models that transformers would load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from ais_prompt.config import Note, resolve_data_path
from ais_prompt.errors import ConfigError
from ais_prompt.extensions.peers.table.models import lmdeploy_engine, vllm_engine
from ais_prompt.models import is_sampling, without_sampling

Accelerator = Literal["vllm", "lmdeploy"]
_SERVED: Final = {"HuggingFaceChatModel": "OpenAIChatModel", "HuggingFaceBaseModel": "OpenAICompletionModel"}
_NOT_SERVED: Final = ("tokenizer_kwargs", "prefix_cache_tokens")
"""Options of transformers in this process, which no server has."""
_OF_PROCESS: Final = ("device_map", "low_cpu_mem_usage", "attn_implementation")
"""Those of ``model_kwargs``, which an engine decides itself."""
_TIMEOUT: Final = 3600.0
"""Seconds for an answer of a busy server. transformers has no limit."""


def accelerated(models: Sequence[Any], engine: Accelerator, folder: Path | None) -> tuple[list[Any], list[Note]]:
    """Return the models of a config with a server in place of transformers, and a note on what is not used.

    Args:
        models: their dicts, in terms of this program; a model that is served already stays as it is.
        engine: the program of the server.
        folder: that of the config, where a relative path is looked up too.

    Raises:
        ConfigError: transformers loads none of the models.
    """
    notes: list[Note] = []
    served = [_served(model, engine, folder, f"models[{index}]", notes) for index, model in enumerate(models)]
    if all(one is other for one, other in zip(models, served, strict=True)):
        fix = f"leave out -a, or name a {' or '.join(_SERVED)}"
        raise ConfigError(f"-a {engine} is for models of transformers, and there is none", where="-a", fix=fix)
    return served, notes


def _served(model: Any, engine: Accelerator, folder: Path | None, where: str, notes: list[Note]) -> Any:
    ours = _SERVED.get(str(model.get("type")).rpartition(".")[2]) if isinstance(model, Mapping) else None
    if ours is None:
        return model
    args = {key: value for key, value in model.items() if key not in ("type", "loading", "batching")}
    args |= {**(model.get("loading") or {}), **(model.get("batching") or {})}
    dropped = [name for name in _NOT_SERVED if args.pop(name, None)]
    loading = {name: value for name, value in (args.pop("model_kwargs", None) or {}).items() if name not in _OF_PROCESS}
    dtype = loading.pop("dtype", loading.pop("torch_dtype", None))
    trusted = loading.pop("trust_remote_code", args.pop("trust_remote_code", False))
    path = str(args.pop("path", ""))
    path = str(resolve_data_path(path, folder) or path)
    size = args.pop("batch_size", None)
    args = {
        "model": path,
        "tokenizer_path": path,
        "timeout": _TIMEOUT,
        **args,
        **({"max_concurrency": size} if size else {}),
        "generation_kwargs": _generation(args.get("generation_kwargs") or {}),
    }
    options = {"dtype": str(dtype).removeprefix("torch.") if dtype else None, **loading}
    notes += [Note(f"-a {engine}: {name!r} is not used", f"{where}.{name}") for name in dropped]
    if engine == "vllm":
        return {"type": ours, **vllm_engine({**args, "model_kwargs": {"trust_remote_code": trusted, **options}})}
    generation = {"do_sample": True, **args.pop("generation_kwargs")}
    options["session_len"] = args.get("max_seq_len")
    return {"type": ours, **lmdeploy_engine({**args, "gen_config": generation, "engine_config": options})}


def _generation(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of ``generate`` as those of a server."""
    if is_sampling(options):
        options = {"temperature": 1.0, **{name: value for name, value in options.items() if name != "do_sample"}}
    else:
        options = {**without_sampling(options), "temperature": 0.0}
    renamed = {"min_new_tokens": "min_tokens", "eos_token_id": "stop_token_ids"}
    options = {renamed.get(name, name): value for name, value in options.items() if value is not None}
    if isinstance(ends := options.get("stop_token_ids"), int):
        options["stop_token_ids"] = [ends]
    return options
