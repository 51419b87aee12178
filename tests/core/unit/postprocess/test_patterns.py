"""Patterns mean the same in every version of Python: one before 3.11.5 matches ``(...)*+`` wrongly (cpython#106052)."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from ais_prompt import postprocess
from ais_prompt.postprocess import option_patterns

MODULES = [module.name for module in pkgutil.iter_modules(postprocess.__path__, f"{postprocess.__name__}.")]
OF_ONE_CHARACTER = {_constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY}


def parts(parsed: Any) -> Iterator[Any]:
    """Every repetition, group and branch of a parsed pattern, and all that is in them."""
    for part in parsed:
        if isinstance(part, tuple):
            yield part
        if isinstance(part, tuple | list | _parser.SubPattern):
            yield from parts(part)


def repeats_a_group(pattern: str, flags: int) -> bool:
    """Return whether a possessive quantifier follows more than one character."""
    found = [one[1] for one in parts(_parser.parse(pattern, flags)) if one[0] is _constants.POSSESSIVE_REPEAT]
    return any(len(repeated) > 1 or repeated[0][0] not in OF_ONE_CHARACTER for _, _, repeated in found)


@pytest.mark.parametrize(("pattern", "is_one"), [("(?:a|bc)*+", True), ("(ab){0,3}+", True), ("a++[b-d]?+", False)])
def test_such_a_quantifier_is_found(pattern: str, is_one: bool) -> None:
    assert repeats_a_group(pattern, 0) == is_one


@pytest.mark.parametrize("module", MODULES)
def test_no_group_is_repeated_possessively(module: str) -> None:
    for name, value in vars(importlib.import_module(module)).items():
        if isinstance(value, re.Pattern):
            assert not repeats_a_group(value.pattern, value.flags), name


@pytest.mark.thorough
@pytest.mark.parametrize("several", [False, True])
def test_no_group_of_options_is_repeated_possessively(several: bool) -> None:
    made = option_patterns("ABCD", several)
    patterns = [one for field in made.__struct_fields__ for one in flat(getattr(made, field))]
    assert len(patterns) > 5
    for pattern in patterns:
        assert not repeats_a_group(pattern.pattern, pattern.flags), pattern.pattern[:80]


def flat(value: Any) -> Iterator[re.Pattern[str]]:
    """Every compiled pattern in a value."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from flat(list(value.values()))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from flat(one)
