"""Criteria of a rubric: their forms in a config or a column of the data, and what an answer gets that meets them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from ais_prompt.errors import DataError, MissingGoldError
from ais_prompt.parts import key_advice
from ais_prompt.utils import decode_own, is_missing, shortened

TEXT: Final = ("criterion", "text", "title")
POINTS: Final = ("points", "weight")
TAGS: Final = ("tags", "tag", "axis", "category")
"""Keys of a criterion: ours and those of HealthBench, and those of ResearchRubrics."""
KEYS: Final = (*TEXT, *POINTS, *TAGS, "name", "scale")
FORM: Final = "write a text, or dict(criterion='...', points=5, tags=['...']); see docs/rubrics.md"
_LONGEST: Final = 80
"""Characters of the name of a criterion; the rest of a longer text is cut."""


class Criterion(Struct, frozen=True):
    """A criterion of a rubric.

    Attributes:
        text: what an answer must do to meet it, as the judge reads it.
        points: what an answer gets that meets it; negative for what an answer must not do.
        name: its line in the results; empty for one that its tags stand for.
        tags: groups of criteria, each with a line in the results.
        scale: the lowest and the highest rating; None for a criterion that is met or not.
    """

    text: str
    points: float = 1.0
    name: str = ""
    tags: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None

    @property
    def shown(self) -> str:
        """The criterion as the judge reads it, with its scale."""
        return (
            self.text if self.scale is None else f"{self.text} (a number from {self.scale[0]:g} to {self.scale[1]:g})"
        )

    def weighed(self, said: Any) -> Any:
        """Return what a judge said of the criterion as a number, where it is the probability of each rating.

        It is the mean of the ratings on the scale, weighed by their probabilities; without a scale, or if what was said
        first is not on it, that alone.

        Source: Liu et al. 2023, "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment", section 2. The
        probabilities are those of the likeliest tokens, and are divided by their sum.
        """
        if not isinstance(said, Mapping):
            return said
        first = rating_said(said)
        weights = {float(rating): weight for rating, weight in said.items()}
        if self.scale is None or not self.scale[0] <= first <= self.scale[1]:
            return first
        known = {rating: weight for rating, weight in weights.items() if self.scale[0] <= rating <= self.scale[1]}
        return math.fsum(rating * weight for rating, weight in known.items()) / math.fsum(known.values())

    def mark(self, said: Any, partly: float | None) -> float | None:
        """Return how far an answer meets the criterion, from 0 to 1; None if that is no mark of it.

        Args:
            said: True, False, a number, or `PARTLY`; None if nothing was said of it.
            partly: the mark of an answer that meets it partly; None if there is no such mark.
        """
        if said == PARTLY:
            return partly if self.scale is None else None
        if self.scale is None:
            return float(said) if said in (0, 1) else None
        low, high = self.scale
        if said is None or isinstance(said, bool) or not low <= said <= high:
            return None
        return float((said - low) / (high - low))


def rating_said(said: Any) -> Any:
    """Return what a judge said of a criterion; of probabilities of ratings the first, which is what it said."""
    return float(next(iter(said))) if isinstance(said, Mapping) else said


PARTLY: Final = "partly"
"""What a judge says of an answer that meets a part of a criterion."""


def rubric_score(criteria: Sequence[Criterion], marks: Sequence[float]) -> float | None:
    """Return the points that an answer has, divided by those that it can have; None if it can have none.

    It is below 0 if the answer does more of what it must not do.

    Source: OpenAI simple-evals, ``healthbench_eval.calculate_score``; ResearchRubrics, ``calculate_compliance_score``,
    where a criterion that is met partly counts a half.

    Args:
        criteria: of the answer.
        marks: how far it meets each of them, from 0 to 1.
    """
    possible = math.fsum(one.points for one in criteria if one.points > 0)
    found = math.fsum(one.points * mark for one, mark in zip(criteria, marks, strict=True))
    return found / possible if possible else None


def read_criteria(value: Any, *, strict: bool = False) -> list[Criterion]:
    """Return the criteria in a value of a config or of the data.

    Args:
        value: a list of texts or of mappings (`KEYS`), a mapping of name → text or mapping, a mapping of key → list, as
            `datasets` keeps them, or JSON of one of these.
        strict: whether a key that is not known is an error; data may have others.

    Raises:
        MissingGoldError: there is nothing.
        DataError: it has another shape, or no criterion has positive points.
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            value = decode_own(value.encode())
        except ValueError as error:
            raise DataError(f"the criteria are no JSON: {error}", fix=FORM) from None
    if is_missing(value) or value in ([], (), {}):
        raise MissingGoldError("there are no criteria", fix="fill them in, or name the column that holds them")
    if not isinstance(value, list | tuple | Mapping):
        raise DataError(f"{value!r:.60} is no list of criteria", fix=FORM)
    found = [_criterion(one, number, strict=strict) for number, one in enumerate(_items(value), 1)]
    if not any(one.points > 0 for one in found):
        raise DataError("no criterion has positive points: there is nothing that an answer could reach", fix=FORM)
    return found


def _items(value: Sequence[Any] | Mapping[str, Any]) -> list[Any]:
    if not isinstance(value, Mapping):
        return list(value)
    lists = {key: one for key, one in value.items() if key in KEYS and isinstance(one, list | tuple)}
    if not any(key in TEXT for key in lists):
        return [
            {**(one if isinstance(one, Mapping) else {"criterion": one}), "name": key} for key, one in value.items()
        ]
    if len({len(one) for one in lists.values()}) > 1:
        raise DataError("the lists of the criteria are not equally long", fix=FORM)
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _criterion(value: Any, number: int, *, strict: bool) -> Criterion:
    """Return one criterion.

    Raises:
        DataError: it has another shape.
    """
    given = value if isinstance(value, Mapping) else {"criterion": value}
    if strict and (unknown := [key for key in given if key not in KEYS]):
        raise DataError(f"criterion {number} has an unknown key {unknown[0]!r}", fix=key_advice(str(unknown[0]), KEYS))
    text, points, tags, scale = _first(given, TEXT), _first(given, POINTS), _first(given, TAGS), given.get("scale")
    if not isinstance(text, str) or not text.strip():
        raise DataError(f"criterion {number} has no text: {value!r:.60}", fix=FORM)
    points = 1.0 if points is None else points
    if isinstance(points, bool) or not isinstance(points, int | float) or not math.isfinite(points):
        raise DataError(f"the points of criterion {number} are {points!r:.60}, not a number", fix=FORM)
    tags = [tags] if isinstance(tags, str) else tags or ()
    if not isinstance(tags, list | tuple) or not all(isinstance(tag, str) for tag in tags):
        raise DataError(f"the tags of criterion {number} are {tags!r:.60}, not a list of texts", fix=FORM)
    text = " ".join(text.split())
    name = str(given.get("name") or ("" if tags else shortened(text, _LONGEST)))
    return Criterion(text, float(points), name, tuple(dict.fromkeys(tags)), _scale(scale, number))


def _first(given: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((given[key] for key in keys if not is_missing(given.get(key))), None)


def _scale(scale: Any, number: int) -> tuple[float, float] | None:
    if scale is None:
        return None
    is_pair = isinstance(scale, list | tuple) and len(scale) == 2
    if not is_pair or not all(isinstance(end, int | float) for end in scale) or not scale[0] < scale[1]:
        what = f"the scale of criterion {number} is {scale!r:.60}, not the lowest and the highest rating"
        raise DataError(what, fix="scale=[1, 5]")
    return float(scale[0]), float(scale[1])
