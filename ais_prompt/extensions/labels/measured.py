"""The labels of a task beside the verdicts of its judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from ais_prompt.extensions.labels.label_files import Label, agreed, drawn_labels, people_of
from ais_prompt.extensions.labels.labelled import verdicts_of
from ais_prompt.extensions.labels.statistics import (
    Estimated,
    PeopleAgreement,
    corrected_share,
    next_labels,
    people_agree,
    strata_of,
)
from ais_prompt.report import StoredTask
from ais_prompt.store import RunFolder
from ais_prompt.utils import counted


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
    strata = strata_of(verdicts or _without_verdicts(task), drawn)
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


def _without_verdicts(task: StoredTask) -> dict[str, bool]:
    """Return the answers of a task without scores of right and wrong as if they all had one verdict."""
    return {one.prediction.sample_id: True for one in task.samples() if not one.prediction.failed}
