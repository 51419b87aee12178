"""Every name of the catalog leads to a real part, and every shipped part is in it."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest

import ais_prompt
from ais_prompt import registry
from ais_prompt.catalog import PARTS
from ais_prompt.errors import ConfigError

ENTRIES = [(kind, name, module) for kind, parts in PARTS.items() for name, module in parts.items()]


def test_an_entry_names_a_part_in_its_module() -> None:
    for kind, name, module in ENTRIES:
        part = getattr(registry, kind.upper()).get(name)
        assert callable(part)
        assert part.__module__ == module


@pytest.mark.torch
def test_every_registered_part_is_in_the_catalog() -> None:
    for module in pkgutil.walk_packages(ais_prompt.__path__, "ais_prompt."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for kind, parts in PARTS.items():
        shipped = {
            name
            for name, part in getattr(registry, kind.upper()).module_dict.items()
            if part.__module__.startswith("ais_prompt.")
        }
        assert shipped == set(parts)


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        registry.INFERENCERS.get("GenInferencr")
    assert caught.value.fix == "did you mean 'GenInferencer'?"


def test_a_name_has_one_owner() -> None:
    def AccEvaluator() -> None:  # noqa: N802
        """A stranger with a shipped part's name."""

    with pytest.raises(ConfigError, match=r"ais_prompt\.evaluators\.accuracy and .*test_catalog"):
        registry.EVALUATORS.register_module()(AccEvaluator)


def test_a_dotted_path_is_a_part_too() -> None:
    path = "ais_prompt.inferencers.GenInferencer"
    assert registry.INFERENCERS.get(path) is registry.INFERENCERS.get("GenInferencer")


@pytest.mark.parametrize(
    ("path", "fix"),
    [
        ("ais_prompt.inferencers.GenInferencr", "did you mean ais_prompt.inferencers.GenInferencer?"),
        ("ais_prompt.evaluators.RougeEvaluatr", "did you mean ais_prompt.evaluators.RougeEvaluator?"),
        ("ais_promt.inferencers.GenInferencer", "did you mean ais_prompt.inferencers.GenInferencer?"),
        ("no_such_module_at_all.Part", "check the spelling, or install it"),
    ],
)
def test_a_wrong_dotted_path_says_what_is_wrong(path: str, fix: str) -> None:
    with pytest.raises(ConfigError) as caught:
        registry.INFERENCERS.get(path)
    assert caught.value.fix == fix


def test_a_broken_module_of_the_users_own_is_no_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_parts.py").write_text("def f(:\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="importing 'broken_parts' failed: SyntaxError"):
        registry.POSTPROCESSORS.get("broken_parts.f")
