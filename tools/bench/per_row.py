"""The rules for dialogues, carried out anew for every row: the base that the benchmark compares with.

It does what the rules say, word for word and without any preparation: each shot is rendered again for each row, and
each text is scanned once for every column. It only knows what the benchmark needs (dialogues, one text-only meta
template) and values without braces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Turn = dict[str, Any]


def render(
    template: Mapping[str, Any],
    ice_template: Mapping[str, Any],
    meta: Mapping[str, Any],
    row: Mapping[str, Any],
    shots: Sequence[Mapping[str, Any]],
    output_column: str,
) -> str:
    """The prompt of a language model for one row.

    Args:
        template: dialogue with the ice token ``</E>`` as an item of ``begin``.
        ice_template: dialogue of which ``round`` counts.
        meta: meta template of a language model.
        row: column → value.
        shots: the rows of the examples.
        output_column: the column that is masked in the question.
    """
    texts = [meta["begin"]]
    for item in template["begin"]:
        if item == "</E>":
            for shot in shots:
                texts += _round(_filled(ice_template["round"], shot), meta, cut=False)
        else:
            texts += _round(_filled([item], row), meta, cut=False)
    texts += _round(_filled(template["round"], {**row, output_column: ""}), meta, cut=True)
    return "".join(texts)


def _filled(turns: Sequence[Turn], row: Mapping[str, Any]) -> list[Turn]:
    filled = []
    for turn in turns:
        prompt = turn["prompt"]
        for column, value in row.items():
            prompt = prompt.replace(f"{{{column}}}", str(value))
        filled.append({**turn, "prompt": prompt})
    return filled


def _round(turns: Sequence[Turn], meta: Mapping[str, Any], *, cut: bool) -> list[str]:
    texts = []
    for turn in turns:
        role = next(role for role in (*meta["round"], *meta["reserved_roles"]) if role["role"] == turn["role"])
        merged = {**role, **turn}
        if cut and merged.get("generate"):
            texts.append(merged.get("begin", ""))
            break
        texts.append(f"{merged.get('begin', '')}{merged['prompt']}{merged.get('end', '')}")
    return texts
