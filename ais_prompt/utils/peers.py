"""OpenCompass, AISBench and torchtune: find their packages, and answer imports of them with the line to write here.

Nothing of them is imported. Their packages are in a checkout, an unpacked wheel, or where Python finds them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Collection
from pathlib import Path
from typing import Final

from ais_prompt.errors import ConfigError
from ais_prompt.utils.folders import PEER_FOLDERS

PEERS: Final = {"opencompass": "OpenCompass", "ais_bench": "AISBench", "torchtune": "torchtune"}
"""Package → the program that it belongs to."""
OUR_NAMES: Final = {
    "HFDataset": "HuggingFaceDataset",
    "HuggingFace": "HuggingFaceBaseModel",
    "HuggingFaceCausalLM": "HuggingFaceBaseModel",
    "HuggingFacewithChatTemplate": "HuggingFaceChatModel",
    "OpenAI": "OpenAIChatModel",
    "OpenAISDK": "OpenAIChatModel",
    "VLLMCustomAPI": "OpenAICompletionModel",
    "VLLMCustomAPIChat": "OpenAIChatModel",
    "VLLMCustomAPIChatStream": "OpenAIChatModel",
    "VLLMCustomAPIStream": "OpenAICompletionModel",
}
"""A part of OpenCompass or AISBench → the part that does its work here, where the names differ."""
ROLE_TEMPLATE_LINE: Final = (
    "from ais_prompt.prompts.chat_formats import Message, RoleTemplate as PromptTemplate, "
    "RoleTemplateInterface as PromptTemplateInterface"
)
"""The import of a role template that was written for torchtune."""
_WHY: Final = {
    "AgentInferencer": (
        "with infer_mode='every' its programs build on each other in a notebook, which is not kept here",
        "infer_mode='last', or an agent in a function: models=[dict(type='FunctionModel', function='my_agent.answer')]",
    ),
    "AttackInferencer": (
        "it changes the words of a prompt with promptbench until the model fails",
        "GenInferencer, with a config for each wording, and aisprompt compare",
    ),
    "InferencePPLOnlyInferencer": (
        "it needs the loss of each token of an answer",
        "PPLOnlyInferencer, which has the perplexity of the whole text",
    ),
    "SWCELossInferencer": (
        "it needs the loss of each token of whole books",
        "PPLOnlyInferencer, with a row for each part of a book",
    ),
    "ToTInferencer": (
        "it asks along a tree of thoughts, with rules of its own for each task",
        "GenInferencer with n=5, whose row cons@5 is the score of the majority; or a FunctionModel",
    ),
}
"""Part without a counterpart → why there is none, and what to use instead."""


def peer_of(path: str) -> str | None:
    """Return the program that a module or dotted path belongs to, such as ``OpenCompass``; None for any other."""
    return PEERS.get(path.partition(".")[0])


def foreign_part(path: str, kind: str, known: Collection[str]) -> ConfigError:
    """Return the error for a part that a config imports from another program.

    Args:
        path: its dotted path.
        kind: the kind of part, such as ``templates``.
        known: the names of our parts of that kind.
    """
    name = path.rpartition(".")[2]
    ours = OUR_NAMES.get(name, name)
    if ours in known:
        fix = f"write `from ais_prompt import {ours}`, or type={ours!r}"
    else:
        fix = f"{kind} of ais_prompt: {', '.join(sorted(known))}"
    what = f"{path} is a part of {peer_of(path)}, which ais_prompt does not use"
    if name in _WHY:
        why, instead = _WHY[name]
        return ConfigError(f"{what}: {why}", fix=f"use {instead}")
    return ConfigError(what, fix=fix)


def line_for(package: str) -> str:
    """Return the fix for a user's module that imports a missing package of another program."""
    if package == "torchtune":
        return f"write `{ROLE_TEMPLATE_LINE}` in place of its import, or pip install torchtune"
    return "import the part from ais_prompt: `from ais_prompt import PromptTemplate`"


def peer_package(package: str) -> Path | None:
    """Return the folder of a peer's package; None if there is none.

    `PEER_FOLDERS` come before installed packages. Each is the root of a checkout, or the package itself.

    Args:
        package: ``opencompass``, ``ais_bench``, or a package of data for them, such as ``bfcl_eval``.
    """
    for root in PEER_FOLDERS.paths():
        for folder in (root / package, root):
            if folder.name == package and folder.is_dir():
                return folder.resolve()
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    places = [] if spec is None else [*(spec.submodule_search_locations or ())]
    return Path(places[0]).resolve() if places else None
