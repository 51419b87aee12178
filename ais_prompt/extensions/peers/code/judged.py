"""Score the text of a judge with a function of OpenCompass: ratings, and comparisons with other models.

The columns of the judge's prompt are those of OpenCompass' ``LMEvaluator`` and ``SubjectiveEvalTask``. Answers of other
models are read from the files in which OpenCompass keeps them.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, Final, Literal, TypeAlias

from msgspec import Struct

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.evaluators import AnswerBatch, BatchVerdict, JudgeQuestion
from ais_prompt.extensions.peers.code.calls import CheckCall, JudgedCall, write_rows
from ais_prompt.extensions.peers.code.session import CHECK_SECONDS, SCORE_SECONDS, call_peer
from ais_prompt.extensions.peers.data_path import data_folders
from ais_prompt.extensions.peers.tables import SUMMARIES, Judgements
from ais_prompt.metrics import mean_scores
from ais_prompt.prompts import column_marks, compile_text
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
    as it is; with several baselines ``BASELINE/METRIC``, and METRIC is their mean. Comparisons that it returns as
    ``matches`` become ``win_rate``, in percent; a tie counts half. `ais_prompt.extensions.peers.tables` rates models by
    them.
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
        summarizer: a key of `ais_prompt.extensions.peers.tables.SUMMARIES`, whose numbers come first.
        ratings: what the table of ratings is like: fields of `ais_prompt.extensions.peers.tables.RatingOptions`.
    """

    runs_code: ClassVar = True

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
        summarizer: str | None = None,
        ratings: Mapping[str, Any] | None = None,  # noqa: ARG002  # read where the table is made
    ) -> None:
        self._summarizer = summarizer
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
        if self._function is None and self._summarizer is None:
            return BatchVerdict({JUDGED: 1.0}, {JUDGED: [1.0] * len(batch.predictions)})
        found: dict[str, BatchVerdict] = {}
        said = iter(batch.judgements)
        with tempfile.TemporaryDirectory() as folder:
            rows = None
            if "dataset" in self._wanted:
                rows = str(Path(folder) / "rows.arrow")
                answers = zip(batch.rows(), batch.predictions, strict=True)
                write_rows([{**row, "prediction": str(answer)} for row, answer in answers], rows)
            bases = [one.abbr for one in self._baselines] or [""]
            for base, group in zip(bases, self._groups(batch), strict=True):
                output = {
                    str(i): {"origin_prompt": "", "prediction": next(said), "gold": asked.reference}
                    for i, asked in enumerate(group)
                }
                found[base] = self._numbers(output, base, batch, rows)
        if len(found) == 1:
            [only] = found.values()
            return only
        battles = [battle for one in found.values() for battle in one.battles]
        return BatchVerdict(_of_baselines({base: one.metrics for base, one in found.items()}), {}, battles)

    def _numbers(
        self, output: Mapping[str, Mapping[str, Any]], base: str, batch: AnswerBatch, rows: str | None
    ) -> BatchVerdict:
        """Return what the summarizer and the function say of the replies, and of each answer if it is judged alone."""
        metrics: dict[str, float] = {}
        each: Mapping[str, Sequence[float]] = {}
        battles: Sequence[Mapping[str, Any]] = ()
        if self._function:
            call = JudgedCall(self._function, self._kwargs, output, batch.model, rows)
            found = call_peer(call, self._function, SCORE_SECONDS)
            metrics = found["metrics"]
            battles = [{**battle, "base": base} for battle in found["battles"]]
            each = found["each"] if not base and len(output) == len(batch.predictions) else {}
        if self._summarizer:
            replies = [(str(one["prediction"]), one["gold"]) for one in output.values()]
            first = SUMMARIES[self._summarizer](Judgements(replies, base, self._kwargs))
            metrics = first | {name: value for name, value in metrics.items() if name not in first}
        return BatchVerdict(metrics, each, battles)

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
        # Some rows bring the judge's prompt along: their texts have the answers in them.
        values = column_marks(added)
        texts = ((name, compile_text(value, tuple(values))) for name, value in row.items() if isinstance(value, str))
        filled = {name: text.fill(values) for name, text in texts if text.keys}
        return _Asked(JudgeQuestion(position, {**filled, **added}), known)

    @cached_property
    def _wanted(self) -> Sequence[str]:
        """The parameters of the function."""
        if self._function is None:
            return ()
        call = CheckCall("judged", self._function, self._kwargs)
        found: list[str] = call_peer(call, self._function, CHECK_SECONDS)
        return found


