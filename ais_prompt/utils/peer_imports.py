"""Answer imports of OpenCompass, AISBench and torchtune with the line to write here."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from ais_prompt.errors import ConfigError

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
"""What a role template that was written for torchtune imports here."""


_WHY: Final = {
    "AgentInferencer": "it needs a model that is an agent of lagent, with programs that it calls",
    "AttackInferencer": "it changes the words of a prompt with promptbench until the model fails",
    "InferencePPLOnlyInferencer": "it needs the loss of each token of an answer",
    "SWCELossInferencer": "it needs the loss of each token of whole books",
    "ToTInferencer": "it asks along a tree of thoughts, with rules of its own for each task",
}
"""Part without a counterpart → why there is none."""


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
    why = f": {_WHY[name]}" if name in _WHY else ""
    return ConfigError(f"{path} is a part of {peer_of(path)}, which ais_prompt does not use{why}", fix=fix)


def line_for(package: str) -> str:
    """Return the fix for a user's module that imports a missing package of another program."""
    if package == "torchtune":
        return f"write `{ROLE_TEMPLATE_LINE}` in place of its import, or pip install torchtune"
    return "import the part from ais_prompt: `from ais_prompt import PromptTemplate`"
