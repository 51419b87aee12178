"""Translate a model, or the model of a judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.extensions.peers.parts import Translation, accepted, is_part

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
