from __future__ import annotations

import pytest

from ais_prompt.errors import MissingExtra
from ais_prompt.utils.imports import require, require_installed


def test_a_package_that_is_there_is_imported() -> None:
    assert require("json", extra="local", why="a test").loads("1") == 1
    require_installed("json", extra="local", why="a test")


@pytest.mark.parametrize("look", [require, require_installed])
def test_a_missing_one_is_told_with_its_extra(look: object) -> None:
    with pytest.raises(MissingExtra) as caught:
        look("no_such_package", extra="local", why="HuggingFaceBaseModel")  # type: ignore[operator]
    assert caught.value.what == "HuggingFaceBaseModel needs the package 'no_such_package', which is not installed"
    assert caught.value.fix == "pip install 'ais-prompt[local]'"
