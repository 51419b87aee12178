"""The questions to a judge, as a dataset of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.types import (
    DatasetSpec,
    EvalSpec,
    InferSpec,
    JudgeSpec,
    PartSpec,
)

ANSWER: Final = "prediction"


OTHER_ANSWER: Final = "prediction2"


GOLD: Final = "gold"
"""Columns of a judge's prompt, next to those of the row; they hide a row's own of these names."""


def judge_dataset(judge: JudgeSpec, dataset: DatasetSpec) -> DatasetSpec:
    """Return the judges' questions as a dataset: the same rows with the judge's prompt template."""
    asking = InferSpec(
        ice_template=None,
        prompt_template=judge.prompt_template,
        retriever=PartSpec("ZeroRetriever", where=judge.where),
        inferencer=PartSpec("GenInferencer", where=judge.where),
        where=judge.where,
    )
    # Without an output column nothing is hidden: the judge may see the gold.
    reader = replace(dataset.reader, output_column=None)
    return replace(dataset, reader=reader, infer=asking, eval=EvalSpec())


def judge_fields(fields: Mapping[str, Any], answer: Any, gold: Any) -> dict[str, Any]:
    """Return the columns of a judge's template: those of the row, the answer and the gold."""
    return {**fields, ANSWER: answer, GOLD: gold}


def pair_fields(fields: Mapping[str, Any], first: Any, second: Any, gold: Any) -> dict[str, Any]:
    """Return the columns of a template that compares two answers."""
    return {**judge_fields(fields, first, gold), OTHER_ANSWER: second}
