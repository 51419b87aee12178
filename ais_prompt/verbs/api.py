"""The verbs of the command line as functions: check, run, render_prompts, compare, lock, check_lock.

Each takes a `Config` (a path, a name, a dict, or a loaded config) and the same `ConfigOptions`.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypedDict, Unpack

from ais_prompt.checks import checked
from ais_prompt.comparison import RunComparison, compare_runs, open_sides
from ais_prompt.config import (
    CONFIG,
    LoadedConfig,
    apply_overrides,
    find_config,
    load,
    plain_config,
    plain_value,
    redacted_override,
    register_secrets,
)
from ais_prompt.data import LocalDataset, hold_rows
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.locks import Drift, find_drift, make_prompt_lock, prompt_lock_path, write_prompt_lock
from ais_prompt.plan import Plan, SampleOption, Source
from ais_prompt.preview import PromptView, previews
from ais_prompt.utils import NORMAL, QUIET, listed, verbosity, wakeable
from ais_prompt.verbs import check as check_workflow
from ais_prompt.verbs import run as run_workflow
from ais_prompt.verbs.check import CheckResult
from ais_prompt.verbs.open_run import Run, hide_secrets, public_errors
from ais_prompt.verbs.run import RunMode, with_found_models

Config: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | LoadedConfig
"""A config: a path, the name of a shipped config, a dict with ``models`` and ``datasets``, or a loaded config."""

UNNAMED: Final = "python"
"""Names the run folder of a config that is a dict without ``run_name``."""


class ConfigOptions(TypedDict, total=False):
    """Options of `check`, `run`, `render_prompts`, `lock` and `check_lock`, each with the meaning of a CLI option.

    Attributes:
        models: names or patterns of model configs, in place of a config (``--models``).
        datasets: names or patterns of dataset configs (``--datasets``).
        url: address of a server, in place of a model config; several addresses are replicas (``--url``).
        model: the model of that server; it may be left out if the server has only one (``--model``).
        hf_path: folder or hub id of a local model, in place of a model config (``--hf-path``).
        hf_type: whether that model is a chat model or a base model (``--hf-type``).
        overrides: changes of single values, ``{'models.0.max_out_len': 64}``, or texts as for ``--set``.
        num_prompts: only the first so many questions of each dataset (``--num-prompts``).
        sample: draw so many questions at random, or ``'±2'`` as many as such an interval needs (``--sample``).
        sample_by: the column whose values each get their part of the questions (``--sample-by``).
        sample_seed: other questions for another seed (``--sample-seed``).
        control: spoil the questions: ``blank``, ``swap`` or ``shuffle``, or ``blank=question`` (``--control``).
        work_dir: where run folders are made (``-w``).
        cache: folder of answers that runs share (``--cache``).
        allow_code_execution: let evaluators run programs that a model wrote; ``'unsafe'`` also without a sandbox
            (``--allow-code-execution``).
    """

    models: Sequence[str]
    datasets: Sequence[str]
    url: str | Sequence[str]
    model: str
    hf_path: str | os.PathLike[str]
    hf_type: Literal["chat", "base"]
    overrides: Mapping[str, Any] | Sequence[str]
    num_prompts: int
    sample: int | str
    sample_by: str
    sample_seed: int
    control: str
    work_dir: str | os.PathLike[str]
    cache: str | os.PathLike[str]
    allow_code_execution: bool | Literal["unsafe"]


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
        return check_workflow.check_source(source_of(config, options), audit_scorers=audit_scorers)


def run(
    config: Config | None = None,
    *,
    mode: RunMode = "all",
    reuse: str | None = None,
    retry_truncated: int | None = None,
    max_num_workers: int | None = None,
    report: bool = True,
    quiet: bool = False,
    **options: Unpack[ConfigOptions],
) -> Run:
    """Ask the models, score the answers, and write a run folder.

    It blocks until the run has ended, in scripts and in notebooks, whether an event loop is running or not: in a
    coroutine, call it with `asyncio.to_thread`. Progress is shown on standard error. Ctrl-C, or the stop button of a
    notebook, keeps every answer so far.

    Args:
        config: a path, the name of a shipped config, a dict, or a loaded config.
        mode: everything, only predictions (``infer``), only scores of stored predictions (``eval``), or only the
            summary (``viz``).
        reuse: ``latest`` or the name of a run folder, to ask only what is missing; None begins a new run.
        retry_truncated: with ``reuse``, ask truncated answers again with this ``max_out_len``. Both answers are kept,
            and the longer one is scored.
        max_num_workers: compute local models in so many worker processes; None computes in this process.
        report: whether ``report.html`` is written.
        quiet: show neither progress nor warnings; ``warnings`` of the run has those of the prompts.
        options: as in `ConfigOptions`.

    Returns:
        The run. A task that failed does not stop the others; ``errors`` of the run says why, and ``raise_errors()``
        raises.

    Raises:
        ConfigFaults: everything that is wrong with the config.
        ModelError: a model surely cannot be used.
        StoreError: the run folder cannot be written.
        Interrupted: stopped by the user; the fix names the argument that resumes the run.
    """
    with public_errors(), verbosity(QUIET if quiet else NORMAL):
        if mode not in (modes := RunMode.__args__):  # type: ignore[attr-defined]
            raise ConfigError(f"there is no mode {mode!r}", fix=f"modes: {listed(modes)}")
        run_workflow.check_retry(retry_truncated, mode, reuse)
        plan, warnings = checked(source_of(config, options))
        plan = with_found_models(plan, mode)
        folder = run_workflow.open_run_folder(plan, mode, reuse)
        command = call_text(config, **options)
        with _interruptible():
            result = run_workflow.run_source(
                plan,
                folder,
                mode,
                command,
                warnings,
                with_report=report,
                max_num_workers=max_num_workers,
                retry_truncated=retry_truncated,
            )
        errors = {end.name: hide_secrets(end.error) for end in result.outcomes if end.error is not None}
        return Run(result.folder.root, errors, tuple(warnings))


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
        return list(previews(_plan(config, options).tasks, count, origins=origins, tokens=tokens))


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


def lock(
    config: Config | None = None, file: str | os.PathLike[str] | None = None, **options: Unpack[ConfigOptions]
) -> Path:
    """Write every prompt of a config into a lock, a small file to be reviewed and committed.

    Args:
        config: a path, the name of a shipped config, a dict, or a loaded config.
        file: the lock; if left out, ``eval.lock`` beside ``eval.py``.
        options: as in `ConfigOptions`.

    Returns:
        The path of the lock.

    Raises:
        ConfigFaults: everything that is wrong with the config.
        StoreError: the file cannot be written.
    """
    with public_errors():
        plan = _plan(config, options)
        path = _lock_path(plan, config, file)
        write_prompt_lock(path, make_prompt_lock(plan))
        return path


def check_lock(
    config: Config | None = None, file: str | os.PathLike[str] | None = None, **options: Unpack[ConfigOptions]
) -> Drift:
    """Compare the prompts of a config with its lock; ``is_none`` of the result is True if they are the same.

    Args:
        config: a path, the name of a shipped config, a dict, or a loaded config.
        file: the lock; if left out, ``eval.lock`` beside ``eval.py``.
        options: as in `ConfigOptions`.

    Raises:
        ConfigFaults: everything that is wrong with the config.
        ConfigError: there is no lock, or it is of another config.
    """
    with public_errors():
        plan = _plan(config, options)
        return find_drift(plan, _lock_path(plan, config, file))


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
    texts = _override_texts(overrides)
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


def source_of(config: Config | None, options: ConfigOptions) -> Source:
    """Return the source that a config and options name.

    Raises:
        ConfigError: there is no such option, or the config cannot be read.
    """
    known = ConfigOptions.__annotations__
    if unknown := options.keys() - known:
        raise ConfigError(f"there is no option {listed(sorted(unknown))}", fix=f"options: {listed(known)}")
    sample = options.get("sample")
    if sample is None and options.keys() & {"sample_by", "sample_seed"}:
        raise ConfigError("sample_by and sample_seed are about the questions of sample", fix="add sample=N")
    url = options.get("url", ())
    overrides = options.get("overrides", ())
    models, datasets = _names(options.get("models", ()), "models"), _names(options.get("datasets", ()), "datasets")
    loaded = None if config is None else load_config(config, overrides)
    others = [models, datasets, url, options.get("hf_path", "")]
    if loaded is not None and any(others):
        raise ConfigError(
            "give either a config, or datasets and models by name, not both", fix="change values with overrides"
        )
    return Source(
        models=models,
        datasets=datasets,
        loaded=loaded,
        overrides=() if loaded else _override_texts(overrides),
        urls=(url,) if isinstance(url, str) else tuple(url),
        model=options.get("model"),
        hf_path=_text(options.get("hf_path")),
        hf_type=options.get("hf_type", "chat"),
        work_dir=_text(options.get("work_dir")),
        num_prompts=options.get("num_prompts"),
        sample=None
        if sample is None
        else SampleOption(str(sample), options.get("sample_by"), options.get("sample_seed", 0)),
        control=options.get("control"),
        cache=_text(options.get("cache")),
        allow_code_execution=options.get("allow_code_execution", False),
    )


def call_text(config: Config | None, **options: Unpack[ConfigOptions]) -> str:
    """Return a call of `ais_prompt.run` for the record of a run, without secrets."""
    named = [] if not isinstance(config, str | os.PathLike) else [repr(os.fspath(config))]
    hidden = {"overrides": [redacted_override(one) for one in _override_texts(options.get("overrides", ()))]}
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


def _plan(config: Config | None, options: ConfigOptions) -> Plan:
    """Return the plan of a config of which nothing will be executed."""
    plan, _ = checked(source_of(config, {**options, "allow_code_execution": "unsafe"}))
    return plan


def _lock_path(plan: Plan, config: Config | None, file: str | os.PathLike[str] | None) -> Path:
    named = os.fspath(config) if isinstance(config, str | os.PathLike) else None
    return prompt_lock_path(plan.spec, None if file is None else os.fspath(file), named)


def _override_texts(overrides: Mapping[str, Any] | Sequence[str]) -> list[str]:
    if isinstance(overrides, Mapping):
        return [f"{path}={plain_value(value, path)!r}" for path, value in overrides.items()]
    return [overrides] if isinstance(overrides, str) else list(overrides)


def _names(value: Sequence[str], key: str) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else tuple(value)
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise ConfigError(
            f"{key} takes the names of configs, and this is none: {wrong[0]!r:.60}",
            fix=f"give the config as a dict: dict({key}=[...], ...)",
        )
    return names


def _text(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)
