"""The conversations of a task: the questions about each of its samples, and an estimate of their number and cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.engine.asked_rows import numbered, shown_gap
from ais_prompt.errors import AisPromptError, DataError, PromptError
from ais_prompt.inferencers import (
    UNUSABLE_ROW,
    Conversation,
    Recall,
    RepeatingInferencer,
    RunningConversation,
    ends_task,
    failure_of,
)
from ais_prompt.models import approximate_tokens, former_identities
from ais_prompt.plan import Task, cluster_of
from ais_prompt.store import FormerKeys, JournalView, RequestKeys
from ais_prompt.types import (
    Budget,
    Completion,
    Decoding,
    Failure,
    LikelihoodQuery,
    Portion,
    Prediction,
    Price,
    Request,
    Sample,
)
from ais_prompt.utils import Occurrences

LONGEST_NAME: Final = 60
"""Longest text of a column that counts as a name, such as a subject or a level; longer ones are content."""
SAMPLES: Final = 100
"""Samples of a dataset whose prompts are made; the others are taken to be like them."""
_NOT_MEASURED: Final = Completion(failure=Failure("not_asked", ""))


def conversations_of(
    task: Task,
    recall: Recall,
    samples: Iterable[Sample],
    cluster: str | None = None,
    portion: Portion | None = None,
    openings: Occurrences | None = None,
) -> Iterator[RunningConversation]:
    """Yield the conversations of samples, each started when it is taken.

    Args:
        task: a model and a dataset.
        recall: looks up earlier answers.
        samples: of the task's data, in the order of asking.
        cluster: ``eval_cfg.cluster``, to be noted in the predictions.
        portion: yield only the conversations of its samples. The prompts of the others are made too, because equal
            prompts are numbered over the whole dataset.
        openings: counts equal prompts; None makes a new one.

    Raises:
        AisPromptError: the task cannot be asked at all; ``where`` names the sample.
    """
    openings = openings or Occurrences(len(task.data.test))
    for sample in samples:
        try:
            conversation = _conversation(task, sample, openings, cluster)
            if portion is None or portion.holds(sample.id):
                yield RunningConversation(conversation, recall, sample.index)
            else:
                with suppress(StopIteration):  # it cannot be asked
                    next(conversation)
                conversation.close()
        except AisPromptError as error:
            error.where = error.where or f"sample {sample.id}, row {sample.index}"
            raise


def stored_predictions(
    task: Task, journals: Sequence[Path], addresses: Sequence[str], identity: Mapping[str, Any] | None = None
) -> Iterator[Prediction]:
    """Yield the predictions of the samples that journals answer to their end, in sample order; nothing is asked.

    Failures count as answers, and so do samples that cannot be asked at all.

    Args:
        task: a model and a dataset.
        journals: its journals, which other processes may be writing.
        addresses: as for `former_keys_of`.
        identity: of the model that answered, where its files are not here; None for that of the task's model.

    Raises:
        AisPromptError: the data, the model's files or the journal cannot be read.
    """
    view = JournalView(*journals)
    key_of = RequestKeys(task.model.identity() if identity is None else identity)
    former = former_keys_of(task, addresses) if view.has_former_keys else lambda _: iter(())

    def recall(request: Request) -> Completion | None:
        return view.get(chain([key_of(request)], former(request)))

    if len(view):
        for conversation in conversations_of(task, recall, task.data.test, task.spec.dataset.eval.cluster):
            if conversation.prediction is not None:
                yield conversation.prediction


def former_keys_of(task: Task, addresses: Sequence[str]) -> FormerKeys:
    """Return the maker of the keys that an earlier version gave to a task's requests.

    Args:
        task: a model and a dataset.
        addresses: where earlier sessions asked; version 1 had the address in its keys.
    """
    rows = {sample.id: sample.row_id for sample in task.data.test}
    return FormerKeys(former_identities(task.model, addresses), rows)


def columns_of(sample: Sample, gold: str | None) -> dict[str, Any]:
    """Return the columns of a row that reports filter by: with a number, a flag or a name, except the gold column."""
    return {name: value for name, value in sample.fields.items() if name != gold and _is_name(value)}


class RequestEstimate(Struct, frozen=True):
    """The requests of a task, as far as they are known before.

    Attributes:
        task: ``model/dataset``.
        samples: number of questions.
        requests: number of requests. Turns of a dialogue that depend on the answers are taken to be asked.
        input_tokens: tokens of the prompts, about: all show the examples of the first question, and those of a dialogue
            no answers.
        output_tokens: the most tokens of the answers.
        price: of the model; None if it is not known.
        judges: ``abbr`` of each judge. Their tokens are not part of the numbers.
        verdicts: the most requests to each judge: one for each answer, two where answers are compared in both orders.
    """

    task: str
    samples: int
    requests: int
    input_tokens: int
    output_tokens: int
    price: Price | None
    judges: tuple[str, ...] = ()
    verdicts: int = 0

    @property
    def judge_requests(self) -> int:
        """The most requests to all judges."""
        return len(self.judges) * self.verdicts

    @property
    def least_cost(self) -> float | None:
        """The cost of the prompts; None without a price."""
        return None if self.price is None else self.price.cost(self.input_tokens, 0)

    @property
    def most_cost(self) -> float | None:
        """The cost if every answer is as long as it may be; None without a price."""
        return None if self.price is None else self.price.cost(self.input_tokens, self.output_tokens)


def estimate(task: Task) -> RequestEstimate:
    """Estimate what a task asks: requests, tokens, cost. No weights are loaded and nothing is sent.

    Raises:
        AisPromptError: the data cannot be read, or a prompt cannot be made.
    """
    test = task.data.test
    requests = sent = received = 0

    def answer(request: Request) -> Completion:
        nonlocal requests, sent, received
        requests += 1
        sent += _tokens(request)
        if isinstance(request.decoding, Decoding):
            received += request.decoding.max_out_len
            return Completion("", "stop")
        return _NOT_MEASURED

    count = min(len(test), SAMPLES)
    chosen = [test[number * len(test) // count] for number in range(count)]
    if chosen:
        for _ in conversations_of(task.with_trial_shots(), answer, chosen):
            pass
    scale = len(test) / count if count else 0.0
    judge = None if task.spec.is_reference else task.dataset.spec.eval.judge
    answers = task.inferencer.n if isinstance(task.inferencer, RepeatingInferencer) else 1
    return RequestEstimate(
        task.name,
        len(test),
        math.ceil(requests * scale),
        math.ceil(sent * scale),
        math.ceil(received * scale),
        task.spec.model.price,
        tuple(model.abbr for model in judge.models) if judge else (),
        len(test) * answers * (2 if judge and judge.reference_answers else 1) if judge else 0,
    )


def exceeded(budget: Budget, estimates: list[RequestEstimate]) -> list[str]:
    """Return which limits of a budget a run would certainly reach, or might reach if its answers are long."""
    kinds = ("requests", "judge_requests", "input_tokens", "output_tokens", "least_cost", "most_cost")
    total = {kind: math.fsum(getattr(one, kind) or 0 for one in estimates) for kind in kinds}
    sent = total["input_tokens"]
    found = []
    for name, limit, low, high in (
        ("max_requests", budget.max_requests, total["requests"], total["requests"] + total["judge_requests"]),
        ("max_tokens_total", budget.max_tokens_total, sent, sent + total["output_tokens"]),
        ("max_cost", budget.max_cost, total["least_cost"], total["most_cost"]),
    ):
        if limit is not None and high > limit:
            found.append(f"{name}={limit:,} {'is not enough' if low > limit else 'may not be enough'}")
    return found


def _conversation(task: Task, sample: Sample, openings: Occurrences, cluster: str | None) -> Conversation:
    shots: Sequence[Sample] = ()
    try:
        shots = task.shots(sample)
        if gap := shown_gap(task.inferencer, sample, shots, task.context):
            prediction = _without_answer(task, sample, gap)
        else:
            prediction = yield from numbered(task.inferencer.converse(sample, shots, task.context), openings)
    except (DataError, PromptError) as error:
        what = f"row {sample.index} cannot be asked: {error.what}; {error.fix}"
        failure = Failure(UNUSABLE_ROW, what, where=error.where)
        prediction = _without_answer(task, sample, failure)
    except Exception as error:
        if ends_task(error):
            raise
        prediction = _without_answer(task, sample, failure_of(error, type(task.inferencer).__name__))
    return replace(
        prediction,
        shots_used=len(shots),
        row_id=sample.row_id,
        cluster=cluster_of(sample, cluster),
        columns=columns_of(sample, task.spec.dataset.reader.output_column),
        stratum=sample.stratum,
    )


def _is_name(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= LONGEST_NAME and "\n" not in value
    return isinstance(value, bool | int | float)


def _without_answer(task: Task, sample: Sample, failure: Failure) -> Prediction:
    """Return the prediction of a sample that could not be asked, with as many answers as the others have."""
    n = task.inferencer.n if isinstance(task.inferencer, RepeatingInferencer) else 1
    answers = (Completion(failure=failure),) * n
    return Prediction(sample.id, sample.index, "", [None] * n if n > 1 else None, sample.gold, answers)


def _tokens(request: Request) -> int:
    """Return about how many tokens a request sends; loading a tokenizer would take longer than all else."""
    measured = (request.decoding.continuation or "") if isinstance(request.decoding, LikelihoodQuery) else ""
    return approximate_tokens(request.prompt) + approximate_tokens(measured)
