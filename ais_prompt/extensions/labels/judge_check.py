"""Compare the verdicts of judges with labels of people, and with each other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypedDict

from msgspec import Struct, field

from ais_prompt.data import read_file
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.extensions.labels.labelled import Estimated
from ais_prompt.judges import evaluator_in_parts, krippendorff_alpha
from ais_prompt.metrics import Z, wilson_interval
from ais_prompt.report import StoredTask, read_stored_results
from ais_prompt.store import locate_run
from ais_prompt.types import Document
from ais_prompt.utils import is_missing, listed

_MET: Final = 0.5
"""The mark from which a criterion counts as met."""
_LABELS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("1", "1.0", "true", "right", "correct", "yes"), True),
    **dict.fromkeys(("0", "0.0", "false", "wrong", "incorrect", "no"), False),
}
LabelKey: TypeAlias = tuple[str, str]
"""The id of a sample, and the criterion that a label is about; empty for a label of the whole answer."""

_ROUNDING: Final = 1e-12


class Judge(Struct, frozen=True):
    """What is known of the judge of one task.

    Attributes:
        task: ``model/dataset``.
        run: name of the run folder.
        verdicts: what it judged → whether it calls it right, or finds the criterion met.
        confusion: its verdicts beside the labels.
        unjudged: labelled answers without a verdict.
    """

    task: str
    run: str
    verdicts: Mapping[LabelKey, bool]
    confusion: Confusion
    unjudged: int

    @property
    def score(self) -> float:
        """The share of right answers as judged."""
        return sum(self.verdicts.values()) / len(self.verdicts)

    @property
    def corrected(self) -> Estimated | None:
        """The share of right answers, corrected for the errors of the judge."""
        return self.confusion.corrected(sum(self.verdicts.values()), len(self.verdicts))

    def lines(self) -> Iterator[str]:
        """Yield what the command prints."""
        without = f", {self.unjudged:,} more without a verdict" if self.unjudged else ""
        found, kappa = self.confusion, self.confusion.kappa
        yield f"{self.task} of {self.run}: {found.n:,} labelled answers{without}"
        yield f"  sensitivity      {_percent(found.sensitivity, 'no right answer is labelled')}"
        yield f"  specificity      {_percent(found.specificity, 'no wrong answer is labelled')}"
        shown = (
            "unknown: nothing varies" if kappa is None else f"{kappa.value:.2f}  [{kappa.low:.2f}, {kappa.high:.2f}]"
        )
        yield f"  Cohen's kappa    {shown}"
        yield f"  score            {100 * self.score:.1f} % as judged"
        missing = "unknown: the judge is no better than chance, or labels of a kind are missing"
        yield f"  corrected score  {_percent(self.corrected, missing)}\n"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        measures = {
            "sensitivity": self.confusion.sensitivity,
            "specificity": self.confusion.specificity,
            "kappa": self.confusion.kappa,
            "corrected": self.corrected,
        }
        return {
            "run": self.run,
            "task": self.task,
            "labelled": self.confusion.n,
            "unjudged": self.unjudged,
            "score": self.score,
            **{name: None if one is None else list(one) for name, one in measures.items()},
        }


def _percent(found: Estimated | None, missing: str) -> str:
    if found is None:
        return missing
    return f"{100 * found.value:.1f} %  [{100 * found.low:.1f} %, {100 * found.high:.1f} %]"


class JudgeCheck(Struct, frozen=True):
    """What `judge_check` finds.

    Attributes:
        judges: one for each run, and one for each criterion that is labelled.
        alpha: agreement of the judges; None for one judge, or where nothing varies.
        answers: answers that two judges or more have rated.
    """

    judges: Sequence[Judge]
    alpha: float | None
    answers: int


def check_judges(runs: Sequence[str], labels: Path, work_dir: Path, task: str | None = None) -> JudgeCheck:
    """Measure judges against labels.

    Args:
        runs: run folders or their names; the same answers, rated by one judge each.
        labels: a file of rows with ``id``, that of a sample, and ``label``, whether its answer is right; of an
            answer that is judged by criteria also ``criterion``, its name, its text or its number from 1; ``label``
            then says whether it is met.
        work_dir: where run folders are.
        task: ``model/dataset``, if runs have several.

    Raises:
        ConfigError: there is no such run or task, or a run has several tasks.
        DataError: the labels cannot be used, or no labelled answer is in a run.
        StoreError: a run cannot be read.
    """
    known = read_labels(labels)
    each = [_judge(run, known, work_dir, task, labels) for run in runs]
    whole = [judge for judge, *_ in each]
    ids = dict.fromkeys(sample for judge in whole for sample in judge.verdicts)
    rated = [[judge.verdicts.get(sample) for judge in whole] for sample in ids]
    several = sum(len([one for one in row if one is not None]) > 1 for row in rated)
    return JudgeCheck(list(chain(*each)), krippendorff_alpha(rated) if len(whole) > 1 else None, several)


def _judge(run: str, labels: Mapping[LabelKey, bool], work_dir: Path, task: str | None, file: Path) -> list[Judge]:
    """Return what is known of a judge, first as a whole, then of each criterion that is labelled."""
    folder = locate_run(work_dir, run)
    stored = _task(read_stored_results(folder).tasks, task, str(folder.root))
    verdicts = _verdicts(stored, {criterion for _, criterion in labels})
    samples = {sample.prediction.sample_id for sample in stored.samples()}
    asked = [key for key in labels if key[0] in samples]

    def measured(name: str, criteria: Collection[str]) -> Judge:
        own = {key: verdict for key, verdict in verdicts.items() if key[1] in criteria}
        labelled = [key for key in asked if key[1] in criteria]
        pairs = [(own[key], labels[key]) for key in labelled if key in own]
        return Judge(name, folder.root.name, own, Confusion.of(pairs), len(labelled) - len(pairs))

    criteria = list(dict.fromkeys(criterion for _, criterion in labels))
    whole = measured(stored.spec.name, criteria)
    if not whole.confusion.n:
        what = f"no labelled answer has a verdict in {folder.root}"
        raise DataError(what, where=str(file), fix="use the ids of its predictions: predictions/MODEL/DATASET.jsonl")
    found = [measured(f"{stored.spec.name} {one}", [one]) for one in criteria if one]
    return [whole, *(judge for judge in found if judge.confusion.n)]


def _verdicts(stored: StoredTask, criteria: Collection[str]) -> dict[LabelKey, bool]:
    """Return the verdict on each answer, or on some criteria, by the first evaluator that asks a judge."""
    scorings = stored.spec.dataset.eval.by_evaluator
    scoring = next((one for one in scorings if one.judge is not None), scorings[0])
    metric = next(score.metric for score in stored.scores if score.evaluator in ("", scoring.name))
    in_parts = evaluator_in_parts(scoring.evaluator)
    found: dict[LabelKey, bool] = {}
    for sample in stored.samples():
        score = None if sample.score is None else sample.score.by(scoring.name)
        if score is not None and in_parts is not None and score.verdicts:
            marks = in_parts.marks_by_name(score)
            found |= {(score.sample_id, name): mark >= _MET for name, mark in marks.items() if name in criteria}
        elif score is not None and in_parts is None and score.status != "failed" and metric in score.values:
            found[score.sample_id, ""] = bool(score.values[metric])
    return found


def _task(tasks: Sequence[StoredTask], wanted: str | None, where: str) -> StoredTask:
    """Return the task that is meant.

    Raises:
        ConfigError: there is no such task, several are possible, or it has no scores of right and wrong.
    """
    scored = [one for one in tasks if one.scores and one.scores[0].fraction]
    names = [one.spec.name for one in scored]
    found = [one for one in scored if wanted in (None, one.spec.name)]
    if len(found) != 1:
        what = f"the run has no scored task {wanted!r}" if wanted else f"the run has {len(found)} scored tasks"
        raise ConfigError(what, where=where, fix=f"name one: --task {names[0] if names else 'MODEL/DATASET'}")
    return found[0]


def read_labels(file: Path) -> dict[LabelKey, bool]:
    """Return what is labelled → label of a file.

    Raises:
        DataError: it lacks a column, an id is there twice, or a label is neither right nor wrong.
    """
    table = read_file(file)
    for column in ("id", "label"):
        if column not in table.columns:
            what = f"the labels have no column {column!r} (there are {listed(table.columns)})"
            raise DataError(what, where=str(file), fix='write rows such as {"id": "68ce634d8fd5", "label": true}')
    found: dict[LabelKey, bool] = {}
    for number, row in enumerate(table):
        criterion = row.get("criterion")
        where, sample = f"{file}, row {number}", (str(row["id"]), "" if is_missing(criterion) else str(criterion))
        label = _LABELS.get(str(row["label"]).strip().casefold())
        if label is None:
            what = f"the label {row['label']!r} is neither right nor wrong"
            raise DataError(what, where=where, fix=f"write one of {listed(_LABELS)}")
        if sample in found:
            what = " with the criterion ".join(map(repr, filter(None, sample)))
            raise DataError(f"the id {what} is there twice", where=where, fix="keep one of them")
        found[sample] = label
    return found


class MeasuredJudge(TypedDict):
    """A judge against labels of people: shares with their 95 % intervals, null if unknown."""

    run: str
    task: str
    labelled: int
    unjudged: int
    score: float
    sensitivity: list[float] | None
    specificity: list[float] | None
    kappa: list[float] | None
    corrected: list[float] | None


class JudgeCheckDocument(Document, kw_only=True):
    """What ``judge-check`` prints; each measure is the value and both ends of its interval.

    Attributes:
        judges: one entry for each judge.
        alpha: Krippendorff's alpha of several judges; null for one, or if nothing varies.
    """

    kind: Literal["judge-check"]
    judges: list[MeasuredJudge] = field(default_factory=list)
    alpha: float | None = None


class Confusion(Struct, frozen=True):
    """Verdicts of a judge beside labels: how often each pair occurs.

    Attributes:
        true_right: right answers that the judge calls right.
        false_right: wrong answers that it calls right.
        true_wrong: wrong answers that it calls wrong.
        false_wrong: right answers that it calls wrong.
    """

    true_right: int = 0
    false_right: int = 0
    true_wrong: int = 0
    false_wrong: int = 0

    @classmethod
    def of(cls, pairs: Sequence[tuple[bool, bool]]) -> Confusion:
        """Count pairs of verdict and label, each true for a right answer."""
        counts = Counter(pairs)
        return cls(counts[True, True], counts[True, False], counts[False, False], counts[False, True])

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.true_right + self.false_right + self.true_wrong + self.false_wrong

    @property
    def sensitivity(self) -> Estimated | None:
        """The share of right answers that the judge calls right; None without a right answer."""
        return _share(self.true_right, self.true_right + self.false_wrong)

    @property
    def specificity(self) -> Estimated | None:
        """The share of wrong answers that the judge calls wrong; None without a wrong answer."""
        return _share(self.true_wrong, self.true_wrong + self.false_right)

    @property
    def kappa(self) -> Estimated | None:
        """Cohen's kappa: the agreement beyond that of chance. None if verdicts or labels do not vary.

        The interval is that of the large-sample variance (Fleiss, Cohen, Everitt 1969, equation 13). If all verdicts
        agree, or none does, this variance is 0, and the ends are those of Wilson's interval of the share that agrees.
        """
        table = [[self.true_right, self.false_right], [self.false_wrong, self.true_wrong]]
        shares = [[cell / self.n for cell in row] for row in table] if self.n else [[0.0, 0.0], [0.0, 0.0]]
        rows = [sum(row) for row in shares]
        columns = [sum(column) for column in zip(*shares, strict=True)]
        observed = shares[0][0] + shares[1][1]
        expected = sum(row * column for row, column in zip(rows, columns, strict=True))
        if not self.n or expected == 1:
            return None
        kappa = (observed - expected) / (1 - expected)
        diagonal = sum(shares[i][i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in range(2))
        others = (1 - kappa) ** 2 * sum(shares[i][j] * (columns[i] + rows[j]) ** 2 for i, j in ((0, 1), (1, 0)))
        variance = diagonal + others - (kappa - expected * (1 - kappa)) ** 2
        half = Z * math.sqrt(max(0.0, variance) / self.n) / (1 - expected)
        low, high = kappa - half, kappa + half
        if variance <= _ROUNDING:
            low, high = ((end - expected) / (1 - expected) for end in wilson_interval(observed * self.n, self.n))
        return Estimated(kappa, max(-1.0, low), min(1.0, high))

    def corrected(self, right: int, n: int) -> Estimated | None:
        """Return the share of right answers that a judge with these errors saw, from the share that it calls right.

        The value is the estimate of Rogan and Gladen 1978, the interval that of Lang and Reiczigel 2014, which also
        counts how few labels there are. None if the judge is no better than chance, or a kind of label is missing.

        Args:
            right: answers that the judge called right.
            n: answers that it judged.
        """
        rights, wrongs = self.true_right + self.false_wrong, self.true_wrong + self.false_right
        if not (rights and wrongs and n):
            return None
        youden = self.true_right / rights + self.true_wrong / wrongs - 1
        if youden <= 0:
            return None
        value = min(1.0, max(0.0, (right / n + self.true_wrong / wrongs - 1) / youden))
        observed = (right + Z * Z / 2) / (n + Z * Z)
        sensitivity, specificity = (self.true_right + 1) / (rights + 2), (self.true_wrong + 1) / (wrongs + 2)
        youden = sensitivity + specificity - 1
        if youden <= 0:
            return None
        share = min(1.0, max(0.0, (observed + specificity - 1) / youden))
        by_right = share * sensitivity * (1 - sensitivity) / (rights + 2)
        by_wrong = (1 - share) * specificity * (1 - specificity) / (wrongs + 2)
        centre = share + 2 * Z * Z * (by_right - by_wrong)
        variance = observed * (1 - observed) / (n + Z * Z) + share * by_right + (1 - share) * by_wrong
        half = Z * math.sqrt(variance) / youden
        return Estimated(value, max(0.0, min(value, centre - half)), min(1.0, max(value, centre + half)))


def _share(count: int, n: int) -> Estimated | None:
    return Estimated(count / n, *wilson_interval(count, n)) if n else None
