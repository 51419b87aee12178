"""Translate a model, or the model of a judge; with ``-a vllm``, start a server for a model of transformers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from ais_prompt.config import Note, resolve_data_path
from ais_prompt.errors import ConfigError
from ais_prompt.extensions.peers.parts import Translation, accepted, is_part
from ais_prompt.extensions.peers.table.models import lmdeploy_engine, vllm_engine
from ais_prompt.models import is_sampling, without_sampling

_WITH_CHAT_TEMPLATE: Final = ("HuggingFace", "VLLM", "TurboMindModel")
"""Beginnings of the classes of OpenCompass, ``…withChatTemplate``, that have a default meta template of their own."""

DEFAULT_ROLES: Final[Mapping[str, Any]] = {
    "round": [
        {"role": "HUMAN", "api_role": "HUMAN", "prompt": ""},
        {"role": "SYSTEM", "api_role": "HUMAN", "prompt": ""},
        {"role": "BOT", "api_role": "BOT", "generate": True},
    ]
}
"""The default meta template of OpenCompass for the chat template of a tokenizer.

Each round has a turn of SYSTEM, which is sent as the user: without data, its empty text follows that of the user after
a newline. Source: ``_get_meta_template`` in ``opencompass/models/huggingface_above_v4_33.py``.
"""

_RUN: Final = {"num_procs": "a model is loaded in one process"}
"""Keys of ``run_cfg`` that mean nothing here → why."""

_REASONING: Final = "extract_non_reasoning_content"
"""The postprocessor of their models that cuts thoughts."""


def translate_model(values: Any, where: str, translation: Translation) -> Any:
    """Return a model in terms of this program; one that is no peer's stays as it is."""
    if translation.peer_part("models", values) is None:
        return values
    args = dict(values)
    if not args.get("meta_template") and has_default_roles(values["type"]):
        args["meta_template"] = DEFAULT_ROLES
    template = args.get("meta_template")
    if isinstance(template, tuple) and len(template) == 1:
        args["meta_template"] = template[0]
        translation.notes.note("meta_template is the dict before the comma", f"{where}.meta_template")
    options = args.get("model_kwargs")
    if _is_half(values) and not (isinstance(options, Mapping) and {"torch_dtype", "dtype"} & options.keys()):
        name = values["type"].rpartition(".")[2]
        what = f"{name}: weights are loaded in the precision of their config (float32 on a CPU), there in float16"
        fix = "for theirs: model_kwargs=dict(torch_dtype='torch.float16')"
        translation.notes.note(what, f"{where}.model_kwargs", fix)
    if isinstance(args.get("run_cfg"), Mapping):
        args["run_cfg"] = translation.known(args["run_cfg"], ("num_gpus",), _RUN, f"{where}.run_cfg")
    cut = _cut_of_thoughts(args.pop("pred_postprocessor", None), f"{where}.pred_postprocessor", translation)
    translated: dict[str, Any] = translation.part("models", args, where)
    if accepted("models", translated["type"], ("think_tags",)):
        translated.setdefault("think_tags", None)  # thoughts are a part of each text there
    return translated | cut


def has_default_roles(name: str) -> bool:
    """Return whether a class of a peer uses `DEFAULT_ROLES` for a model without a ``meta_template``."""
    package, _, path = name.partition(".")
    owner = path.rpartition(".")[2].removesuffix("withChatTemplate")
    return package == "opencompass" and path.endswith("withChatTemplate") and owner in _WITH_CHAT_TEMPLATE


def _is_half(values: Mapping[str, Any]) -> bool:
    """Return whether a class of a peer loads weights in float16 if its config names no precision."""
    name = values["type"].rpartition(".")[2]
    newer = ("HuggingFaceBaseModel", "HuggingFacewithChatTemplate")
    return name in ("HuggingFace", "HuggingFaceCausalLM") or (name in newer and values["type"].startswith("ais_bench."))


def _cut_of_thoughts(postprocessor: Any, where: str, translation: Translation) -> dict[str, Any]:
    """Return the ``pred_postprocessor`` of a model, if it is the one that cuts thoughts."""
    if not postprocessor:
        return {}
    if not is_part(postprocessor) or postprocessor["type"].rpartition(".")[2].replace("-", "_") != _REASONING:
        translation.notes.note("the pred_postprocessor of the model is not used: that of the dataset is", where)
        return {}
    what = "thoughts are cut out as there: an answer that ends inside of a thought is scored with it"
    translation.notes.note(what, where, "for an empty answer instead: a config of this program, see aisprompt migrate")
    kept = translation.known(postprocessor, ("type", "think_start_token", "think_end_token"), {}, where)
    reading = {} if translation.peer_scores else {"open_tag": False}
    return {"pred_postprocessor": {**kept, "type": f"{_REASONING}_peer", **reading}}


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
