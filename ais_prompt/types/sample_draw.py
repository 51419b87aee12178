"""Questions drawn at random: ``sample`` of ``reader_cfg``, which ``--sample`` writes: ``200``, ``'±2'``, or a dict."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Struct, ValidationError, convert

from ais_prompt.types.key import NEEDED, Key

DRAW_EXAMPLES: Final = "200 questions, or '±2' for as many as an interval of ±2 points needs"
_POINTS: Final = re.compile(r"\s*(?:±|\+-|\+/-)\s*([0-9]+(?:\.[0-9]+)?)\s*%?\s*")


class DrawSpec(Struct, frozen=True):
    """How many questions are drawn at random from all of them.

    Attributes:
        size: number of questions; `'±2'` draws as many as an interval of ±2 points needs.
        points: half of the 95 % interval of a share of right answers, in points of percentage: as many questions are
            drawn as it needs where half of them are right, which takes the most.
        by: the column whose values each get their part of the questions, and at least one.
        seed: other questions for another seed.
    """

    size: Annotated[int | None, Key("a number, or '±points'", default=NEEDED)] = None
    points: float | None = None
    by: Annotated[str | None, Key("a name", default="all are drawn alike")] = None
    seed: Annotated[int, Key("a number")] = 0


def parse_draw(value: Any) -> DrawSpec:
    """Return the draw that a value of the config means.

    Raises:
        ValueError: it means none.
    """
    values = dict(value) if isinstance(value, Mapping) else {"size": value}
    size = values.pop("size", None)
    if isinstance(size, str) and (match := _POINTS.fullmatch(size)):
        values["points"] = float(match[1])
    elif isinstance(size, str) and size.strip().isdecimal():
        values["size"] = int(size)
    elif isinstance(size, str):
        raise ValueError("that is no number of questions")
    else:
        values["size"] = size
    try:
        draw = convert(values, DrawSpec)
    except ValidationError as error:
        raise ValueError(str(error)) from None
    if unknown := values.keys() - {"size", "points", "by", "seed"}:
        raise ValueError(f"there is no {min(unknown)!r} in it")
    if (draw.size is None) == (draw.points is None):
        raise ValueError("it does not say how many questions")
    if draw.size is not None and draw.size < 1:
        raise ValueError(f"{draw.size} is less than one question")
    if draw.points is not None and not 0.1 <= draw.points < 50:
        raise ValueError(f"±{draw.points:g} is not from ±0.1 to ±50 points")
    return draw
