"""ais_prompt: evaluate language models from Python configs; see every prompt, trust every score.

What is public here is imported when it is first asked for, so ``import ais_prompt`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "AisPromptError": "ais_prompt.errors",
    "MMPromptTemplate": "ais_prompt.prompts",
    "MultiTurnPromptTemplate": "ais_prompt.prompts",
    "PromptList": "ais_prompt.prompts",
    "PromptTemplate": "ais_prompt.prompts",
    "RawPromptTemplate": "ais_prompt.prompts",
    "RoleTemplate": "ais_prompt.chat.role_templates",
    "load_config": "ais_prompt.config.load",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ais_prompt' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
