"""Ask servers, before a run, for the values that the config leaves to them: the name of their only model."""

from __future__ import annotations

from msgspec.structs import replace

from ais_prompt.models.api.model import ApiModel
from ais_prompt.plan.build import build_model
from ais_prompt.plan.plan import Plan
from ais_prompt.types import DatasetSpec, ModelSpec
from ais_prompt.verbs.run import RunMode, asked


def with_found_models(plan: Plan, mode: RunMode) -> Plan:
    """Return the plan with the names of the models and judges that are asked; the same plan if the config has them.

    Args:
        plan: of a checked config.
        mode: as in `run`.

    Raises:
        ConfigError: a server has several models.
        ModelError: a server does not answer or lists no models, or its key or address cannot be used.
    """
    if not any(_is_unnamed(planned.spec) for planned in asked(plan, mode)):
        return plan
    spec = plan.whole.spec
    if mode != "eval":
        spec = replace(spec, models=tuple(map(_named, spec.models)))
    if mode != "infer":
        spec = replace(spec, datasets=tuple(map(_with_named_judges, spec.datasets)))
    named = Plan(spec)
    return named if plan is plan.whole else named.only({task.name for task in plan.tasks})


def _with_named_judges(dataset: DatasetSpec) -> DatasetSpec:
    if (judge := dataset.eval.judge) is None:
        return dataset
    judge = replace(judge, models=tuple(map(_named, judge.models)))
    return replace(dataset, eval=replace(dataset.eval, judge=judge))


def _is_unnamed(spec: ModelSpec) -> bool:
    return spec.part.args.get("model") == ""


def _named(spec: ModelSpec) -> ModelSpec:
    if not _is_unnamed(spec) or not isinstance(model := build_model(spec), ApiModel):
        return spec
    return replace(spec, part=replace(spec.part, args={**spec.part.args, "model": model.only_model()}))
