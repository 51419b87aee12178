"""Find all faults of the scoring part of a config. Neither models nor data are needed."""

from __future__ import annotations

from collections.abc import Callable

from ais_prompt.checks.blank_calls import call_evaluator, call_postprocessors
from ais_prompt.checks.faults import FaultList
from ais_prompt.errors import AisPromptError, ConfigError
from ais_prompt.plan.plan import Plan, PlannedDataset
from ais_prompt.registry import EVALUATORS, INFERENCERS, MODELS, POSTPROCESSORS, TEMPLATES, is_shipped
from ais_prompt.types import EvalSpec, PartSpec


def check_scoring(plan: Plan, place: Callable[[str], str]) -> list[AisPromptError]:
    """Find every fault that would stop the scoring of stored answers.

    Args:
        plan: the plan of the config.
        place: from a config path to the words that tell the user where that is.
    """
    faults = FaultList(place)
    for dataset in plan.datasets:
        # The inferencer knows whether a prediction is a list of turns.
        faults.check_part(INFERENCERS, dataset.spec.infer.inferencer)
        check_eval(dataset, faults)
    return faults


def check_eval(dataset: PlannedDataset, faults: FaultList) -> None:
    """Note every fault of an ``eval_cfg``."""
    spec = dataset.spec.eval
    if spec.evaluator is not None and spec.judge is None and _asks_a_judge(spec.evaluator):
        # Else the keys of a judge would be unknown arguments.
        fix = "add judge_cfg=dict(<a model>), or a list of models"
        faults.note(ConfigError(f"{spec.evaluator.type} needs a judge", fix=fix), spec.evaluator.where)
        return
    nested = {"rule_evaluator": EVALUATORS, "llm_evaluator": EVALUATORS, "rule_postprocessor": POSTPROCESSORS}
    if faults.check_part(EVALUATORS, spec.evaluator, nested=nested) and spec.evaluator:
        evaluator = faults.attempt(lambda: dataset.evaluator, spec.evaluator.where)
        # Shipped evaluators are tested; some of them run programs or load a lot to score a single answer.
        if evaluator is not None and not is_shipped(type(evaluator)):
            faults.passes(lambda: call_evaluator(evaluator), spec.evaluator.where)
    if spec.judge is not None:
        for judge in spec.judge.models:
            faults.check_part(MODELS, judge.part)
        faults.check_part(TEMPLATES, spec.judge.prompt_template)
    found = [
        faults.check_part(POSTPROCESSORS, part, given=1)
        for part in (spec.pred_postprocessor, spec.dataset_postprocessor)
    ]
    if all(found):
        faults.passes(lambda: call_postprocessors(dataset), spec.where)


def _asks_a_judge(part: PartSpec) -> bool:
    """Return whether an evaluator's class has the verdicts of a judge; False if there is no such class."""
    try:
        return hasattr(EVALUATORS.get(part.type), "without_judge")
    except AisPromptError:
        return False


def check_k(spec: EvalSpec, n: int) -> None:
    """Check that there are enough answers to each question for every ``pass@k``.

    Raises:
        ConfigError: there are not.
    """
    most = max(spec.k, default=1)
    if most > n:
        raise ConfigError(
            f"pass@{most} needs {most} answers to each question, and there {'is 1' if n == 1 else f'are {n}'}",
            where=f"{spec.where}.k",
            fix=f"ask for more: inferencer=dict(type='GenInferencer', n={most}); or lower k",
        )
