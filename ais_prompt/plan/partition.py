"""Every model on every dataset: one task each."""

from __future__ import annotations

from ais_prompt.types import RunSpec, TaskSpec


def partition(spec: RunSpec) -> list[TaskSpec]:
    """The tasks of a run, all datasets of a model together, so that it is loaded only once."""
    return [TaskSpec(model, dataset) for model in spec.models for dataset in spec.datasets]
