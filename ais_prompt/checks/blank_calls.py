"""Call each user-defined part once on blank values, to find wrong return types before any request.

An exception is not a fault here: a part may refuse a blank value. At run time it costs the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ais_prompt.errors import AisPromptError, PartError
from ais_prompt.evaluators.base import Evaluator
from ais_prompt.evaluators.judge import JudgeEvaluator, PanelEvaluator
from ais_prompt.inferencers import InferenceContext, Inferencer, RunningConversation
from ais_prompt.models.base import Model
from ais_prompt.plan.plan import PlannedDataset
from ais_prompt.registry import POSTPROCESSORS, is_shipped
from ais_prompt.types import JudgeVerdict, Sample, SampleScore
from ais_prompt.utils.digest import canonical
from ais_prompt.utils.guard import exception_line
from ais_prompt.utils.places import defined_at, users_line

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
        what = f"{type(model).__name__}.identity cannot be written as JSON: {exception_line(error)}"
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


def _only_wrong_types(call: Callable[[], Any]) -> None:
    """Make a call. An exception counts only if the part was not entered, such as for a wrong number of arguments."""
    try:
        call()
    except PartError as error:
        if error.__cause__ is None or not users_line(error.__cause__):
            raise
    except AisPromptError:
        return
