"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import ais_prompt
from ais_prompt.utils import LatePattern, late


def test_a_late_pattern_does_what_the_compiled_one_does() -> None:
    number = late(r"(\d+)|x", re.IGNORECASE)
    assert [found.group() for found in number.finditer("1 X 22")] == ["1", "X", "22"]
    assert number.sub("-", "1 X") == "- -"
    assert (number.pattern, number.groups, number.flags) == (r"(\d+)|x", 1, re.compile("", re.IGNORECASE).flags)


def test_a_mistake_shows_at_the_first_use() -> None:
    broken = late("(")
    with pytest.raises(re.error):
        broken.search("")


@pytest.mark.thorough
def test_every_late_pattern_of_a_module_can_be_compiled() -> None:
    rooms = ("checks", "config", "data", "judges", "models", "plan", "postprocess", "preview")
    paths = {room: [f"{ais_prompt.__path__[0]}/{room}"] for room in rooms}
    names = [
        one.name for room in rooms for one in pkgutil.walk_packages(paths[room], f"ais_prompt.{room}.") if not one.ispkg
    ]
    found = 0
    for name in names:
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, LatePattern):
                assert value.groups >= 0
                found += 1
    assert found > 100
