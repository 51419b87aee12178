"""Modules that have moved: scripts and configs import them by their old names."""

from __future__ import annotations

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

MOVED: Final[dict[str, str]] = {
    "ais_prompt.chat": "ais_prompt.prompts",
    "ais_prompt.models.wires.anthropic": "ais_prompt.models",
    "ais_prompt.models.wires.openai.openai_models": "ais_prompt.models",
    "ais_prompt.models.wires.openai": "ais_prompt.models",
    "ais_prompt.models.wires": "ais_prompt.models",
    "ais_prompt.data.bm25": "ais_prompt.data.compared_texts",
    "ais_prompt.data.by_position": "ais_prompt.data.retriever",
    "ais_prompt.data.encoders": "ais_prompt.data.compared_texts",
    "ais_prompt.data.topk": "ais_prompt.data.compared_texts",
    "ais_prompt.evaluators.judge": "ais_prompt.judges.judge_evaluators",
    "ais_prompt.postprocess.written_calls": "ais_prompt.postprocess.written_json",
    "ais_prompt.postprocess.judge_replies": "ais_prompt.judges.replies",
    "ais_prompt.readers": "ais_prompt.data",
    "ais_prompt.retrievers": "ais_prompt.data",
    "ais_prompt.shards": "ais_prompt.plan",
    "ais_prompt.comparison.baseline": "ais_prompt.gates.baseline",
}
"""Old name of a module or package → its name now; the package adds those that moved into extensions."""


FIRST_NAMES: Final[dict[str, str]] = {
    f"ais_prompt.{now}.{name}": f"ais_prompt.{first}.{name}"
    for now, first, names in (
        ("data.retriever", "data.by_position", "ZeroRetriever FixKRetriever RandomRetriever SlidingWindowRetriever"),
        ("data.compared_texts", "data.bm25", "BM25Retriever"),
        ("data.compared_texts", "data.topk", "TopkRetriever"),
        ("data.compared_texts", "data.encoders", "CharacterNgramEncoder HuggingFaceEncoder"),
        ("postprocess.written_json", "postprocess.written_calls", "tool_calls_postprocess"),
    )
    for name in names.split()
}
"""Part → its name in runs and locks that were made before it moved."""


def stored_name(module: str, name: str) -> str:
    """Return the dotted name of a part for what is stored: that of before it moved."""
    return FIRST_NAMES.get(f"{module}.{name}", f"{module}.{name}")


def home_of(name: str) -> str | None:
    """Return the name now of a module that has moved, or is in a package that has; None for any other."""
    for old, new in MOVED.items():
        if name == old or name.startswith(f"{old}."):
            return new + name.removeprefix(old)
    return None


class MovedModules(MetaPathFinder, Loader):
    """Finds modules under their old names."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG002
        """Return how to import a module that has moved; None for any other."""
        return ModuleSpec(fullname, self) if fullname.startswith("ais_prompt.") and home_of(fullname) else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module in the place of the one that was made for its old name."""
        sys.modules[module.__name__] = importlib.import_module(home_of(module.__name__) or "")


# In front of the others: they would find the files of a package under its old name too, and load them twice.
sys.meta_path.insert(0, MovedModules())
