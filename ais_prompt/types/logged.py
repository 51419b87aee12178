"""The neutral record of a log of another tool: what a reader returns, whatever the tool.

What a log does not hold stays unknown: None or empty, never a default of this program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, field

from ais_prompt.types.request import Completion, Prompts

PartConfig: TypeAlias = Mapping[str, Any]
"""A part as a config names it: ``type`` and arguments."""


class LogRule(NamedTuple):
    """How a tool scores: parts of this program that may give the same verdicts.

    Attributes:
        postprocessor: extracts the answer; None takes the whole text.
        evaluator: compares it with the gold.
    """

    postprocessor: PartConfig | None
    evaluator: PartConfig


class LoggedAnswer(Struct, frozen=True):
    """One answer of a log.

    Attributes:
        id: of the question in the log. Several answers to a question follow each other.
        completion: the answer, or why there is none; ``finish_reason`` is ``unknown`` if the log does not tell.
        gold: the right answer, or a list of alternatives; None if unknown.
        question: its text without instructions and examples; empty if the log has only whole prompts.
        choices: the options of the question, in order.
        prompt: the prompt as sent; empty if unknown.
        extracted: the answer that the tool read in the text; None if it found none, or does not tell.
        values: metric → value, the main metric first; empty if the tool did not score the answer.
        decoding: fields of the request that control generation.
        is_body: whether ``decoding`` is from the whole body, so that other fields were not sent.
        labels: label → its measured values, where the answer is chosen from labels.
        reason: what the tool notes about its score, such as how a conversation ended; empty if it notes nothing.
    """

    id: str
    completion: Completion
    gold: Any = None
    question: str = ""
    choices: Sequence[str] = ()
    prompt: Prompts = ""
    extracted: Any = None
    values: Mapping[str, float] = field(default_factory=dict)
    decoding: Mapping[str, Any] = field(default_factory=dict)
    is_body: bool = False
    labels: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    reason: str = ""


class Reducer(NamedTuple):
    """How a tool makes one value of several answers to a question, where that is not their mean.

    Attributes:
        name: of the tool.
        answers: to each question.
        apply: takes the values of the answers, at least one.
    """

    name: str
    answers: int
    apply: Callable[[Sequence[float]], float]

    @property
    def mean_metric(self) -> str:
        """Name of the mean over the answers, which is shown beside the score of the tool."""
        return f"avg@{self.answers}"


class LoggedTask(Struct, frozen=True):
    """One model on one dataset in a log.

    Attributes:
        tool: that wrote the log.
        model, dataset: as the log names them.
        answers: reads the answers.
        where: the file.
        version: of the tool; empty if unknown.
        scorer: the tool's name of what scores; empty if nothing does.
        rules: how the tool may score, as its log tells; the first one that gives its verdicts is taken.
        extracts: whether the log has extracted answers.
        reported: metric → the score that the tool reports.
        lower_is_better: metric → whether less of it is better, as far as the log says it.
        reducer: makes one value of several answers to a question; None for their mean.
        further: score → what it makes of the main values of all answers to a question, beside their mean.
        asked: how the prompts were made: few-shot examples, template, instructions.
        notes: what a user must know.
    """

    tool: str
    model: str
    dataset: str
    answers: Callable[[], Iterator[LoggedAnswer]]
    where: str
    version: str = ""
    scorer: str = ""
    rules: Sequence[LogRule] = ()
    extracts: bool = False
    reported: Mapping[str, float] = field(default_factory=dict)
    lower_is_better: Mapping[str, bool] = field(default_factory=dict)
    reducer: Reducer | None = None
    further: Mapping[str, Callable[[Sequence[float]], float]] = field(default_factory=dict)
    asked: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
