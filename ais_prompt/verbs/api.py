"""The verbs of the command line as functions: check, run, render_prompts, compare; and evaluate, without a config.

Each takes a `Config` (a path, a name, a dict, or a loaded config) and the same `ConfigOptions`. `evaluate` takes rows
instead, and a model or a function: what is left out is guessed, as for ``run --data``.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypedDict, Unpack, cast, get_args

from msgspec import structs

from ais_prompt.checks import checked
from ais_prompt.comparison import RunComparison, compare_runs, open_sides
from ais_prompt.config import (
    CONFIG,
    HfType,
    LoadedConfig,
    Options,
    apply_overrides,
    compose_config,
    declared_options,
    find_config,
    in_python,
    load,
    plain_config,
    plain_value,
    redacted_override,
    refuse_lone_options,
    register_secrets,
)
from ais_prompt.data import LocalDataset, hold_rows
from ais_prompt.errors import AisPromptError, ConfigError, DataError, faults_of
from ais_prompt.plan import (
    DataFile,
    Description,
    Plan,
    completed_urls,
    describe_file,
    describe_rows,
    served_model,
)
from ais_prompt.preview import PromptView, previews
from ais_prompt.processes import wakeable
from ais_prompt.terminal import NORMAL, QUIET, verbosity
from ais_prompt.utils import counted, listed
from ais_prompt.verbs import check as check_workflow
from ais_prompt.verbs import run as run_workflow
from ais_prompt.verbs.check import CheckResult
from ais_prompt.verbs.open_run import Run, hide_secrets, public_errors
from ais_prompt.verbs.run import with_found_models
from ais_prompt.verbs.run_session import RunMode, Session

Config: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | LoadedConfig
"""A config: a path, the name of a shipped config, a dict with ``models`` and ``datasets``, or a loaded config."""

UNNAMED: Final = "python"
"""Names the run folder of a config that is a dict without ``run_name``."""


def check(
    config: Config | None = None, *, audit_scorers: bool = False, **options: Unpack[ConfigOptions]
) -> CheckResult:
    """Find every fault of a config. No weights are loaded, no server is asked.

    Args:
        config: a path, the name of a shipped config, a dict, or a loaded config.
        audit_scorers: put answers that know nothing through each scorer; ``audits`` has those above chance.
        options: as in `ConfigOptions`.

    Returns:
        What is worth knowing of a config without faults, such as its ``warnings``.

    Raises:
        ConfigFaults: everything that is wrong, each with its config path, file and line.
    """
    with public_errors():
        return check_workflow.check_source(options_of(config, options), audit_scorers=audit_scorers)


def run(config: Config | None = None, **options: Unpack[RunOptions]) -> Run:
    """Ask the models, score the answers, and write a run folder.

    It blocks until the run has ended, in scripts and in notebooks, whether an event loop is running or not: in a
    coroutine, call it with `asyncio.to_thread`. Progress is shown on standard error. Ctrl-C, or the stop button of a
    notebook, keeps every answer so far.

    Args:
        config: a path, the name of a shipped config, a dict, or a loaded config.
        options: as in `RunOptions`.

    Returns:
        The run. A task that failed does not stop the others; ``errors`` of the run says why, and ``raise_errors()``
        raises.

    Raises:
        ConfigFaults: everything that is wrong with the config.
        ModelError: a model surely cannot be used.
        StoreError: the run folder cannot be written.
        Interrupted: stopped by the user; the fix names the argument that resumes the run.
    """
    session, of_config = split_keywords(options)
    with public_errors(), words_of_python(), verbosity(QUIET if session.quiet else NORMAL):
        if session.mode not in (modes := get_args(RunMode)):
            raise ConfigError(f"there is no mode {session.mode!r}", fix=f"modes: {listed(modes)}")
        run_workflow.check_retry(session)
        plan, warnings = checked(options_of(config, of_config))
        plan = with_found_models(plan, session.mode)
        folder = run_workflow.open_run_folder(plan, session.mode, session.reuse)
        session = replace(session, command=call_text(config, **of_config), warnings=warnings)
        with _interruptible():
            result = run_workflow.run_source(plan, folder, session)
        errors = {end.name: hide_secrets(in_words(end.error)) for end in result.outcomes if end.error is not None}
        _print_causes(errors)
        return Run(result.folder.root, errors, tuple(warnings))


def _print_causes(errors: Mapping[str, AisPromptError]) -> None:
    """Print each cause for which tasks failed or are paused once, with ``quiet`` too: the scores would not say why."""
    causes: dict[str, list[str]] = {}
    for name, error in errors.items():
        causes.setdefault(error.what, []).append(name)
    for names in causes.values():
        print(f"{listed(names, 3)}:", *errors[names[0]].lines(), sep="\n", file=sys.stderr)


def render_prompts(
    config: Config | None = None,
    count: int = 1,
    *,
    origins: bool = False,
    tokens: bool = False,
    **options: Unpack[ConfigOptions],
) -> list[PromptView]:
    """Return the first prompts of each model and dataset exactly as they would be sent. Nothing is asked.

    Args:
        config: a path, the name of a shipped config, a dict, or a loaded config.
        count: most questions of each model and dataset.
        origins: also where each piece of a prompt comes from.
        tokens: also the tokens of each prompt.
        options: as in `ConfigOptions`.

    Raises:
        ConfigFaults: everything that is wrong with the config.
        PromptError: a prompt cannot be built.
    """
    with public_errors():
        return list(previews(planned(config, options).tasks, count, origins=origins, tokens=tokens))


def compare(
    before: Run | str | os.PathLike[str],
    after: Run | str | os.PathLike[str] | None = None,
    work_dir: str | os.PathLike[str] | None = None,
    *,
    models: Sequence[str] = (),
) -> RunComparison:
    """Compare two runs, or two models of one run, sample by sample: what changed, how sure that is, and why.

    Args:
        before, after: runs, or what `open_run` takes; without ``after``, two models of one run are compared.
        work_dir: where run folders are kept; ``outputs`` if left out.
        models: one model of both runs, or a model of each: its ``abbr``, or a part that no other model has. A run with
            two models needs none.

    Raises:
        ConfigError: there is no such run or model.
        StoreError: its files are missing or broken.
    """
    with public_errors():
        where = None if work_dir is None else os.fspath(work_dir)
        second = None if after is None else _run_path(after)
        return compare_runs(*open_sides(_run_path(before), second, models, where))


def _run_path(run: Run | str | os.PathLike[str]) -> str:
    return str(run.path) if isinstance(run, Run) else os.fspath(run)


def load_config(config: Config, overrides: Mapping[str, Any] | Sequence[str] = ()) -> LoadedConfig:
    """Read a config into plain values.

    Args:
        config: a path, the name of a shipped config (``'eval'``), a dict, or a loaded config.
        overrides: changes of single values, ``{'models.0.max_out_len': 64}``, or texts as for ``--set``.

    Returns:
        The config. ``values`` are its variables; faults still have the lines of its file.

    Raises:
        ConfigError: it cannot be read, or an override leads nowhere.
    """
    texts = override_texts(overrides)
    if isinstance(config, LoadedConfig):
        return LoadedConfig(
            apply_overrides(config.values, texts), config.name, config.path, config.origins, config.notes
        )
    if isinstance(config, str | os.PathLike):
        return load.load_config(find_config(Path(config)), texts)
    if not isinstance(config, Mapping):
        raise ConfigError(
            f"this is not a config: {config!r:.60}",
            fix="give a path, the name of a shipped config, or a dict with 'models' and 'datasets'",
        )
    values = apply_overrides(plain_config(_with_held_rows(config), holds=True), texts)
    register_secrets({key: values[key] for key in CONFIG.names if key in values})
    return LoadedConfig(values, UNNAMED)


def options_of(config: Config | None, keywords: ConfigOptions) -> Options:
    """Return the options that a config and keywords are.

    Raises:
        ConfigError: there is no such keyword, or the config cannot be read.
    """
    options = read_keywords(keywords)
    if config is None:
        return options
    loaded = load_config(config, options.overrides)
    if options.names_dataset or options.names_model or options.models:
        raise ConfigError(
            "give either a config, or datasets and models by name, not both", fix="change values with overrides"
        )
    return replace(options, loaded=loaded, overrides=())


def call_text(config: Config | None, **options: Unpack[ConfigOptions]) -> str:
    """Return a call of `ais_prompt.run` for the record of a run, without secrets."""
    named = [] if not isinstance(config, str | os.PathLike) else [repr(os.fspath(config))]
    hidden = {"overrides": [redacted_override(one) for one in override_texts(options.get("overrides", ()))]}
    shown = {**options, **(hidden if hidden["overrides"] else {})}
    return f"ais_prompt.run({', '.join([*named, *(f'{name}={value!r}' for name, value in shown.items())])})"


def _with_held_rows(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config in which the rows of a dataset are a text that holds them.

    Raises:
        DataError: they are no rows.
    """
    datasets = config.get("datasets")
    if not isinstance(datasets, list | tuple):
        return dict(config)
    held = []
    for number, one in enumerate(datasets):
        is_local = isinstance(one, Mapping) and one.get("type", "LocalDataset") in ("LocalDataset", LocalDataset)
        if is_local and "rows" in one and not isinstance(one["rows"], str):
            try:
                one = {**one, "rows": hold_rows(one["rows"])}
            except DataError as error:
                error.where = error.where or f"datasets[{number}].rows"
                raise
        held.append(one)
    return {**config, "datasets": held}


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let the first Ctrl-C interrupt the body. `asyncio.run` would only cancel its task, which the body blocks."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with wakeable():
            yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def planned(config: Config | None, options: ConfigOptions) -> Plan:
    """Return the plan of a config of which nothing will be executed."""
    plan, _ = checked(options_of(config, {**options, "allow_code_execution": "unsafe"}))
    return plan


