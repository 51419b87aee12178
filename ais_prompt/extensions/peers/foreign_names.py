"""Answer names of OpenCompass, AISBench and torchtune with what to write here."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.peers.peer_packages import config_trees, peer_of
from ais_prompt.utils import installed

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


_PLAIN_KINDS: Final = ("evaluators", "postprocessors")
"""Kinds whose parts are called in a way that those of OpenCompass can serve too, where it is installed."""
_CONFIGS: Final = (
    "configs of OpenCompass and AISBench need their package: --peer-path, or pip install --no-deps opencompass"
)
_HASHED: Final = re.compile(r"_[0-9a-f]{6}$")
"""Ends the name of a config of theirs, such as ``gsm8k_gen_1d7fe4``."""


def foreign_name(kind: str, name: str, known: Collection[str]) -> ConfigError | None:
    """Return the error for a name of another program, for the step of this name; None for any other name.

    Args:
        kind: the kind of name.
        name: the name; of a module or part its dotted path.
        known: the names that this program knows.
    """
    if kind in ("option", "command"):
        from ais_prompt.extensions.peers.command_line import ANSWERS, tool_answer

        advice = tool_answer(name) if kind == "command" else ANSWERS.get(name.partition("=")[0])
        return ConfigError(f"there is no {kind} {name!r}", fix=advice) if advice else None
    if kind == "config" or (kind == "entry" and _HASHED.search(name)):
        is_here = any(tree.folder is not None for tree in config_trees())
        return None if is_here else ConfigError(f"there is no config {name!r}", fix=_CONFIGS)
    if kind == "pattern" or (peer := peer_of(name)) is None:
        return None
    if kind == "module":
        fix = "import the part from ais_prompt: `from ais_prompt import PromptTemplate`"
        if name.partition(".")[0] == "torchtune":
            fix = f"write `{ROLE_TEMPLATE_LINE}` in place of its import, or pip install torchtune"
        return ConfigError(f"{name} is a module of {peer}", fix=fix)
    return None if kind in _PLAIN_KINDS and installed(name) else _foreign_part(name, kind, known)


def _foreign_part(path: str, kind: str, known: Collection[str]) -> ConfigError:
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
