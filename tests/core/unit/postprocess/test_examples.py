"""The examples of every postprocessor run and show what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import ais_prompt.postprocess

MODULES = [module.name for module in pkgutil.iter_modules(ais_prompt.postprocess.__path__, "ais_prompt.postprocess.")]


@pytest.mark.thorough
@pytest.mark.parametrize("module", MODULES)
def test_examples_show_what_they_say(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0
