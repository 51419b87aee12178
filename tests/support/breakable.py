"""Parts of every kind that break in one method at a time: they raise there, or return something of the wrong type.

What breaks is a variable of the test process. A process that scores cannot import this module, so that it is used in
the test process all the same.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ais_prompt.catalog import PROTOCOLS
from ais_prompt.data import CharacterNgramEncoder, FixKRetriever, LocalDataset
from ais_prompt.evaluators import AccEvaluator, AnswerBatch, BatchVerdict, JudgeQuestion
from ais_prompt.extensions.shards.local_shards import LocalRunner
from ais_prompt.inferencers import GenInferencer, MultiTurnGenInferencer
from ais_prompt.judges import GenericLLMEvaluator, PairwiseEvaluator
from ais_prompt.models import Reply, ScriptedModel, Server, Sink
from ais_prompt.parts import members
from ais_prompt.prompts import MultiTurnPromptTemplate, PromptTemplate
from ais_prompt.registry import import_dotted
from ais_prompt.types import Chunk, Completion, Likelihood, LikelihoodQuery, Request, SampleScore, Score, TaskSize

TEST_PROCESS = "BREAKABLE_IN_PROCESS"
"""The variable of the environment with the number of the test process."""

if os.environ.get(TEST_PROCESS, str(os.getpid())) != str(os.getpid()):
    raise RuntimeError("another process does not know what is to break")


class Plan:
    """Which member breaks now, and in which way.

    Attributes:
        target: (name of the class, member); None if nothing breaks.
        wrong_type: whether it returns something of the wrong type, instead of raising.
        error: what it raises.
        hits: how often it broke.
    """

    target: tuple[str, str] | None = None
    wrong_type = False
    error: type[BaseException] = RuntimeError
    hits = 0

    def breaks(self, kind: str, member: str) -> bool:
        """Whether this call is to give something of the wrong type.

        Raises:
            BaseException: it is to raise.
        """
        if self.target != (kind, member):
            return False
        self.hits += 1
        if not self.wrong_type:
            raise self.error("broken on purpose")
        return True


PLAN = Plan()


class Nonsense:
    """Fits no type hint of any protocol."""


def breakable(shipped: type, kind: str) -> type:
    """A class like a shipped one, whose members break as the plan says."""
    names = {name for path in PROTOCOLS[kind] for name in members(import_dotted(path))}  # type: ignore[arg-type]
    body = {name: _breaking(shipped, name) for name in names if _has(shipped, name)}
    return type(shipped.__name__, (shipped,), {**body, "__module__": __name__})


def _has(shipped: type, name: str) -> bool:
    # Attributes are set when an object is made, or are those of a class.
    ours = [base for base in shipped.__mro__ if base.__module__.startswith(("ais_prompt.", "tests."))]
    return hasattr(shipped, name) or any(f"self.{name} =" in inspect.getsource(base) for base in ours)


def _breaking(shipped: type, name: str) -> Any:
    kind, whole = shipped.__name__, inspect.getattr_static(shipped, name, None)
    if inspect.iscoroutinefunction(whole):

        async def coroutine(self: Any, *args: Any) -> Any:
            await asyncio.sleep(0)
            return Nonsense() if PLAN.breaks(kind, name) else await whole(self, *args)

        return coroutine
    if isinstance(whole, classmethod):

        def of_class(cls: Any, *args: Any) -> Any:
            return Nonsense() if PLAN.breaks(kind, name) else whole.__func__(cls, *args)

        return classmethod(of_class)
    if inspect.isfunction(whole):

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return Nonsense() if PLAN.breaks(kind, name) else whole(self, *args, **kwargs)

        return method

    def read(self: Any) -> Any:
        if PLAN.breaks(kind, name):
            return Nonsense()
        value = vars(self).get(name, whole)
        return value.fget(self) if isinstance(value, property) else value

    return property(read, lambda self, value: vars(self).update({name: value}))


class BatchScores(ScriptedModel):
    """A batch model that generates, scores, and knows its tokens."""

    def __init__(self, batch_size: int = 2) -> None:
        super().__init__(default="4")
        self.batch_size = batch_size
        self.prompt_style = "text"

    def load(self) -> None:
        """Nothing is heavy."""

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Four, whatever is asked."""
        return [Completion("4", "stop") for _ in requests]

    def log_likelihoods(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        """Each text is as likely as it is short."""
        for number, request in enumerate(requests):
            assert isinstance(request.decoding, LikelihoodQuery)
            length = len(str(request.prompt))
            yield number, Completion(likelihood=Likelihood(float(length), 1, 1, length))

    def media_kinds(self, *, offline: bool = False) -> frozenset[str]:
        """Text only."""
        return frozenset()

    def encode(self, prompt: Any) -> list[int]:
        """One token a character."""
        return [ord(character) for character in str(prompt)]


class Wire:
    """A transport that answers without a network."""

    def __init__(self, server: Server) -> None:
        self.server = server

    async def send(self, method: str, path: str, body: bytes | None, sink: Sink | None) -> Reply:
        """A completion that says four."""
        message = {"choices": [{"message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}]}
        return Reply(200, json.dumps(message).encode())

    async def close(self) -> None:
        """Nothing is open."""


Transport = breakable(Wire, "transports")
Reader = breakable(LocalDataset, "readers")
Retriever = breakable(FixKRetriever, "retrievers")
Encoder = breakable(CharacterNgramEncoder, "encoders")
Template = breakable(PromptTemplate, "templates")
MultiTurnTemplate = breakable(MultiTurnPromptTemplate, "templates")
Inferencer = breakable(GenInferencer, "inferencers")
MultiTurnInferencer = breakable(MultiTurnGenInferencer, "inferencers")
AsyncModel = breakable(ScriptedModel, "models")
BatchModel = breakable(BatchScores, "models")
Evaluator = breakable(AccEvaluator, "evaluators")
Judged = breakable(GenericLLMEvaluator, "evaluators")
Paired = breakable(PairwiseEvaluator, "evaluators")


class Sums(AccEvaluator):
    """An evaluator whose metric comes from sums over the samples."""

    def sums(self, score: SampleScore) -> Any:
        """The value of one sample, and one."""
        return np.array([score.values["accuracy"], 1.0])

    def statistic(self, sums: Any) -> float:
        """The mean."""
        return float(sums[0] / sums[1])


Corpus = breakable(Sums, "evaluators")


class Together(AccEvaluator):
    """An evaluator that scores all answers at once."""

    def score_all(self, batch: AnswerBatch) -> BatchVerdict:
        """Compare each answer with its gold."""
        each = [float(answer == gold) for answer, gold in zip(batch.predictions, batch.references or (), strict=True)]
        return BatchVerdict({"accuracy": float(np.mean(each))}, {"accuracy": each})


Batch = breakable(Together, "evaluators")


class TogetherJudged(Together):
    """One that needs a judge first."""

    def questions(self, batch: AnswerBatch) -> list[JudgeQuestion]:
        """Ask about each answer."""
        return [JudgeQuestion(place, {"prediction": answer}) for place, answer in enumerate(batch.predictions)]


JudgedBatch = breakable(TogetherJudged, "evaluators")


class Repeating(AccEvaluator):
    """One that gives further scores of repeated answers."""

    def repeated(self, scores: Sequence[Score], samples: Sequence[SampleScore]) -> list[Score]:
        """Give none."""
        return []


Repeated = breakable(Repeating, "evaluators")


Runner = breakable(LocalRunner, "runners")


class EachAlone:
    """Gives each task to a shard of its own."""

    def groups(self, tasks: Sequence[TaskSize]) -> list[list[Chunk]]:
        """Return a group for each task."""
        return [[Chunk(task.name, 0, 1, 1.0)] for task in tasks]


Partitioner = breakable(EachAlone, "partitioners")


def answer_of(text: str) -> Any:
    """Postprocessor of the prediction."""
    return Nonsense() if PLAN.breaks("answer_of", "call") else text


def gold_of(gold: str) -> Any:
    """Postprocessor of the gold."""
    return Nonsense() if PLAN.breaks("gold_of", "call") else gold


def same(prediction: str, gold: str) -> Any:
    """An evaluator that is a function."""
    return Nonsense() if PLAN.breaks("same", "call") else prediction == gold
