"""What labels say of a score, how far people agree, and which labels help most."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from ais_prompt.extensions.labels.label_files import Label
from ais_prompt.judges import krippendorff_alpha
from ais_prompt.metrics import Z

NEXT: Final = 20
"""Labels that an advice is about."""


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
