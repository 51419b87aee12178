"""How a ``type`` becomes a class or function."""

from __future__ import annotations

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.registry import EVALUATORS, MODELS


@pytest.mark.parametrize(
    "path", ["ais_prompt.models.scripted.ScriptedModel", "ais_prompt.models.an_earlier_module.ScriptedModel"]
)
def test_a_shipped_part_is_found_by_any_path_of_an_earlier_version(path: str) -> None:
    assert MODELS.get(path) is MODELS.get("ScriptedModel")


def test_other_paths_mean_what_they_say() -> None:
    with pytest.raises(ConfigError, match="no module"):
        MODELS.get("ais_prompt.models.an_earlier_module.NoModel")
    with pytest.raises(ConfigError, match="no module"):
        EVALUATORS.get("ais_prompt.models.an_earlier_module.ScriptedModel")
