"""Arguments are bound to signatures without making anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from ais_prompt.errors import ConfigError
from ais_prompt.plan import argument_faults
from ais_prompt.prompts import PromptTemplate


def refuse(value: str) -> str:
    raise ConfigError("never this one", fix="another")


class Part:
    def __init__(
        self,
        path: str,
        size: int = 1,
        words: Sequence[str] = (),
        options: Mapping[str, Any] | None = None,
        checked: Annotated[str, AfterValidator(refuse)] = "",
    ) -> None:
        raise AssertionError("it was made")


def postprocess(text: str, *, digits: int = 3) -> str:
    return text[:digits]


def anything(**options: Any) -> None:
    """Takes what it is given."""


def faults(part: Any, given: int = 0, **args: Any) -> list[tuple[str, str, str]]:
    return [(fault.what, fault.where, fault.fix) for fault in argument_faults(part, args, "models[0]", given=given)]


def test_good_arguments_have_no_fault() -> None:
    assert faults(Part, path="x", size=2, words=["a"], options={"a": 1}) == []
    assert faults(postprocess, given=1, digits=2) == []
    assert faults(anything, whatever=1) == []


@pytest.mark.parametrize(
    ("args", "fault"),
    [
        ({}, ("Part needs 'path'", "models[0]", "add path=...")),
        ({"path": "x", "sizes": 2}, ("Part has no argument 'sizes'", "models[0].sizes", "did you mean 'size'?")),
        ({"path": "x", "checked": "y"}, ("never this one", "models[0].checked", "another")),
    ],
)
def test_a_fault_says_what_where_and_the_fix(args: dict[str, Any], fault: tuple[str, str, str]) -> None:
    assert faults(Part, **args) == [fault]


@pytest.mark.parametrize("args", [{"size": "2"}, {"size": 2.5}, {"size": None}, {"words": "ab"}, {"options": ["a"]}])
def test_values_of_the_wrong_type(args: dict[str, Any]) -> None:
    [(what, where, _)] = faults(Part, path="x", **args)
    [name] = args
    assert what.startswith(f"{name!r} of Part cannot be {args[name]!r}: ")
    assert where == f"models[0].{name}"


def test_all_faults_at_once() -> None:
    assert len(faults(Part, sizes=2, size="x", words=3)) == 4


def test_the_text_of_a_postprocessor_is_not_an_argument() -> None:
    assert faults(postprocess, given=1, text="x") == [
        ("postprocess has no argument 'text'", "models[0].text", "known: digits")
    ]


def test_the_labels_of_a_template_may_be_numbers() -> None:
    assert faults(PromptTemplate, template={0: "{q} no", 1: "{q} yes"}) == []
    assert faults(PromptTemplate, template={0: {"round": []}, True: "{q} yes"}) == []
    assert len(faults(PromptTemplate, template=5)) == 1
