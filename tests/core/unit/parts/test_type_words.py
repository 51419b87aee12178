"""Types as people read them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

import pytest

from ais_prompt.parts import type_words


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (int | None, "int or None"),
        (list[str] | str, "list of str or str"),
        (dict[str, Any], "dict"),
        (tuple[str, int], "(str, int)"),
        (tuple[str, ...], "list of str"),
        (Path, "path"),
        (Literal["chat", "base"], "'chat' or 'base'"),
        (Annotated[float, "seconds"], "float"),
        (Callable[[str], str], "function"),
        (NotRequired[int], "int"),
    ],
)
def test_types_are_said_in_words(annotation: Any, words: str) -> None:
    assert type_words(annotation) == words
