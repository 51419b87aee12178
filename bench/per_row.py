"""The rules for dialogues, carried out anew for every row: the base that the benchmark compares with.

It does what the rules say, word for word and without any preparation: each shot is rendered again for each row, and
each text is scanned once for every column. It only knows what the benchmark needs (dialogues, one text-only meta
template, the usual roles of messages) and values without braces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Turn = dict[str, Any]

API_ROLES = {"SYSTEM": "system", "HUMAN": "user", "BOT": "assistant"}


@dataclass(frozen=True)
class Question:
    """What one prompt is made from.

    Attributes:
        template: dialogue with the ice token ``</E>`` as an item of ``begin``.
        ice_template: dialogue of which ``round`` counts.
        row: column → value, the gold masked if the model is to write the answer.
        shots: the rows of the examples.
        generate: True if the model is to write what the last turn says.
    """

    template: Mapping[str, Any]
    ice_template: Mapping[str, Any]
    row: Mapping[str, Any]
    shots: Sequence[Mapping[str, Any]]
    generate: bool


def text(question: Question, meta: Mapping[str, Any]) -> str:
    """The prompt of a language model with this meta template."""
    roles = [*meta["round"], *meta["reserved_roles"]]
    texts = [meta["begin"]]
    for turn in _turns(question):
        merged = {**next(role for role in roles if role["role"] == turn["role"]), **turn}
        texts.append(f"{merged.get('begin', '')}{merged['prompt']}{merged.get('end', '')}")
    if question.generate:
        texts.append(next(role for role in roles if role.get("generate")).get("begin", ""))
    return "".join(texts)


def messages(question: Question) -> list[dict[str, str]]:
    """The prompt of a chat model without a meta template of its own."""
    said: list[dict[str, str]] = []
    for turn in _turns(question):
        role = API_ROLES[turn["role"]]
        if said and said[-1]["role"] == role:
            said[-1]["content"] += "\n" + turn["prompt"]
        else:
            said.append({"role": role, "content": turn["prompt"]})
    return said


def _turns(question: Question) -> list[Turn]:
    turns: list[Turn] = []
    for item in question.template["begin"]:
        if item == "</E>":
            for shot in question.shots:
                turns += _filled(question.ice_template["round"], shot)
        else:
            turns += _filled([item], question.row)
    asked = question.template["round"][:-1] if question.generate else question.template["round"]
    return turns + _filled(asked, question.row)


def _filled(turns: Sequence[Turn], row: Mapping[str, Any]) -> list[Turn]:
    filled = []
    for turn in turns:
        prompt = turn["prompt"]
        for column, value in row.items():
            prompt = prompt.replace(f"{{{column}}}", str(value))
        filled.append({**turn, "prompt": prompt})
    return filled
