"""Make the prompt lock of a config, and compare prompts: with a lock, or between configs, models and runs.

All prompts are rendered as they would be sent, without loading weights or sending requests. Programs do this with
`ais_prompt.lock` and `ais_prompt.check_lock`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import starmap
from pathlib import Path
from typing import Any, Final, Unpack, cast

from msgspec import Struct
from msgspec.structs import asdict, replace

from ais_prompt.checks import checked
from ais_prompt.config import Options, find_config, redacted
from ais_prompt.errors import AisPromptError, ConfigError
from ais_prompt.extensions.evidence.locks.drift import PACKAGES, Drift, TaskDrift, changed_parts, compare_task
from ais_prompt.extensions.evidence.locks.lock_file import read_prompt_lock, write_prompt_lock
from ais_prompt.models import HasTokenizerPath, Model, tokenizer_digests
from ais_prompt.plan import Plan, Task, stored_spec, with_model
from ais_prompt.preview import (
    Parts,
    PromptLock,
    TaskPrompts,
    compact_digest,
    prompt_of_text,
    text_of_prompt,
)
from ais_prompt.registry import INFERENCERS, RETRIEVERS, TEMPLATES, PartRegistry, is_shipped
from ais_prompt.secrets import SECRETS
from ais_prompt.store import RunFolder, locate_run, read_predictions, safe_name
from ais_prompt.terminal import tracked
from ais_prompt.types import (
    ChatMessage,
    Decoding,
    PartSpec,
    Prediction,
    Prompt,
    RunSpec,
    Sample,
    TaskSpec,
    prompt_from_json,
)
from ais_prompt.utils import digest, digest_of_list, versions
from ais_prompt.verbs import Config, ConfigOptions, planned, public_errors


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
        plan = planned(config, options)
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
        plan = planned(config, options)
        return find_drift(plan, _lock_path(plan, config, file))


def _lock_path(plan: Plan, config: Config | None, file: str | os.PathLike[str] | None) -> Path:
    named = os.fspath(config) if isinstance(config, str | os.PathLike) else None
    return prompt_lock_path(plan.spec, None if file is None else os.fspath(file), named)


_MADE_WITH: Final = ("ais-prompt", "transformers", "tokenizers")
"""The packages that can change the prompts of an unchanged config."""
_KEPT_AT_RANDOM: Final = 2
_LONGEST_KEPT: Final = 20_000
"""Maximum characters of a sample whose prompts a lock contains in full, because people review the file."""
_DIGITS: Final = 16
_FIRST_HOMES: Final = {
    "BM25Retriever": "ais_prompt.retrievers.bm25",
    "ChatInferencer": "ais_prompt.inferencers.chat",
    "ChoicesInferencer": "ais_prompt.inferencers.choices",
    "CLPInferencer": "ais_prompt.inferencers.clp",
    "FixKRetriever": "ais_prompt.retrievers.fix_k",
    "LLInferencer": "ais_prompt.inferencers.ll",
    "MultiTurnPromptTemplate": "ais_prompt.prompts.multi_turn",
    "MultiTurnToolCallInferencer": "ais_prompt.inferencers.multi_turn_tools",
    "PPLInferencer": "ais_prompt.inferencers.ppl",
    "PPLOnlyInferencer": "ais_prompt.inferencers.ppl_only",
    "RandomRetriever": "ais_prompt.retrievers.random",
    "SlidingWindowRetriever": "ais_prompt.retrievers.sliding_window",
    "TopkRetriever": "ais_prompt.retrievers.topk",
    "ZeroRetriever": "ais_prompt.retrievers.zero",
}
"""Shipped part that was moved → the module that it was in first, which is in the digests of all locks."""


def prompt_lock_path(spec: RunSpec, lock_file: str | None, config: str | None) -> Path:
    """Return the path of a config's lock: ``--lock-file``, or else beside the config, ``eval.lock`` for ``eval.py``.

    The lock of a shipped config, or of one composed by ``--models`` and ``--datasets``, is in the working directory.

    Args:
        spec: the config.
        lock_file: the value of ``--lock-file``; None without it.
        config: the name of the config on the command line; None for a composed one.
    """
    if lock_file is not None:
        return Path(lock_file)
    file = spec.config_file
    if file is None:
        return Path(f"{safe_name(spec.name)}.lock")
    is_users_own = file in (Path(config or ""), Path(f"{config}.py"))
    return file.with_suffix(".lock") if is_users_own else Path(file.with_suffix(".lock").name)


def make_prompt_lock(plan: Plan) -> PromptLock:
    """Render all prompts of a config for a lock, which covers all questions, whatever is limited or drawn.

    Raises:
        AisPromptError: a prompt cannot be built.
    """
    tasks = [
        replace(shortened(prompts), tokens=count_tokens(model, prompts.texts.values()))
        for prompts, model in render_tasks(_without_limit(plan).tasks)
    ]
    return PromptLock(plan.spec.name, _made_with(), tasks)


def find_drift(plan: Plan, path: Path) -> Drift:
    """Render all prompts of a config, and compare them with its lock. Tokens are counted only for changed tasks.

    Raises:
        ConfigError: there is no lock, it cannot be used, or it belongs to another config.
        AisPromptError: a prompt cannot be built.
    """
    spec, lock = plan.spec, read_prompt_lock(path)
    if lock.config != spec.name:
        fix = "name the right one with --lock-file, or write one: aisprompt lock CONFIG"
        raise ConfigError(f"this is the lock of {lock.config!r}, not of {spec.name!r}", where=str(path), fix=fix)
    locked = {task.name: task for task in lock.tasks}
    tasks, names = [], []
    for prompts, model in render_tasks(_without_limit(plan).tasks):
        names.append(prompts.name)
        if prompts.name in locked:
            tasks.append(_task_drift(locked[prompts.name], prompts, model))
    return Drift(
        (str(path), spec.name),
        tasks,
        only_before=[name for name in locked if name not in names],
        only_after=[name for name in names if name not in locked],
        made_with=changed_parts({PACKAGES: lock.made_with}, {PACKAGES: _made_with()}),
    )


def _task_drift(locked: TaskPrompts, prompts: TaskPrompts, model: Model) -> TaskDrift:
    drift = compare_task(locked, prompts)
    if drift.is_none:
        return replace(drift, after=replace(prompts, texts={}))  # free the texts: there may be many more tasks
    if locked.tokens is None:
        return drift
    return replace(drift, after=replace(prompts, tokens=count_tokens(model, prompts.texts.values())))


def _made_with() -> dict[str, str]:
    found = versions()
    return {name: found[name] for name in _MADE_WITH if name in found}


def _without_limit(plan: Plan) -> Plan:
    """Return the plan of all questions: the same plan, unless ``--num-prompts`` or ``sample`` leaves some out."""
    if all(dataset.spec.reader.limit is None and dataset.spec.reader.sample is None for dataset in plan.datasets):
        return plan
    whole = {"limit": None, "sample": None}
    datasets = (replace(dataset, reader=replace(dataset.reader, **whole)) for dataset in plan.spec.datasets)
    return Plan(replace(plan.spec, datasets=tuple(datasets)))


def shortened(prompts: TaskPrompts) -> TaskPrompts:
    """Keep a few prompts in full: the first, the longest, and some at random, but none that contains a secret.

    Ids are digests of rows, so the smallest ids are a random choice that does not depend on the other rows.
    """
    lengths = {sample: sum(map(len, texts)) for sample, texts in prompts.texts.items()}
    fitting = [
        sample
        for sample, length in lengths.items()
        if length <= _LONGEST_KEPT and not any(SECRETS.hide_and_count(text)[1] for text in prompts.texts[sample])
    ]
    if not fitting:
        return replace(prompts, texts={})
    chosen = {fitting[0], max(fitting, key=lambda sample: lengths[sample]), *sorted(fitting)[:_KEPT_AT_RANDOM]}
    return replace(prompts, texts={sample: texts for sample, texts in prompts.texts.items() if sample in chosen})


def task_parts(task: Task) -> Parts:
    """Return everything that determines the prompts of a task.

    Raises:
        ModelError: the tokenizer cannot be found or read.
        AisPromptError: the first question cannot be asked.
    """
    parts = {
        "data": {split: f"{len(table)} rows {table.digest[:_DIGITS]}" for split, table in task.data.tables.items()},
        "templates": template_parts(task.spec),
        "shots": _shots(task),
        "tokenizer": _tokenizer(task),
        "decoding": _decoding(task),
    }
    # The same types as after reading a file: tuples become lists.
    plain: Parts = json.loads(json.dumps({kind: named for kind, named in parts.items() if named}, default=str))
    return plain


def template_parts(task: TaskSpec) -> dict[str, str]:
    """Return a digest for each template of a task, and for the inferencer, which determines the requests."""
    infer, model = task.dataset.infer, task.model
    parts = {
        "prompt_template": part_digest(TEMPLATES, infer.prompt_template),
        "ice_template": part_digest(TEMPLATES, infer.ice_template),
        "inferencer": part_digest(INFERENCERS, infer.inferencer),
        "meta_template": digest(model.meta_template.config, _DIGITS) if model.meta_template else None,
        "role_template": digest(model.prompt_template, _DIGITS) if model.prompt_template else None,
    }
    return {name: found for name, found in parts.items() if found is not None}


def part_digest(registry: PartRegistry, spec: PartSpec | None) -> str | None:
    """Return the digest of a part: the same for its registered name, its class and its dotted path.

    A part that has moved says its first path as ``named_in_locks``, which is not inherited, or it is above.
    """
    if spec is None:
        return None
    try:
        part = registry.get(spec.type)
        home = _FIRST_HOMES.get(part.__qualname__, part.__module__) if is_shipped(part) else part.__module__
        name = getattr(part, "__dict__", {}).get("named_in_locks") or f"{home}.{part.__qualname__}"
    except AisPromptError:  # the part of a stored run may no longer exist
        name = spec.type
    return digest({"type": name, "args": spec.args}, _DIGITS)


def _shots(task: Task) -> dict[str, Any]:
    shown = sorted({row for rows in task.dataset.shot_ids for row in rows})
    if not shown:
        return {}
    ids = {row: task.data.train[row].row_id for row in shown}
    chosen = ([ids[row] for row in rows] for rows in task.dataset.shot_ids)
    return {
        "retriever": part_digest(RETRIEVERS, task.spec.dataset.infer.retriever),
        "chosen rows": digest_of_list(chosen, _DIGITS),
    }


def _tokenizer(task: Task) -> dict[str, str]:
    model = task.model
    if not isinstance(model, HasTokenizerPath) or not model.tokenizer_path:
        return {}
    digests = tokenizer_digests(model.tokenizer_path)
    if not digests:  # a hub id: download it now, so that its files are found
        model.tokenizer()
        digests = tokenizer_digests(model.tokenizer_path)
    options = task.spec.model.part.args.get("tokenizer_kwargs")
    return {**digests, **({"tokenizer_kwargs": digest(options, _DIGITS)} if options else {})}


def _decoding(task: Task) -> Mapping[str, Any]:
    """Return the decoding of the first request, without options that are not set."""
    for sample in task.data.test[:1]:
        for request in next(task.inferencer.converse(sample, task.shots(sample), task.context), ()):
            if isinstance(request.decoding, Decoding):
                settings = {
                    name: value for name, value in asdict(request.decoding).items() if value not in (None, {}, ())
                }
                return {name: redacted(value, name) for name, value in settings.items()}
    return {}


def render_tasks(tasks: Iterable[Task]) -> Iterator[tuple[TaskPrompts, Model]]:
    """Yield the prompts of each task with its model: of all labels, and of all turns of a dialogue with gold answers.

    Tokens are not counted.

    Raises:
        AisPromptError: a prompt cannot be built.
    """
    for task in tasks:
        # A lock identifies whole rows, because an example also shows its gold.
        work = tracked(task.data.test, f"rendering {task.spec.name}")
        texts = {sample.row_id: _texts(task, sample) for sample in work}
        yield task_prompts(task.spec, texts, task_parts(task)), task.model


def task_prompts(task: TaskSpec, texts: dict[str, tuple[str, ...]], parts: Parts) -> TaskPrompts:
    """Return the prompts of a task from their texts."""
    work = tracked(texts.items(), f"digesting {task.name}", len(texts), "samples")
    digests = {sample: tuple(map(compact_digest, of_sample)) for sample, of_sample in work}
    characters = sum(len(text) for of_sample in texts.values() for text in of_sample)
    return TaskPrompts(task.model.abbr, task.dataset.abbr, parts, digests, texts, characters)


def count_tokens(model: Model, texts: Iterable[Sequence[str]]) -> int | None:
    """Return the total tokens of prompts; None if there is no tokenizer, or a prompt cannot be counted."""
    total = 0
    try:
        for of_sample in tracked(texts, "counting tokens", unit="samples"):
            for text in of_sample:
                counted = model.count_tokens(prompt_of_text(text))
                if counted is None:
                    return None
                total += counted
    except AisPromptError:  # its chat template may reject messages that the server accepts
        return None
    return total


def _texts(task: Task, sample: Sample) -> tuple[str, ...]:
    try:
        views = task.inferencer.preview(sample, task.shots(sample), task.context)
    except AisPromptError as error:
        error.where = error.where or f"sample {sample.id}, row {sample.index}"
        raise
    return tuple(text_of_prompt(view.prompt) for view in views)


class SideTask(Struct, frozen=True):
    """The prompts of a task, and the model that counts their tokens; None for the prompts of a run."""

    prompts: TaskPrompts
    model: Model | None = None


class Side(Struct, frozen=True):
    """One side of a comparison.

    Attributes:
        name: the name that the user gave.
        tasks: the prompts of each task.
        is_run: whether it is a run. Of the parts of a run only the templates are known.
    """

    name: str
    tasks: Sequence[SideTask]
    is_run: bool = False


def open_side(name: str, work_dir: Path, model: str | None = None) -> Side:
    """Render the prompts of a config, or read those of a run.

    Args:
        name: path or shipped name of a config, or a run as `locate_run` finds it.
        work_dir: the folder to search for runs.
        model: ``abbr`` of the only model to take; None for all.

    Raises:
        ConfigError: the name is neither a config nor a run, the config has faults, the run has no predictions, or the
            model is unknown.
        AisPromptError: a prompt cannot be built, or the run cannot be read.
    """
    config = None
    with suppress(ConfigError):  # it is a run, then
        config = None if Path(name).is_dir() else find_config(name)
    if config is None:
        folder = _run(name, work_dir)
        sent = list(_sent_prompts(with_model(stored_spec(folder), model), folder))
        if not sent:
            fix = "wait until it has ended, or resume it: aisprompt run … -r"
            raise ConfigError("the run has no predictions yet", where=str(folder.root), fix=fix)
        return Side(name, list(map(SideTask, sent)), is_run=True)
    plan, _ = checked(Options(str(config), allow_code_execution="unsafe"))  # nothing is executed here
    chosen = {one.abbr for one in with_model(plan.spec, model).models}
    tasks = [task for task in plan.tasks if task.spec.model.abbr in chosen]
    return Side(name, list(starmap(SideTask, render_tasks(tasks))))


def _run(name: str, work_dir: Path) -> RunFolder:
    try:
        return locate_run(work_dir, name)
    except ConfigError as error:
        fix = f"name a .py file, a shipped config, or a run; {error.fix}"
        raise ConfigError(f"{name!r} is neither a config nor a run", where=error.where, fix=fix) from None


def compare_sides(before: Side, after: Side) -> Drift:
    """Compare two sides task by task.

    If each side has only one model, the two are compared even if their names differ; the same for datasets.
    """
    old, new = _by_names(before), _by_names(after)
    models = _partners([model for model, _ in old], [model for model, _ in new])
    datasets = _partners([dataset for _, dataset in old], [dataset for _, dataset in new])
    templates_only = before.is_run or after.is_run
    drifts, gone = [], []
    for (model, dataset), task in old.items():
        partner = new.pop((models.get(model, ""), datasets.get(dataset, "")), None)
        if partner is None:
            gone.append(task.prompts.name)
        else:
            drifts.append(_drift(task, partner, templates_only=templates_only))
    return Drift((before.name, after.name), drifts, gone, [task.prompts.name for task in new.values()])


def _by_names(side: Side) -> dict[tuple[str, str], SideTask]:
    return {(task.prompts.model, task.prompts.dataset): task for task in side.tasks}


def _partners(before: Sequence[str], after: Sequence[str]) -> dict[str, str]:
    """Return name before → name after."""
    old, new = dict.fromkeys(before), dict.fromkeys(after)
    if len(old) == len(new) == 1:
        return dict(zip(old, new, strict=True))
    return {name: name for name in old if name in new}


def _drift(before: SideTask, after: SideTask, *, templates_only: bool) -> TaskDrift:
    """Compare the prompts of a task; tokens are counted only if something changed."""
    if templates_only:
        before, after = _with_templates(before), _with_templates(after)
    drift = compare_task(before.prompts, after.prompts)
    return drift if drift.is_none else replace(drift, before=_counted(before), after=_counted(after))


def _with_templates(task: SideTask) -> SideTask:
    parts = {"templates": task.prompts.parts.get("templates", {})}
    return replace(task, prompts=replace(task.prompts, parts=parts))


def _counted(task: SideTask) -> TaskPrompts:
    tokens = None if task.model is None else count_tokens(task.model, task.prompts.texts.values())
    return replace(task.prompts, tokens=tokens)


def _sent_prompts(spec: RunSpec, folder: RunFolder) -> Iterator[TaskPrompts]:
    """Yield the prompts of each task that has predictions."""
    for task in spec.tasks:
        path = folder.predictions(task.model.abbr, task.dataset.abbr)
        if path.is_file():
            texts = {
                prediction.row_digest: tuple(map(text_of_prompt, _prompts(prediction)))
                for prediction in read_predictions(path)
            }
            yield task_prompts(task, texts, {"templates": template_parts(task)})


def _prompts(prediction: Prediction) -> tuple[Prompt, ...]:
    """Return the prompt of each label, of each turn, or the only prompt."""
    of_labels = [found["prompt"] for found in prediction.labels.values() if "prompt" in found]
    if of_labels:
        return tuple(map(prompt_from_json, of_labels))
    origin = prediction.origin_prompt
    if isinstance(origin, str) or isinstance(next(iter(origin), None), ChatMessage):
        return (cast(Prompt, origin),)
    return cast("tuple[Prompt, ...]", origin)
