"""Options as keywords of the Python API.

Names and types are written out for type checkers and editors; `Options` and `Session` document their meaning.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypedDict, cast

from ais_prompt.config import HfType, Options, declared_options, in_python, plain_value, refuse_lone_options
from ais_prompt.errors import AisPromptError, ConfigError, faults_of
from ais_prompt.utils import listed
from ais_prompt.verbs.run_session import RunMode, Session


class ConfigOptions(TypedDict, total=False):
    """Options of `check`, `run`, `render_prompts`, `lock` and `check_lock`, each with the meaning of a CLI option.

    Paths may be objects of `pathlib`, and single values of a config a dict: ``overrides={'models.0.max_out_len': 64}``.
    """

    models: Sequence[str]
    datasets: Sequence[str]
    url: str | Sequence[str]
    model: str
    hf_path: str | os.PathLike[str]
    hf_type: HfType
    overrides: Mapping[str, Any] | Sequence[str]
    sweep: Mapping[str, Sequence[Any]] | Sequence[str]
    sweep_zip: bool
    num_prompts: int
    sample: int | str
    sample_by: str
    sample_seed: int
    control: str
    work_dir: str | os.PathLike[str]
    cache: str | os.PathLike[str]
    allow_code_execution: bool | Literal["unsafe"]


class RunOptions(ConfigOptions, total=False):
    """Options of `run`: those of a config, and those of a session."""

    mode: RunMode
    reuse: str | None
    retry_truncated: int | None
    max_num_workers: int | None
    report: bool
    quiet: bool


class EvaluateOptions(TypedDict, total=False):
    """Options of `evaluate` that `run` has too."""

    sweep: Mapping[str, Sequence[Any]] | Sequence[str]
    sweep_zip: bool
    work_dir: str | os.PathLike[str]
    cache: str | os.PathLike[str]
    reuse: str
    report: bool
    quiet: bool


for _keywords in (ConfigOptions, RunOptions, EvaluateOptions):
    _told = {**declared_options(Options), **declared_options(Session)}
    _meanings = (f"    {name}: {_told[name].in_words_of_python}\n" for name in _keywords.__annotations__)
    _keywords.__doc__ = f"{_keywords.__doc__}\n\nAttributes:\n{''.join(_meanings)}"


def split_keywords(keywords: RunOptions) -> tuple[Session, ConfigOptions]:
    """Return the session that keywords are about, and the keywords of the config."""
    names = RunOptions.__annotations__.keys() - ConfigOptions.__annotations__.keys()
    of_session = {name: value for name, value in keywords.items() if name in names}
    of_config = {name: value for name, value in keywords.items() if name not in names}
    return Session(**cast(Any, of_session)), cast(ConfigOptions, of_config)


def read_keywords(keywords: ConfigOptions) -> Options:
    """Return the options that keywords are.

    Raises:
        ConfigError: there is no such keyword, or it lacks the keyword that it belongs to.
    """
    known = ConfigOptions.__annotations__
    if unknown := keywords.keys() - known:
        raise ConfigError(f"there is no option {listed(sorted(unknown))}", fix=f"options: {listed(known)}")
    values: dict[str, Any] = {name: _as_field(name, value) for name, value in keywords.items() if value is not None}
    with words_of_python():
        refuse_lone_options(options := Options(**values))
    return options


def _as_field(name: str, value: Any) -> Any:
    """Return the value of a keyword as `Options` has it: texts for paths, tuples for lists.

    Raises:
        ConfigError: a config is given in place of its name.
    """
    if name == "overrides":
        return override_texts(value)
    if name == "sweep":
        return sweep_texts(value)
    if declared_options(Options)[name].default == ():
        names = (value,) if isinstance(value, str) else tuple(value)
        if wrong := [one for one in names if not isinstance(one, str)]:
            raise ConfigError(
                f"{name} takes the names of configs, and this is none: {wrong[0]!r:.60}",
                fix=f"give the config as a dict: dict({name}=[...], ...)",
            )
        return names
    return str(value) if name == "sample" else os.fspath(value) if isinstance(value, os.PathLike) else value


def override_texts(overrides: Mapping[str, Any] | Sequence[str]) -> list[str]:
    """Return the changes of single values as texts: ``models.0.max_out_len=64``."""
    if isinstance(overrides, Mapping):
        return [f"{path}={plain_value(value, path)!r}" for path, value in overrides.items()]
    return [overrides] if isinstance(overrides, str) else list(overrides)


def sweep_texts(sweeps: Mapping[str, Sequence[Any]] | Sequence[str]) -> tuple[str, ...]:
    """Return sweeps as texts: ``models.0.max_out_len=64,128``.

    Raises:
        ConfigError: the values of a path are no list.
    """
    if not isinstance(sweeps, Mapping):
        return (sweeps,) if isinstance(sweeps, str) else tuple(sweeps)
    if wrong := next((path for path, values in sweeps.items() if not isinstance(values, list | tuple)), None):
        raise ConfigError(f"the values of {wrong!r} are no list", where="sweep", fix=f"sweep={{{wrong!r}: [1, 2]}}")
    return tuple(
        f"{path}={','.join(repr(plain_value(value, path)) for value in values)}" for path, values in sweeps.items()
    )


@contextmanager
def words_of_python() -> Iterator[None]:
    """Name keywords in place of options of the command line in the errors of the body."""
    try:
        yield
    except AisPromptError as error:
        for one in {id(fault): fault for fault in (error, *faults_of(error))}.values():
            in_words(one)
        raise


def in_words(error: AisPromptError) -> AisPromptError:
    """Name keywords in place of options in an error, but not in a command to be typed, and return the error."""
    texts = (error.what, error.where, error.fix)
    error.what, error.where, error.fix = (text if "aisprompt " in text else in_python(text) for text in texts)
    return error