def _of_baselines(found: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each metric over the baselines, as far as all have it, and the metrics of each baseline."""
    shared = [name for name in next(iter(found.values())) if all(name in metrics for metrics in found.values())]
    means = {name: fmean(metrics[name] for metrics in found.values()) for name in shared}
    return means | {f"{base}/{name}": one for base, metrics in found.items() for name, one in metrics.items()}


Order: TypeAlias = Literal["first", "random", "double"]

SEED: Final = 666
"""The seed of the order in which two answers are shown."""
PROMPT_LIST: Final = "judge_prompt_list"
"""Key of a gold with several prompts, each of which is a question of its own."""

_ENGLISH: Final = re.compile(r"\b[a-zA-Z]+\b")
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")


class ShownAnswer(Struct, frozen=True):
    """An answer in the prompt of a judge.

    Attributes:
        model: who gave it.
        answer: a text, or the rounds of a dialogue as ``dict(round=…, user=…, assistant=…)``.
    """

    model: str
    answer: Any


def rounds(dialogue: Any, answers: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rounds of a dialogue: what the user says in the row, and what the model answered.

    Args:
        dialogue: the column of that name, a list of messages; anything else if the turns are in other columns.
        answers: one for each turn of the assistant; those beyond the dialogue are left out.
    """
    turns = [turn for turn in dialogue if isinstance(turn, Mapping)] if isinstance(dialogue, list) else []
    said = (
        [str(turn.get("content", "")) for turn in turns if turn.get("role") == "user"] if turns else [""] * len(answers)
    )
    pairs = zip(said, answers, strict=False)
    return [{"round": n, "user": user, "assistant": answer} for n, (user, answer) in enumerate(pairs, 1)]


def columns(shown: Sequence[ShownAnswer], *, pack: bool) -> dict[str, Any]:
    """Return the columns for the answers of a question, the first of which is ``prediction``.

    Args:
        shown: the answers, in their order.
        pack: show all rounds of a dialogue as one text; else each is a column.
    """
    found: dict[str, Any] = {}
    for number, one in enumerate(shown):
        name = f"prediction{number + 1}" if number else "prediction"
        if isinstance(one.answer, str):
            found[name] = one.answer
            found[f"{name}_en_word_count"] = len(_ENGLISH.findall(one.answer))
            found[f"{name}_cn_word_count"] = len(_CHINESE.findall(one.answer))
        elif pack:
            found[name] = str(one.answer)
        else:
            # Here the peer counts from 1: prediction_r1, prediction1_r1.
            name = f"prediction{number}" if number else "prediction"
            found |= {f"{name}_r{turn}": each["assistant"] for turn, each in enumerate(one.answer, 1)}
    return found


def orders(order: Order, rows: Sequence[int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the comparisons of two answers: the position in ``rows``, and which answer comes first and second.

    Args:
        order: as they are (``first``), shuffled, or each question twice, in both orders.
        rows: numbers of the rows, from 0; the order of a row does not depend on what other rows there are.
    """
    drawn = random.Random(SEED)
    shuffled = []
    for _ in range(max(rows, default=-1) + 1 if order == "random" else 0):
        pair = [0, 1]
        drawn.shuffle(pair)
        shuffled.append((pair[0], pair[1]))
    for position, row in enumerate(rows):
        yield position, shuffled[row] if order == "random" else (0, 1)
    if order == "double":
        yield from ((position, (1, 0)) for position in range(len(rows)))


def reference(
    gold: Any, shown: Sequence[ShownAnswer], baselines: Sequence[str] = (), *, keep_predictions: bool = False
) -> Any:
    """Return what a postprocessor knows of a question: the gold, and for a comparison, who gave which answer.

    Args:
        gold: the output column.
        shown: the answers, in their order.
        baselines: names of the models that answers are compared with.
        keep_predictions: whether it needs the answers too.
    """
    if len(shown) < 2:
        return gold
    found = dict(gold) if isinstance(gold, Mapping) else {}
    for number, one in enumerate(shown, 1):
        found[f"answer{number}"] = one.model
        if keep_predictions:
            found[f"prediction{number}"] = one.answer
    return {**found, "base_models": list(baselines)}


class KnownAnswers(Struct, frozen=True):
    """The answers of a model to a dataset.

    Attributes:
        file: where they are.
        entries: number of the row → its answer.
    """

    file: Path
    entries: Mapping[int, Any]

    def of(self, row: int) -> Any:
        """Return the answer to a row: a text, or the rounds of a dialogue.

        Raises:
            DataError: there is none.
        """
        if row not in self.entries:
            raise DataError(f"there is no answer to row {row}", where=str(self.file), fix="give the whole file")
        return self.entries[row]


class AnsweredModel(Struct, frozen=True):
    """A model whose answers are there already.

    Attributes:
        abbr: its name.
        path: a JSON file ``{"0": {"prediction": …}, …}``, or a folder with one for each dataset, whole (``abbr.json``)
            or in parts (``abbr_0.json``, …).
    """

    abbr: str
    path: str

    def answers(self, dataset: str) -> KnownAnswers:
        """Read its answers to a dataset.

        Raises:
            DataError: they are absent, or cannot be read.
        """
        places = [folder / self.path for folder in data_folders(Path(self.path))]
        for place in places:
            if files := _files(place, dataset):
                return KnownAnswers(files[0], dict(enumerate(answer for file in files for answer in _read(file))))
        searched = ", ".join(str(place) for place in dict.fromkeys(places))
        raise DataError(
            f"there are no answers of the model {self.abbr!r} to {dataset!r} (searched: {searched})",
            fix=f"put its predictions there as {dataset}.json, or set COMPASS_DATA_CACHE to the folder of {self.path}",
        )


def _files(place: Path, dataset: str) -> list[Path]:
    if place.is_file():
        return [place]
    if (whole := place / f"{dataset}.json").is_file():
        return [whole]
    parts: list[Path] = []
    while (part := place / f"{dataset}_{len(parts)}.json").is_file():
        parts.append(part)
    return parts


def _read(file: Path) -> list[Any]:
    try:
        entries = json.loads(file.read_text("utf-8"))
        return [entries[str(number)]["prediction"] for number in range(len(entries))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"it does not hold predictions: {type(error).__name__}: {error}"
        raise DataError(what, where=str(file), fix='write it as {"0": {"prediction": "..."}, ...}') from error
