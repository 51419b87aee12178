"""The labels of people in a run: which answers they label, and what their labels say of the score of a task.

That is how far people agree, the share of right answers, corrected by the verdicts of a judge, and which labels help
most.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypedDict

from msgspec import Struct, field

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.labels.label_files import METRIC, Label, Selection, agreed, drawn_labels, people_of
from ais_prompt.judges import krippendorff_alpha
from ais_prompt.metrics import Z
from ais_prompt.report import StoredSample, StoredTask, read_stored_results
from ais_prompt.store import RunFolder
from ais_prompt.types import Document, SampleScore
from ais_prompt.utils import counted, digest, listed

NEXT: Final = 20
"""Labels that an advice is about."""


class AnswerToLabel(NamedTuple):
    """An answer to label.

    Attributes:
        task: whose it is.
        sample: the answer, and how it was scored.
        selection: how it was chosen.
    """

    task: StoredTask
    sample: StoredSample
    selection: Selection


def tasks_to_label(folder: RunFolder, wanted: str | None) -> list[StoredTask]:
    """Return the tasks whose answers are labelled: the wanted task, else those with a judge, else all.

    Raises:
        ConfigError: the run has no such task.
        StoreError: the run cannot be read.
    """
    tasks = read_stored_results(folder).tasks
    if wanted is not None:
        found = [task for task in tasks if task.spec.name == wanted]
        if not found:
            names = listed(task.spec.name for task in tasks)
            what = f"the run has no answers of a task {wanted!r}"
            raise ConfigError(what, where=str(folder.root), fix=f"name one of these: --task {names}")
        return found
    judged = [task for task in tasks if any(one.judge for one in task.spec.dataset.eval.by_evaluator)]
    return judged or list(tasks)


def choose_answers(tasks: Sequence[StoredTask], number: int, name: str, *, disagreed: bool) -> list[AnswerToLabel]:
    """Return the answers that a person labels.

    All people get the same answers, so that their agreement is known, each in an order of their own.

    Args:
        tasks: with these answers.
        number: so many are drawn at random; a higher number adds to those of a lower one.
        name: of the person.
        disagreed: draw from the answers on which judges disagree.

    Raises:
        ConfigError: there is no such answer.
        StoreError, DataError: they cannot be read.
    """
    keys = [
        (digest([task.spec.name, sample.prediction.sample_id]), place, sample.prediction.sample_id)
        for place, task in enumerate(tasks)
        for sample in task.samples()
        if not sample.prediction.failed and (not disagreed or _judges_disagree(sample.score))
    ]
    chosen = {(place, sample) for _, place, sample in sorted(keys)[:number]}
    selection: Selection = "disagreed" if disagreed else "random"
    answers = [
        AnswerToLabel(task, sample, selection)
        for place, task in enumerate(tasks)
        for sample in task.samples()
        if (place, sample.prediction.sample_id) in chosen
    ]
    if not answers:
        what = "there is no answer on which judges disagree" if disagreed else "the run has no answers"
        fix = "give the dataset several judges, or leave --disagreed out" if disagreed else "run it first"
        raise ConfigError(what, where=tasks[0].spec.name if tasks else "", fix=fix)
    random.Random(digest(name)).shuffle(answers)
    return answers


def verdicts_of(task: StoredTask) -> Iterator[tuple[str, bool]]:
    """Yield each sample with a verdict, and whether it calls the answer right; none if it is not right or wrong."""
    metric = task.scores[0].metric if task.scores and task.scores[0].fraction else None
    if metric == METRIC:  # labels do not correct themselves
        return
    for sample in task.samples():
        value = None if sample.score is None or metric is None else sample.score.values.get(metric)
        if sample.score is not None and sample.score.status != "failed" and value in (0, 1):
            yield sample.prediction.sample_id, bool(value)


def _judges_disagree(score: SampleScore | None) -> bool:
    return score is not None and len({one.vote for one in score.verdicts if one.vote is not None}) > 1


class Measured(Struct, frozen=True):
    """The labels of a task.

    Attributes:
        task: its name.
        people: person → number of labels.
        agreed: sample → the label that all people give who labelled it.
        agreement: of people; None if no answer has two labels.
        corrected: the share of right answers; None if unknown.
        has_verdicts: whether the answers have verdicts that the share corrects; else it is from labels alone.
        next_right, next_wrong: how many of the next labels to spend on answers that the judge calls right, and wrong.
        left_out: labels that are not in ``corrected``, because the answers were not drawn at random.
    """

    task: str
    people: Mapping[str, int]
    agreed: Mapping[str, Label]
    agreement: PeopleAgreement | None
    corrected: Estimated | None
    next_right: int
    next_wrong: int
    left_out: int
    has_verdicts: bool

    def lines(self) -> Iterator[str]:
        """Yield what the command prints."""
        yield self.task
        for person, number in self.people.items():
            yield f"  {person:<16} {counted(number, 'label')}"
        if self.agreement is not None:
            alpha = "" if self.agreement.alpha is None else f" · Krippendorff's alpha {self.agreement.alpha:.2f}"
            yield f"  {'agreement':<16} {self.agreement.equal} of {self.agreement.answers} answers{alpha}"
        if self.corrected is not None:
            ends = f"{100 * self.corrected.low:.1f}–{100 * self.corrected.high:.1f}"
            name = "corrected score" if self.has_verdicts else "score by labels"
            yield f"  {name:<16} {100 * self.corrected.value:.1f} %  {ends}"
        if self.left_out:
            yield f"  {'left out':<16} {counted(self.left_out, 'label')} of answers on which judges disagree"
        if self.has_verdicts and (more := self.next_right + self.next_wrong):
            of = f"{self.next_right} of answers that the judge calls right, {self.next_wrong} of those it calls wrong"
            yield f"  {f'next {more} labels':<16} {of}"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        both = self.agreement
        return {
            "task": self.task,
            "people": dict(self.people),
            "agreed": len(self.agreed),
            "disagreed": 0 if both is None else both.answers - both.equal,
            "alpha": None if both is None else both.alpha,
            "corrected": self.corrected,
            "next_right": self.next_right,
            "next_wrong": self.next_wrong,
        }


def measure(folder: RunFolder, task: StoredTask) -> Measured | None:
    """Return what people labelled of a task; None if that is nothing.

    Raises:
        StoreError, DataError: labels or answers cannot be read.
    """
    people = {name: labels for name, labels in people_of(folder, task.model, task.dataset).items() if labels}
    if not people:
        return None
    labels = agreed(people)
    rows = {sample: one for each in people.values() for sample, one in each.items() if sample in labels}
    drawn = drawn_labels(people)
    verdicts = dict(verdicts_of(task))
    # Without scores of right and wrong, all answers count as if they had one verdict.
    of_one = verdicts or {one.prediction.sample_id: True for one in task.samples() if not one.prediction.failed}
    strata = strata_of(of_one, drawn)
    next_right, next_wrong = next_labels(strata)
    return Measured(
        task=task.spec.name,
        people={name: len(each) for name, each in people.items()},
        agreed=rows,
        agreement=people_agree(people),
        corrected=corrected_share(strata),
        next_right=next_right,
        next_wrong=next_wrong,
        left_out=len(labels) - len(drawn),
        has_verdicts=bool(verdicts),
    )


class LabelledTask(TypedDict):
    """The labels of a task; ``corrected`` is the share of right answers, with both ends of its interval."""

    task: str
    people: dict[str, int]
    agreed: int
    disagreed: int
    alpha: float | None
    corrected: tuple[float, float, float] | None
    next_right: int
    next_wrong: int


class LabelsDocument(Document, kw_only=True):
    """What ``labels`` prints.

    Attributes:
        folder: of the run.
        tasks: one entry for each task with labels.
        files: those that ``-o`` wrote.
    """

    kind: Literal["labels"]
    folder: str = ""
    tasks: list[LabelledTask] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


class VerdictStratum(Struct, frozen=True):
    """The answers with one verdict of the judge.

    Attributes:
        size: how many there are.
        labelled: how many of them have a label.
        right: how many of these are right.
    """

    size: int
    labelled: int
    right: int

    @property
    def share(self) -> float:
        """The share of right answers; one right and one wrong answer are added, so that it is never 0 or 1."""
        return (self.right + 1) / (self.labelled + 2)


class Estimated(NamedTuple):
    """A number with its 95 % confidence interval."""

    value: float
    low: float
    high: float


def strata_of(verdicts: Mapping[str, bool], labels: Mapping[str, bool]) -> tuple[VerdictStratum, VerdictStratum]:
    """Return the answers that the judge calls right, and those that it calls wrong.

    Args:
        verdicts: sample → whether the judge calls the answer right.
        labels: sample → whether people do.
    """
    found = []
    for verdict in (True, False):
        samples = [sample for sample, one in verdicts.items() if one is verdict]
        known = [labels[sample] for sample in samples if sample in labels]
        found.append(VerdictStratum(len(samples), len(known), sum(known)))
    return found[0], found[1]


def corrected_share(strata: Sequence[VerdictStratum]) -> Estimated | None:
    """Return the share of right answers among all; None if answers with one of the verdicts have no label.

    It holds for labels of answers that were drawn at random among those with a verdict, also if more were drawn of one
    verdict than of the other.

    Sources: Cochran 1977, "Sampling Techniques", section 5.11, stratified sampling for proportions; the interval has
    the centre and the variance of Agresti and Caffo 2000, "Simple and Effective Confidence Intervals for Proportions".
    """
    total = sum(one.size for one in strata)
    if not total or any(one.size and not one.labelled for one in strata):
        return None
    used = [one for one in strata if one.size]
    value = math.fsum(one.size / total * one.right / one.labelled for one in used)
    checked = [one for one in used if one.labelled < one.size]  # the others are known without error
    centre = value + math.fsum(one.size / total * (one.share - one.right / one.labelled) for one in checked)
    variance = math.fsum(
        (one.size / total) ** 2 * one.share * (1 - one.share) / (one.labelled + 2) * (1 - one.labelled / one.size)
        for one in checked
    )
    half = Z * math.sqrt(variance)
    return Estimated(value, max(0.0, min(value, centre - half)), min(1.0, max(value, centre + half)))


def next_labels(strata: Sequence[VerdictStratum], number: int = NEXT) -> list[int]:
    """Return how many of the next labels to spend on answers with each verdict.

    They make the interval of `corrected_share` narrowest: the labels of a verdict should be proportional to the number
    of its answers and to the standard deviation of their labels. That of a verdict which people have not checked yet is
    taken to be largest.

    Sources: Neyman 1934, "On the Two Different Aspects of the Representative Method"; that labels are to be divided
    between both verdicts by what is known of the judge: arXiv 2511.21140, on reporting evaluations by judges.
    """
    left = [one.size - one.labelled for one in strata]
    number = min(number, sum(left))
    chosen = [0 for _ in strata]
    for _ in range(number):  # each label where it lowers the variance most
        gains = []
        for place, one in enumerate(strata):
            labelled = one.labelled + chosen[place]
            weight = one.size**2 * one.share * (1 - one.share)
            gains.append(weight / ((labelled + 1) * (labelled + 2)) if chosen[place] < left[place] else -1.0)
        chosen[gains.index(max(gains))] += 1
    return chosen


class PeopleAgreement(Struct, frozen=True):
    """How far people agree.

    Attributes:
        answers: labelled by two people or more.
        equal: of these, labelled alike by all.
        alpha: Krippendorff's alpha; None where nothing varies.
    """

    answers: int
    equal: int
    alpha: float | None


def people_agree(people: Mapping[str, Mapping[str, Label]]) -> PeopleAgreement | None:
    """Return the agreement of several people; None if no answer has two labels."""
    samples = dict.fromkeys(sample for labels in people.values() for sample in labels)
    rows = [[labels[sample].label if sample in labels else None for labels in people.values()] for sample in samples]
    several = [row for row in rows if sum(one is not None for one in row) > 1]
    if not several:
        return None
    equal = sum(len({one for one in row if one is not None}) == 1 for row in several)
    return PeopleAgreement(len(several), equal, krippendorff_alpha(several))
