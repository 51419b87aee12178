"""Collect faults: of single parts and their arguments, and of the scoring part of a config.

A user-defined part is called once on blank values, to find wrong return types before any request. An exception is no
fault then: a part may refuse a blank value. At run time it costs the sample.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, Final, TypeVar

from ais_prompt.errors import AisPromptError, ConfigError, PartError, faults_of
from ais_prompt.evaluators import Evaluator, JudgeEvaluator, PanelEvaluator, is_scoring_function
from ais_prompt.inferencers import InferenceContext, Inferencer, RunningConversation
from ais_prompt.models import Model
from ais_prompt.parts import defined_at, exception_line, part_class, users_line
from ais_prompt.plan import Plan, PlannedDataset, argument_faults
from ais_prompt.registry import (
    EVALUATORS,
    INFERENCERS,
    MODELS,
    POSTPROCESSORS,
    TEMPLATES,
    ChecksArguments,
    PartRegistry,
    is_shipped,
)
from ais_prompt.types import EvalSpec, JudgeVerdict, PartSpec, Sample, SampleScore
from ais_prompt.utils import canonical, with_leaves

T = TypeVar("T")
_DOTTED_NAME: Final = re.compile(r"\w+(\.\w+)+")


class FaultList(list[AisPromptError]):
    """A list of faults, each with its place in the config and in the data."""

    def __init__(self, place: Callable[[str], str]) -> None:
        super().__init__()
        self._place = place
        self._checked: dict[str, AisPromptError | None] = {}

    def attempt(self, action: Callable[[], T], where: str) -> T | None:
        """Return what the action returns; note its error and return None if it raises one."""
        try:
            return action()
        except AisPromptError as error:
            for fault in faults_of(error):
                inside, _, elsewhere = fault.where.partition(" · ")
                is_inside = inside.startswith(where)
                self.note(fault, inside if is_inside else where, elsewhere if is_inside else fault.where)
            return None

    def passes(self, action: Callable[[], None], where: str) -> bool:
        """Return whether an action raises no fault; note the fault otherwise."""
        before = len(self)
        self.attempt(action, where)
        return len(self) == before

    def check_part(
        self,
        registry: PartRegistry,
        spec: PartSpec | None,
        *,
        given: int = 0,
        nested: Mapping[str, PartRegistry] | None = None,
    ) -> bool:
        """Resolve a part's type and bind its arguments; True if all is well.

        A part may check its arguments further, in a function ``check_arguments``.

        Args:
            registry: where its type is looked up.
            spec: the part; None is well.
            given: as in `argument_faults`.
            nested: argument → registry, of those arguments that may be parts themselves.
        """
        if spec is None:
            return True
        before = len(self)
        part = self.attempt(lambda: registry.get(spec.type), f"{spec.where}.type")
        if part is not None:
            if registry is EVALUATORS and is_scoring_function(part, spec.args):
                given = 2  # the answer and the gold
            for fault in argument_faults(part, spec.args, spec.where, given=given):
                self.note(fault, fault.where)
            if len(self) == before and isinstance(part, ChecksArguments):
                self.attempt(partial(self._check_once, part.check_arguments, spec), spec.where)
        for name, inner in (nested or {}).items():
            if isinstance(config := spec.args.get(name), Mapping):
                self._check_nested(inner, config, f"{spec.where}.{name}")
        return len(self) == before

    def _check_once(self, check: Callable[..., None], spec: PartSpec) -> None:
        """Check arguments; those that differ only in texts and numbers are checked once.

        Raises:
            AisPromptError: they are wrong.
        """
        # Of the arguments count keys and dotted names of parts.
        outline = with_leaves(
            spec.args, lambda leaf: leaf if isinstance(leaf, str) and _DOTTED_NAME.fullmatch(leaf) else None
        )
        key = repr((spec.type, outline))
        if key not in self._checked:
            self._checked[key] = None
            try:
                check(**spec.args)
            except AisPromptError as error:
                self._checked[key] = error
        if (found := self._checked[key]) is not None:
            raise copy(found)  # each has its place

    def _check_nested(self, registry: PartRegistry, config: Mapping[str, Any], where: str) -> None:
        if not isinstance(kind := config.get("type"), str):
            fix = f"type='...', one of {', '.join(registry.names())}"
            self.note(ConfigError(f"{where.rpartition('.')[2]!r} needs a 'type'", fix=fix), where)
        else:
            part = PartSpec(kind, {k: v for k, v in config.items() if k != "type"}, where)
            self.check_part(registry, part, given=int(registry is POSTPROCESSORS))

    def note(self, fault: AisPromptError, config_path: str, elsewhere: str = "") -> None:
        """Add a fault.

        Args:
            fault: what is wrong.
            config_path: where in the config.
            elsewhere: where in the data.
        """
        fault.where = " · ".join(place for place in (self._place(config_path), elsewhere) if place)
        self.append(fault)


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
        if not dataset.spec.keeps_scores:
            check_evaluators(dataset, faults)
    return faults


def check_evaluators(dataset: PlannedDataset, faults: FaultList) -> None:
    """Note every fault of each evaluator of a dataset."""
    for scoring in dataset.scorings:
        check_eval(scoring, faults)


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
        if evaluator is not None and not is_shipped(part_class(evaluator)):
            faults.passes(lambda: call_evaluator(evaluator), spec.evaluator.where)
    if faults.check_part(EVALUATORS, spec.repeat_evaluator):
        faults.attempt(lambda: dataset.repeat_evaluator, spec.where)
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


BLANK = ""


def call_model(model: Model) -> None:
    """Ask a model for its settings.

    Raises:
        AisPromptError: something has the wrong type, or the identity cannot be written as JSON.
    """
    identity = model.identity()
    try:
        canonical(identity)
    except (TypeError, ValueError, RecursionError) as error:
        what = f"{part_class(model).__name__}.identity cannot be written as JSON: {exception_line(error)}"
        raise PartError(what, where=defined_at(model), fix="return texts, numbers, lists and dicts") from None
    model.decoding(None, ())
    _ = model.prompt_style, model.max_out_len, model.max_seq_len


def call_inferencer(inferencer: Inferencer, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> None:
    """Start the conversation about a sample, up to its first request.

    Raises:
        PartError: it asks or returns something of the wrong type.
    """
    _only_wrong_types(lambda: RunningConversation(inferencer.converse(sample, shots, context), lambda _: None))


def call_postprocessors(dataset: PlannedDataset) -> None:
    """Call both postprocessors on an empty text, unless they are shipped.

    Raises:
        PartError: one cannot be called with a text.
    """
    spec = dataset.spec.eval
    for part, function in (
        (spec.pred_postprocessor, dataset.answer_of),
        (spec.dataset_postprocessor, dataset.gold_of),
    ):
        if part is not None and not is_shipped(POSTPROCESSORS.get(part.type)):
            _only_wrong_types(partial(function, BLANK))


def call_evaluator(evaluator: Evaluator) -> None:
    """Score a blank answer, and a dataset of that one sample.

    Raises:
        PartError: something has the wrong type.
    """
    if isinstance(evaluator, JudgeEvaluator):
        _only_wrong_types(lambda: evaluator.without_judge(BLANK, BLANK))
        _only_wrong_types(lambda: evaluator.verdict(BLANK))
        if isinstance(evaluator, PanelEvaluator):
            panel = [JudgeVerdict("blank", orders=(None,) * (1 + evaluator.compares))]
            _only_wrong_types(lambda: evaluator.vote(panel[0].orders))
            _only_wrong_types(lambda: evaluator.decide(panel, BLANK))
    else:
        _only_wrong_types(lambda: evaluator.score(BLANK, BLANK))
    # A function of a user that raised has not said yet what its metrics are; only an unparsed answer may lack values.
    blank = SampleScore("blank", "unparsed", BLANK, BLANK, dict.fromkeys(evaluator.metrics, 0.0))
    _only_wrong_types(lambda: evaluator.aggregate([blank]))


def check_on_answers(dataset: PlannedDataset, rows: Sequence[Sample], faults: FaultList) -> None:
    """Note a postprocessor or evaluator of the user that raises an error for each of some ordinary answers to rows.

    An error that depends on the text is none: a part may raise it where a text has no answer.
    """
    spec, evaluator = dataset.spec.eval, dataset.evaluator
    golds = [row.gold for row in rows if row.gold is not None]
    texts = [text.replace("%s", str(gold)) for gold in golds for text in _ANSWERS]
    answers = _take(spec.pred_postprocessor, dataset.answer_of, [(text,) for text in texts], faults)
    read = _take(spec.dataset_postprocessor, dataset.gold_of, [(gold,) for gold in golds], faults)
    if evaluator is not None and not is_shipped(part_class(evaluator)) and not isinstance(evaluator, JudgeEvaluator):
        pairs = [(answer, gold) for gold in read for answer in (*answers, gold) if answer is not None]
        _take(spec.evaluator, evaluator.score, pairs, faults)


_ANSWERS: Final = ("%s", "The answer is %s.", '{"answer": "%s"}', "<answer>%s</answer>")
_OF_A_TEXT: Final = (ValueError, LookupError)
"""Errors of texts that a part cannot read: of ``json.loads``, ``int`` and ``text.split(...)[1]``."""


def _take(
    part: PartSpec | None,
    call: Callable[..., Any],
    given: Sequence[tuple[Any, ...]],
    faults: FaultList,
) -> list[Any]:
    """Return the results of a part, and note its error if it takes none of the arguments."""
    results: list[Any] = []
    errors: list[AisPromptError] = []
    for arguments in given:
        try:
            results.append(call(*arguments))
        except AisPromptError as error:
            errors.append(error)
    if errors and not results and part is not None and not any(map(_depends_on_text, errors)):
        what = f"each of {len(errors)} ordinary answers is an error: {errors[0].what}"
        fix = "fix it, or return None where a text has no answer"
        faults.note(ConfigError(what, fix=fix), part.where, errors[0].where)
    return results


def _depends_on_text(error: AisPromptError) -> bool:
    cause = error.__cause__
    return not isinstance(error, PartError) or isinstance(cause, _OF_A_TEXT) or "NoneType" in str(cause)


def _only_wrong_types(call: Callable[[], Any]) -> None:
    """Make a call. An exception counts only if the part was not entered, such as for a wrong number of arguments."""
    try:
        call()
    except PartError as error:
        if error.__cause__ is None or not users_line(error.__cause__):
            raise
    except AisPromptError:
        return


def _asks_a_judge(part: PartSpec) -> bool:
    """Return whether an evaluator's class has the verdicts of a judge; False if there is no such class."""
    try:
        return hasattr(EVALUATORS.get(part.type), "without_judge")
    except AisPromptError:
        return False
