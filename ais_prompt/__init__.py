"""ais_prompt: evaluate language models from Python configs; see every prompt, trust every score.

Every part that a config may name can be imported from here. The module that defines it is imported when its name is
first used, so ``import ais_prompt`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

from ais_prompt.catalog import PARTS, public_names

__version__ = "0.1.0"

_HOMES = {
    "AisPromptError": "ais_prompt.errors",
    "ChatMLTemplate": "ais_prompt.chat",
    "GrammarErrorCorrectionTemplate": "ais_prompt.chat",
    "Llama2ChatTemplate": "ais_prompt.chat",
    "MistralChatTemplate": "ais_prompt.chat",
    "PromptList": "ais_prompt.prompts",
    "QuestionAnswerTemplate": "ais_prompt.chat",
    "RoleTemplate": "ais_prompt.chat",
    "RoleTemplateInterface": "ais_prompt.chat",
    "SummarizeTemplate": "ais_prompt.chat",
    "load_config": "ais_prompt.config.load",
    **dict.fromkeys(("Batching", "Limits", "Loading", "Retry", "Sampling", "Wire"), "ais_prompt.models.options"),
}
_KINDS = {name: kind for kind in PARTS for name in public_names(kind)}

__all__ = ["__version__", *sorted([*_HOMES, *_KINDS])]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _KINDS:
        return getattr(importlib.import_module("ais_prompt.registry"), _KINDS[name].upper()).get(name)
    raise AttributeError(f"module 'ais_prompt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
