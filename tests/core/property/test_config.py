"""What holds for every config: parsing ends in a spec or in faults, and a run can be repeated from its own config."""

from __future__ import annotations

import copy
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.config import DATASET, LoadedConfig, apply_overrides, load_config, parse_run, redacted, render_config
from ais_prompt.errors import ConfigError, ConfigFaults

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.sampled_from(["a.b.C", "{q}", "[:10]", "class", "'", '"""', "\\", "\ud800"])
)
KEYS = st.text(max_size=8) | st.sampled_from(
    ["type", "self", "class", "__debug__", "ﬁ", "_scope_", "_delete_", "items"]
)


def nested(keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        SCALARS,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.lists(inner, max_size=3).map(tuple)
            | st.dictionaries(keys, inner, max_size=3)
        ),
        max_leaves=8,
    )


VALUES = nested(KEYS | st.integers() | st.none())
ARGUMENTS = st.dictionaries(
    KEYS.filter(lambda key: key not in ("type", "abbr", "meta_template", "prompt_template", "run_cfg")),
    VALUES,
    max_size=2,
)
ABBRS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)


@st.composite
def configs(draw: st.DrawFn) -> dict[str, Any]:
    """A config without faults and without secrets."""

    def part() -> dict[str, Any]:
        arguments: dict[str, Any] = redacted(draw(ARGUMENTS), "part")
        return {"type": draw(st.text(min_size=1)), **arguments}

    models = [{**part(), "abbr": abbr} for abbr in draw(st.lists(ABBRS, min_size=1, max_size=2, unique=True))]
    datasets = [
        {
            **{key: value for key, value in part().items() if key == "type" or key not in DATASET.names},
            "abbr": abbr,
            "reader_cfg": {"input_columns": draw(st.lists(st.text())), "output_column": draw(st.none() | st.text())},
            "infer_cfg": {"prompt_template": part(), "inferencer": part()},
        }
        for abbr in draw(st.lists(ABBRS, min_size=1, max_size=2, unique=True))
    ]
    return {"models": models, "datasets": datasets}


@pytest.mark.thorough
@settings(max_examples=40)
@given(configs())
def test_a_rendered_config_is_the_same_run(values: dict[str, Any]) -> None:
    before = copy.deepcopy(values)
    spec = parse_run(LoadedConfig(values, "eval"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "config.py")
        path.write_text(render_config({**spec.resolved, "paths_relative_to": folder}), encoding="utf-8")
        again = parse_run(load_config(path))
    assert values == before
    assert again.resolved == {**spec.resolved, "paths_relative_to": folder}
    assert replace(again, config_file=None, resolved=spec.resolved) == spec
    assert repr(again.models) == repr(spec.models)


@st.composite
def damaged_configs(draw: st.DrawFn) -> dict[str, Any]:
    """A config in which one value, somewhere, is replaced by any other."""
    values = draw(configs())
    inside: Any = values
    while True:
        key = draw(st.sampled_from(list(inside) if isinstance(inside, dict) else range(len(inside))))
        if not (isinstance(inside[key], dict | list) and inside[key] and draw(st.integers(0, 4))):
            inside[key] = draw(VALUES)
            return values
        inside = inside[key]


@pytest.mark.thorough
@settings(max_examples=80)
@given(damaged_configs() | st.dictionaries(st.text(), VALUES, max_size=4))
def test_parsing_ends_in_a_spec_or_in_faults(values: dict[str, Any]) -> None:
    with suppress(ConfigFaults):
        assert parse_run(LoadedConfig(values, "any")).models


@given(st.dictionaries(st.sampled_from(["models", "datasets", "work_dir"]), VALUES), st.lists(st.text(), max_size=3))
def test_an_override_changes_a_copy_or_is_refused(values: dict[str, Any], overrides: list[str]) -> None:
    before = copy.deepcopy(values)
    with suppress(ConfigError):
        apply_overrides(values, [f"models.{override}" for override in overrides])
    assert values == before


@given(VALUES, st.text() | st.sampled_from(["api_key", "base_url"]))
def test_redacting_twice_changes_nothing_more(value: Any, key: str) -> None:
    once = redacted(value, key)
    assert redacted(once, key) == once