Part: TypeAlias = str | Mapping[str, Any] | Callable[..., Any]
"""A part: its name or dotted path, a dict with its arguments, or a function."""

_NAME: Final = "data"
"""Names a dataset of rows in memory."""


def evaluate(
    data: Any,
    *,
    url: str | Sequence[str] | None = None,
    model: str | Mapping[str, Any] | None = None,
    function: Callable[..., Any] | str | None = None,
    prompt: str | None = None,
    prompts: Mapping[str, str] | None = None,
    answer: str | None = None,
    extract: Part | None = None,
    evaluator: Part | list[Part] | None = None,
    few_shot: int = 0,
    limit: int | None = None,
    name: str = "evaluate",
    **options: Unpack[EvaluateOptions],
) -> Run:
    """Ask a model or function every question of some data, score the answers, and write a run folder.

    Args:
        data: rows: a list of dicts or of pairs (question, answer), a frame of pandas, polars or Arrow, or a dict of
            columns; or the path of a file.
        url: address of a server; ``model`` names the model if the server has several.
        model: a dict as in ``models`` of a config, or the name of a model config.
        function: takes the prompt and returns the answer, see `FunctionModel`.
        prompt: the question, with ``{column}``; None takes the column of the question.
        prompts: name → prompt, in place of ``prompt``: each is a variant of the same questions.
        answer: the column of the gold answer; None finds it by its name.
        extract: finds the answer in the text of the model: a postprocessor or a function; ``'none'`` takes the whole
            text. None decides by the gold answers.
        evaluator: compares the answer with the gold answer: an evaluator, or a function ``(answer, gold) -> float``.
            A list scores each answer with all of them. None decides by the gold answers.
        few_shot: other rows that are shown before each question.
        limit: the first so many rows only.
        name: names the run folder.
        options: as in `EvaluateOptions`.

    Returns:
        The run, as of `run`; what was guessed is in its ``warnings``.

    Raises:
        ConfigError: not one model is given, or the column of the question is not known.
        DataError: the data cannot be read.
        AisPromptError: as `run`.
    """
    if prompt is not None and prompts is not None:
        raise ConfigError("give either prompt or prompts, not both", fix="prompts=dict(short='…', steps='…')")
    is_file = isinstance(data, str | os.PathLike)
    given = evaluator if isinstance(evaluator, list) else [evaluator]
    scorers = [one for one in given if one is not None]
    described = DataFile(
        os.fspath(data) if is_file else _NAME,
        prompt=prompts or prompt,
        answer=answer,
        postprocessor=_type_of(extract, "extract"),
        evaluator=_type_of(scorers[0] if scorers else None, "evaluator"),
        few_shot=few_shot,
    )
    with public_errors(), words_of_python():
        found = describe_file(described) if is_file else _describe_rows(described, data)
        scoring = found.dataset.get("eval_cfg", {})
        if isinstance(extract, Mapping) and "pred_postprocessor" in scoring:
            scoring["pred_postprocessor"] = dict(extract)
        if scorers and "evaluator" in scoring:
            parts = [dict(one) if isinstance(one, Mapping) else {"type": _type_of(one, "evaluator")} for one in scorers]
            scoring["evaluator"] = parts if len(parts) > 1 else parts[0]
        config = {"run_name": name, "models": [_model(url, model, function)], "datasets": [found.dataset]}
        notes = tuple(structs.replace(note, what=in_python(note.what)) for note in found.notes)
        loaded = structs.replace(load_config(config), notes=notes)
    return run(loaded, num_prompts=limit, **options) if limit else run(loaded, **options)


