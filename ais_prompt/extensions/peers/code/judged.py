"""Score what a judge says of answers with a function of OpenCompass: ratings, and comparisons with other models."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.evaluators.base import AnswerBatch, BatchVerdict, JudgeQuestion
from ais_prompt.extensions.peers.code.arrow_file import write_rows
from ais_prompt.extensions.peers.code.baselines import AnsweredModel
from ais_prompt.extensions.peers.code.calls import CheckCall, JudgedCall
from ais_prompt.extensions.peers.code.judge_prompts import PROMPT_LIST, ShownAnswer, columns, orders, reference, rounds
from ais_prompt.extensions.peers.code.session import CHECK_SECONDS, SCORE_SECONDS, call_peer
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.prompts.prompt_list import column_marks, compile_text
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score

JUDGED = "judged"
"""The metric of a judge whose answers nothing reads: the share of answers that it was asked about."""


class _Asked(Struct, frozen=True):
    """A question to the judge.

    Attributes:
        question: what it is shown.
        reference: what the function knows of it.
    """

    question: JudgeQuestion
    reference: Any


@EVALUATORS.register_module()
class PeerJudgeEvaluator:
    """Score what a judge says with a function of OpenCompass, a ``dict_postprocessor``, in a process of its own.

    The judge sees one answer, or an answer and that of a baseline. Each number that the function returns is a metric,
    as it is. Comparisons that it returns as ``matches`` become ``win_rate``, in percent; a tie counts half.
    Source: OpenCompass, ``LMEvaluator``.

    Args:
        function: its dotted name; None keeps what the judge says, without a score.
        kwargs: its further arguments.
        baselines: models to compare with: ``dict(abbr=..., path=...)``, where the path is a JSON file of their answers
            as OpenCompass writes them, or a folder with one that is named after the dataset.
        order: which answer the judge sees first: that of the baseline (``first``), either (``random``), or the question
            is asked in both orders (``double``).
        pack: show all rounds of a dialogue as one text.
        keep_predictions: pass the answers to the function.
        prompt_list: the gold has prompts of its own as ``judge_prompt_list``; each is asked.
    """

    metrics: tuple[str, ...] = (JUDGED,)

    def __init__(
        self,
        function: str | None = None,
        kwargs: Mapping[str, Any] | None = None,
        baselines: Sequence[Mapping[str, str]] = (),
        order: Literal["first", "random", "double"] = "first",
        pack: bool = False,
        keep_predictions: bool = False,
        prompt_list: bool = False,
    ) -> None:
        self._function = function
        self._kwargs = dict(kwargs or {})
        self._baselines = [AnsweredModel(one["abbr"], one["path"]) for one in baselines]
        self._order = order
        self._pack = pack
        self._keep_predictions = keep_predictions
        self._prompt_list = prompt_list

    @staticmethod
    def check_arguments(
        function: str | None = None,
        kwargs: Mapping[str, Any] | None = None,
        baselines: Sequence[Mapping[str, str]] = (),
        **_: Any,
    ) -> None:
        """Import the function, and compare the arguments with its signature.

        Raises:
            AisPromptError: as `ais_prompt.extensions.peers.code.session.call_peer`; or a baseline is not complete.
        """
        for one in baselines:
            if not isinstance(one, Mapping) or {"abbr", "path"} - one.keys():
                raise ConfigError(f"a baseline is {one!r}", fix="baselines=[dict(abbr='...', path='...')]")
        if function is not None:
            call_peer(CheckCall("judged", function, kwargs or {}), function, CHECK_SECONDS)

    def questions(self, batch: AnswerBatch) -> list[JudgeQuestion]:
        """Return what the judge is asked.

        Raises:
            DataError: answers of a baseline are absent.
        """
        return [asked.question for group in self._groups(batch) for asked in group]

    def score_all(self, batch: AnswerBatch) -> BatchVerdict:
        """Score all answers.

        Raises:
            AisPromptError: as `ais_prompt.extensions.peers.code.session.call_peer`.
        """
        if self._function is None:
            return BatchVerdict({JUDGED: 1.0}, {JUDGED: [1.0] * len(batch.predictions)})
        metrics: dict[str, float] = {}
        each: Mapping[str, Sequence[float]] = {}
        said = iter(batch.judgements)
        with tempfile.TemporaryDirectory() as folder:
            rows = None
            if "dataset" in self._wanted:
                rows = str(Path(folder) / "rows.arrow")
                answers = zip(batch.rows(), batch.predictions, strict=True)
                write_rows([{**row, "prediction": str(answer)} for row, answer in answers], rows)
            for number, group in enumerate(self._groups(batch)):
                output = {
                    str(i): {"origin_prompt": "", "prediction": next(said), "gold": asked.reference}
                    for i, asked in enumerate(group)
                }
                call = JudgedCall(self._function, self._kwargs, output, batch.model, rows)
                found = call_peer(call, self._function, SCORE_SECONDS)
                prefix = f"{self._baselines[number].abbr}/" if len(self._baselines) > 1 else ""
                metrics |= {f"{prefix}{name}": value for name, value in found["metrics"].items()}
                each = found["each"] if not self._baselines and len(group) == len(batch.predictions) else {}
        return BatchVerdict(metrics, each)

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002  # never scored alone
        """Refuse a single answer.

        Raises:
            ConfigError: always: it needs all answers, and what a judge says of them.
        """
        what = "PeerJudgeEvaluator scores all answers of a dataset together"
        raise ConfigError(what, fix="use it as the evaluator itself, not inside another one")

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the means of what is known of each answer."""
        return mean_scores(self.metrics, scores, best=None)

    def _groups(self, batch: AnswerBatch) -> Iterator[list[_Asked]]:
        """Yield the questions that are scored together: all of them, or those about each baseline."""
        rows = batch.rows()
        golds = batch.references or [None] * len(rows)
        own = [
            ShownAnswer(batch.model, rounds(row.get("dialogue"), answer) if isinstance(answer, list) else str(answer))
            for row, answer in zip(rows, batch.predictions, strict=True)
        ]
        if not self._baselines:
            asked = (self._single(position, rows[position], golds[position], one) for position, one in enumerate(own))
            yield [question for questions in asked for question in questions]
        names = [baseline.abbr for baseline in self._baselines]
        numbers = batch.row_numbers() if self._baselines else ()
        for baseline in self._baselines:
            answers = baseline.answers(batch.dataset)
            group = []
            for position, order in orders(self._order, numbers):
                both = (ShownAnswer(baseline.abbr, answers.of(numbers[position])), own[position])
                shown = [both[place] for place in order]
                known = reference(golds[position], shown, names, keep_predictions=self._keep_predictions)
                group.append(self._asked(position, rows[position], shown, known))
            yield group

    def _single(self, position: int, row: Mapping[str, Any], gold: Any, own: ShownAnswer) -> list[_Asked]:
        """Return the questions about one answer."""
        if not self._prompt_list:
            return [self._asked(position, row, [own], reference(gold, [own]))]
        if not isinstance(gold, Mapping) or not isinstance(gold.get(PROMPT_LIST), list):
            raise DataError(f"the gold has no {PROMPT_LIST}", where=f"row {position}", fix="check output_column")
        known = {key: value for key, value in gold.items() if key != PROMPT_LIST}
        return [
            self._asked(
                position,
                row,
                [ShownAnswer(own.model, str(prompt).replace("{prediction}", own.answer))],
                {**known, "judge_prompt": prompt},
            )
            for prompt in gold[PROMPT_LIST]
        ]

    def _asked(self, position: int, row: Mapping[str, Any], shown: Sequence[ShownAnswer], known: Any) -> _Asked:
        added = {**columns(shown, pack=self._pack), "reference": known, "obj_gold": known}
        return _Asked(JudgeQuestion(position, {**_filled(row, added), **added}), known)

    @cached_property
    def _wanted(self) -> Sequence[str]:
        """The parameters of the function."""
        assert self._function is not None
        call = CheckCall("judged", self._function, self._kwargs)
        found: list[str] = call_peer(call, self._function, CHECK_SECONDS)
        return found


def _filled(row: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a row that have the answers in them: some rows bring the judge's prompt along."""
    values = column_marks(added)
    texts = ((name, compile_text(value, tuple(values))) for name, value in row.items() if isinstance(value, str))
    return {name: text.fill(values) for name, text in texts if text.keys}
