"""Translate a model, or the model of a judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.extensions.peers.parts import Translation, is_part
from ais_prompt.models import THINK_TAGS

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
"""The postprocessor that every model here applies by itself: it separates thoughts from answers."""


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
    args |= _tags(args.pop("pred_postprocessor", None), f"{where}.pred_postprocessor", translation)
    return translation.part("models", args, where)


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


def _tags(postprocessor: Any, where: str, translation: Translation) -> dict[str, Any]:
    """Return ``think_tags`` for the postprocessor of a model, if that separates thoughts."""
    if not postprocessor:
        return {}
    if not is_part(postprocessor) or postprocessor["type"].rpartition(".")[2].replace("-", "_") != _REASONING:
        translation.notes.note("the pred_postprocessor of the model is not used: that of the dataset is", where)
        return {}
    return _named_tags(postprocessor, where, translation)


def _named_tags(postprocessor: Mapping[str, Any], where: str, translation: Translation) -> dict[str, Any]:
    names = ("think_start_token", "think_end_token")
    postprocessor = translation.known(postprocessor, ("type", *names), {}, where)
    if not any(name in postprocessor for name in names):
        return {}
    given = zip(names, THINK_TAGS, strict=True)
    return {"think_tags": [postprocessor.get(name, default) for name, default in given]}
