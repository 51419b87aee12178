"""The command line and the Python API take their options from the fields of `Options` and `Session`."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import click
import pytest

from ais_prompt.cli.options import read_options, taken
from ais_prompt.cli.run import run
from ais_prompt.config import DeclaredOption, Options, declared_options
from ais_prompt.errors import ConfigError
from ais_prompt.verbs import FailureLimit, Session
from ais_prompt.verbs.api import ConfigOptions, EvaluateOptions, RunOptions, read_keywords, split_keywords

OF_CONFIG = declared_options(Options)
OF_SESSION = declared_options(Session)
TOLD = {**OF_CONFIG, **OF_SESSION}


def keywords_of(told: typing.Mapping[str, DeclaredOption]) -> set[str]:
    return {name for name, option in told.items() if option.spec.is_keyword}


def members(kind: Any) -> Iterator[Any]:
    """Yield the types of a union, without None; a tuple of texts is a sequence of texts."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        for one in typing.get_args(kind):
            yield from members(one)
    elif typing.get_origin(kind) is Literal:
        yield from typing.get_args(kind)
    elif kind is not type(None):
        yield Sequence[str] if kind == tuple[str, ...] else kind


def words(option: DeclaredOption) -> list[str]:
    """Return words of a command that give an option a value of its own."""
    if option.kind is bool:
        return [option.flags[-1]]
    value = {"retry_truncated": "max_out_len=7", "max_failures": "5%", "allow_code_execution": "unsafe"}.get(
        option.name
    )
    value = value or next(
        (str(one) for one in members(option.kind) if isinstance(one, str) and one != option.default), "7"
    )
    return [f"{option.flags[-1]}={value}"]


def test_no_option_is_told_twice() -> None:
    assert not OF_CONFIG.keys() & OF_SESSION.keys()
    flags = [flag for option in TOLD.values() for flag in option.flags]
    assert len(flags) == len(set(flags))
    assert [name for name, option in TOLD.items() if not option.spec.is_keyword and not option.flags] == []


def test_the_keywords_for_type_checkers_are_those_of_the_fields() -> None:
    assert ConfigOptions.__annotations__.keys() == keywords_of(OF_CONFIG)
    assert RunOptions.__annotations__.keys() == keywords_of(TOLD)
    assert EvaluateOptions.__annotations__.keys() < keywords_of(TOLD)
    hints = typing.get_type_hints(RunOptions)
    missing = {name for name, hint in hints.items() if not {*members(TOLD[name].kind)} <= {*members(hint)}}
    assert not missing


@pytest.mark.parametrize("keywords", [ConfigOptions, RunOptions, EvaluateOptions])
def test_every_keyword_says_what_it_means(keywords: type) -> None:
    lines = (keywords.__doc__ or "").splitlines()
    for name in keywords.__annotations__:
        [line] = [line for line in lines if line.startswith(f"    {name}: ")]
        assert "--" not in line.partition(" (``")[0], "an option of the command line, in words for Python"


def parsed(owner: type[Options] | type[Session], args: list[str]) -> Any:
    values = run.make_context("run", args).params
    return read_options(values) if owner is Options else taken(Session, values)


@pytest.mark.parametrize("owner", [Options, Session])
def test_an_option_of_the_command_line_changes_its_field_and_no_other(owner: type[Options] | type[Session]) -> None:
    of_command = {parameter.name: parameter for parameter in run.params if isinstance(parameter, click.Option)}
    for name, option in declared_options(owner).items():
        if option.flags:
            assert of_command[name].opts == option.flags
            assert (of_command[name].help or "").startswith(option.spec.meaning)
            needed = words(TOLD[option.spec.needs.name]) if option.spec.needs else []
            before, after = parsed(owner, needed), parsed(owner, [*needed, *words(option)])
            assert getattr(before, name) == option.default != getattr(after, name)
            assert dataclasses.replace(after, **{name: option.default}) == before


def test_an_option_without_the_option_that_it_belongs_to_is_refused() -> None:
    lone = {name: option for name, option in OF_CONFIG.items() if option.spec.needs}
    assert lone.keys() >= {"model", "prompt", "few_shot", "sample_by", "sample_seed"}
    for name, option in lone.items():
        values = run.make_context("run", words(option)).params
        with pytest.raises(ConfigError, match=f"^{option.flags[-1]} ") as caught:
            read_options(values)
        assert f"--{option.spec.needs and option.spec.needs.name}" in caught.value.fix
        if option.spec.is_keyword:
            with pytest.raises(ConfigError, match=f"^{name} "):
                read_keywords({name: getattr(taken(Options, values), name)})  # type: ignore[misc]


@pytest.mark.parametrize("name", [name for name, option in TOLD.items() if not option.spec.is_keyword])
def test_what_python_does_not_have_is_refused(name: str) -> None:
    session, keywords = split_keywords({name: 1})  # type: ignore[misc]
    assert session == Session()
    with pytest.raises(ConfigError, match=f"no option {name}"):
        read_keywords(keywords)


def test_values_of_python_are_those_of_the_command_line(tmp_path: Any) -> None:
    session, keywords = split_keywords(
        {
            "url": "http://127.0.0.1:1/v1",
            "datasets": "demo_*",
            "overrides": {"models.0.stop": ["a"]},
            "work_dir": tmp_path,
            "sample": 3,
            "sample_seed": 0,
            "reuse": "latest",
        }
    )
    assert session == Session(reuse="latest")
    assert read_keywords(keywords) == Options(
        url=("http://127.0.0.1:1/v1",),
        datasets=("demo_*",),
        overrides=["models.0.stop=['a']"],
        work_dir=str(tmp_path),
        sample="3",
        sample_seed=0,
    )


@pytest.mark.parametrize(
    ("text", "failed", "asked", "holds"),
    [("0", 0, 1, True), ("0", 1, 1, False), ("10", 10, 10, True), ("5%", 5, 100, True), ("0.29%", 29, 10_000, True)],
)
def test_a_failure_limit_is_exact(text: str, failed: int, asked: int, holds: bool) -> None:
    assert FailureLimit.parse(text).allows(failed, asked) == holds


@pytest.mark.parametrize("text", ["-1", "x", "101%", "1.5", "nan%", "%", "1e999%"])
def test_what_is_no_failure_limit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="neither a number of samples"):
        FailureLimit.parse(text)