def _describe_rows(described: DataFile, data: Any) -> Description:
    held = hold_rows(data)
    table = held.value.get("test") or next(iter(held.value.values()))
    found = describe_rows(table.columns, table, described, {"type": "LocalDataset", "rows": held})
    return found._replace(sentence=f"{counted(len(table), 'row')} · {found.sentence}")


def _model(
    url: str | Sequence[str] | None, model: str | Mapping[str, Any] | None, function: Callable[..., Any] | str | None
) -> Any:
    """Return the config of the model.

    Raises:
        ConfigError: none is given, or several are.
    """
    name = model if isinstance(model, str) else None
    if sum([url is not None, model is not None and (url is None or name is None), function is not None]) != 1:
        fix = "url='http://127.0.0.1:8000/v1', model=dict(type=...), or function=my_app"
        raise ConfigError("give one of url, model and function", fix=fix)
    if function is not None:
        return {"type": "FunctionModel", "function": function}
    if url is not None:
        return served_model(completed_urls((url,) if isinstance(url, str) else tuple(url)), name)
    if name is None:
        return model
    [found] = compose_config([name], ()).values["models"]
    return found


def _type_of(part: Part | None, where: str) -> str | None:
    """Return the ``type`` of a part as a text."""
    given = part.get("type") if isinstance(part, Mapping) else part
    named: str | None = None if given is None else plain_value(given, where, holds=True)
    return named


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
