"""Make a run folder of a log of another tool, so that every verb works on it. Nothing of the log is executed.

The run folder has the log's own scores. `aisprompt score` scores the answers again: by our counterpart of the tool's
rule, where there is one, or by a config.
"""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, Final, Literal, TypedDict

from msgspec import field
from msgspec.structs import replace

from ais_prompt.config import DEFAULT_WORK_DIR, LoadedConfig, Options, expand
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.extension import all_of, import_object
from ais_prompt.extensions.logs.log_files import LogReading
from ais_prompt.extensions.logs.record import as_written_by
from ais_prompt.extensions.logs.samples import RuleSearch, SeenAnswers, read_samples
from ais_prompt.metrics import Estimate, estimated_means, mean_scores
from ais_prompt.plan import Plan, read_spec, record_of
from ais_prompt.report import write_summary
from ais_prompt.scoring import SampleScores, TaskOutcome, summary_rows
from ais_prompt.steps import installed_extensions
from ais_prompt.store import (
    ImportedLog,
    ImportedTask,
    LogFormat,
    RunFolder,
    create_run_folder,
    hold_writer_lock,
    prediction_sorter,
    write_results,
)
from ais_prompt.types import ELSEWHERE, LOG, Document, LoggedTask, LogRule, SampleScore, Score, TaskFacts
from ais_prompt.utils import counted, listed

_DEEPEST: Final = 50
"""Most dicts and lists around a value of a config: the parser of Python refuses 200."""
_LONGEST: Final = 100
"""Most characters of a name."""
_ROUNDED: Final = 0.005
"""A reported score may be rounded by so much."""
_LONGEST_NOTE: Final = 500
_MOST_NOTES: Final = 20
_NOT_IN_NAMES: Final = re.compile(r"[^\w.+=,@()\[\] -]+")


class LogTask(ImportedTask, frozen=True, kw_only=True):
    """One task of a log that holds records.

    Attributes:
        model, dataset: their ``abbr``.
        tool: that wrote the log.
        notes: what a user must know.
        config: the dataset in the config of the run.
    """

    model: str
    dataset: str
    tool: str
    notes: Sequence[str]
    config: Mapping[str, Any]


class ImportedTaskEntry(TypedDict):
    """One task of a log: numbers of samples, and metric → score in the log, as the other tool reports it."""

    name: str
    samples: int
    failed: int
    scores: dict[str, float]


class ImportDocument(Document, kw_only=True):
    """What ``import`` prints.

    Attributes:
        folder: the run folder.
        tasks: what is in it.
        notes: what a reader must know.
    """

    kind: Literal["import"]
    folder: str | None = None
    tasks: list[ImportedTaskEntry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def import_log(path: Path, options: Options, command: str) -> ImportedLog:
    """Make a run folder of a log.

    Args:
        path: a file, or a folder with files of one format.
        options: where run folders are kept; perhaps a config to read the log with, if its format takes one.
        command: the command line without secrets, for the record.

    Raises:
        ConfigError: it is no log of a known format, of several, or has a task twice.
        DataError: the log is broken or too large; nothing is left of the run folder then.
    """
    log = LogReading(path)
    known = _format_of(log)
    if known is None:
        raise _unknown(path, f"none of {listed([*all_of('logs'), *_installed()])}")
    if known.make_run is not None:
        return known.make_run(log, options, command)
    if options.config is not None or options.options:
        what = "the log comes with its scores"
        raise ConfigError(what, where=str(path), fix="score it afterwards: aisprompt score RUN --config CONFIG")
    return _import_records(log, known, options, command)


def open_log(path: Path) -> RunFolder | None:
    """Return a scored run folder of a log that is removed when the process ends; None if the path holds no log.

    Raises:
        AisPromptError: as `import_log`, or as the scoring of its answers.
    """
    log = LogReading(path)
    known = _format_of(log)
    if known is None:
        return None
    place = Path(tempfile.mkdtemp(prefix="aisprompt-log-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    options, command = Options(work_dir=str(place)), "a log that was only read"
    if known.make_run is not None:
        return known.make_run(log, options, command, scored=True).folder
    return _import_records(log, known, options, command).folder


def _format_of(log: LogReading) -> LogFormat | None:
    """Return the format of a log. Installed packages are asked if no shipped format recognizes it.

    Raises:
        ConfigError: it is of several.
    """
    for homes in (lambda: all_of("logs"), _installed):
        formats: list[LogFormat] = [import_object(home) for home in homes().values()]
        found = [one for one in formats if _recognizes(one, log)]
        # The folder of a run may hold files that are logs by themselves.
        found = [one for one in found if one.make_run is None] or found
        if len(found) > 1:
            raise _unknown(log.path, listed(one.name for one in found))
        if found:
            return found[0]
    return None


def _installed() -> dict[str, str]:
    return {name: home for one in installed_extensions() for name, home in one.logs.items()}


def _recognizes(known: LogFormat, log: LogReading) -> bool:
    with as_written_by(known.name, lambda: str(log.path)):
        return known.recognizes(log)


def _unknown(path: Path, names: str) -> ConfigError:
    what = f"the log must be of one known format; this is of {names}"
    return ConfigError(what, where=str(path), fix="name the file or folder that one tool wrote for one run")


def _import_records(log: LogReading, known: LogFormat, options: Options, command: str) -> ImportedLog:
    """Make a run folder of a log that holds records."""
    path = log.path
    tasks = _tasks(log, known)
    place = path.resolve()
    name = (place.name if place.is_dir() else place.stem) or "imported"
    folder = create_run_folder(expand(options.work_dir or DEFAULT_WORK_DIR), name)
    try:
        with hold_writer_lock(folder):
            imported = [_imported(task, folder) for task in tasks]
            _record(tasks, imported, folder, command, path)
    except BaseException as error:
        shutil.rmtree(folder.root, ignore_errors=True)
        if isinstance(error, RecursionError):
            raise DataError("the log is nested too deep", where=str(path), fix="name another file") from None
        raise
    return ImportedLog(folder, imported, [f"{one.name}: {note}" for one in imported for note in one.notes])


def _tasks(log: LogReading, known: LogFormat) -> list[LoggedTask]:
    with as_written_by(known.name, lambda: str(log.path)):
        tasks = list(known.read(log)) if known.read is not None else []
    places: dict[str, str] = {}
    for task in tasks:
        if (name := f"{_name(task.model)}/{_name(task.dataset)}") in places:
            what = f"{name} has two logs: {places[name]} and {task.where}"
            raise ConfigError(what, where=str(log.path), fix="name one of them")
        places[name] = task.where
    return tasks


def _imported(task: LoggedTask, folder: RunFolder) -> LogTask:
    """Write the predictions and scores of a task."""
    model, dataset = _name(task.model), _name(task.dataset)
    search = RuleSearch(task.rules, extracts=task.extracts)
    seen = SeenAnswers()
    path = folder.predictions(model, dataset)
    with prediction_sorter(path) as sorter:
        samples = SampleScores(read_samples(task, search, seen, sorter))
        if not len(samples):
            raise DataError("the log has not one answer", where=task.where, fix="name the log of a run that has asked")
        sorter.write(path)
        failed = sorter.failed
    scores: list[Score] = []
    if seen.metrics:
        found = _scores(seen.metrics, samples, task)
        lower = task.lower_is_better
        scores = [
            replace(
                one,
                reasons=samples.reasons,
                failed_samples=samples.failed,
                lower_is_better=lower.get(one.metric, one.lower_is_better),
            )
            for one in found
        ]
        values = [one.to_json() for one in scores]
        head = {"model": model, "dataset": dataset, "scores": values, "reported": dict(task.reported)}
        write_results(folder.results(model, dataset), head, (sample.to_json() for sample in samples))
    rule = search.found()
    return LogTask(
        name=f"{model}/{dataset}",
        model=model,
        dataset=dataset,
        tool=task.tool,
        samples=len(samples),
        failed=failed,
        scores=scores,
        reported=task.reported,
        notes=_shown([*task.notes, *_notes(seen, rule, search), *_other_scores(task, scores)]),
        config=_config(task, dataset, seen, rule),
    )


def _scores(metrics: Mapping[str, bool], samples: SampleScores, task: LoggedTask) -> Iterator[Score]:
    """Yield the score of each metric, as the log has it; where its tool takes no means of answers, then our mean.

    Args:
        metrics: name → whether all values are from 0 to 1; the main one first.
        samples: the score of each question.
        task: of the log.
    """
    reducer = task.reducer
    for name, fits in metrics.items():
        best = 1.0 if fits else None
        if reducer is None:
            yield from mean_scores([name], (_with_metric(one, name) for one in samples), best)
        else:
            yield from estimated_means([name], partial(_reduced, metric=name, best=best), samples, best)
    if reducer is not None:
        main, fits = next(iter(metrics.items()))
        known = (_with_metric(one, main) for one in samples)
        yield replace(mean_scores([main], known, 1.0 if fits else None)[0], metric=reducer.mean_metric)
    for name in task.further:
        yield from estimated_means([name], partial(_reduced, metric=name, best=1.0), samples, 1.0)


def _reduced(sample: SampleScore, metric: str, best: float | None) -> list[Estimate]:
    value = None if sample.status == "failed" else sample.values.get(metric)
    return [Estimate(None, 0.0, best or 0.0) if value is None else Estimate(value, value, value)]


def _other_scores(task: LoggedTask, scores: Sequence[Score]) -> Iterator[str]:
    """Yield how the scores were made of several answers, and which differ from those that the tool reports."""
    if task.reducer is not None:
        yield (
            f"the tool takes {task.reducer.name} of the {task.reducer.answers} answers to a question; "
            f"{task.reducer.mean_metric} is their mean"
        )
    for one in scores:
        said = task.reported.get(one.metric)
        if said is None or one.value is None:
            continue
        if min(abs(said - one.value), abs(said / 100 - one.value)) > _ROUNDED:
            yield f"the log reports {one.metric} {said:g}; over its answers it is {one.value:.4g}"


def _with_metric(score: SampleScore, metric: str) -> SampleScore:
    """Return the score of a sample; without a value of the metric the tool failed to score it by that."""
    if score.repeats:
        return replace(score, repeats=tuple(_with_metric(one, metric) for one in score.repeats))
    return replace(score, status="failed") if score.status == "scored" and metric not in score.values else score


def _notes(seen: SeenAnswers, rule: LogRule | None, search: RuleSearch) -> Iterator[str]:
    if seen.doubled:
        yield f"{counted(seen.doubled, 'id')} occur again; they have numbers behind them"
    if seen.varying:
        yield f"requests differ in {listed(sorted(seen.varying))}, which are left out of the decoding"
    if search.fault:
        yield search.fault
    if seen.metrics and rule is None:
        yield f"the tool scores by a rule of its own: no rule of ours gives 99 % of its {search.answers} verdicts"


def _shown(notes: Sequence[str]) -> list[str]:
    more = [f"and {len(notes) - _MOST_NOTES} more notes"] if len(notes) > _MOST_NOTES else []
    return [*(one if len(one) <= _LONGEST_NOTE else f"{one[:_LONGEST_NOTE]}…" for one in notes[:_MOST_NOTES]), *more]


def _config(task: LoggedTask, dataset: str, seen: SeenAnswers, rule: LogRule | None) -> dict[str, Any]:
    """Return a task as a dataset of a config. What is not here has a type that no registry finds."""
    scoring: dict[str, Any] = {}
    if rule is not None:
        reading = {"pred_postprocessor": dict(rule.postprocessor)} if rule.postprocessor else {}
        scoring = {"evaluator": dict(rule.evaluator), **reading}
    elif seen.metrics:
        scoring = {"evaluator": {"type": f"{ELSEWHERE}{task.tool}:{task.scorer or 'scorer'}"}}
    return {
        "abbr": dataset,
        "type": f"{ELSEWHERE}{task.tool}",
        LOG: task.where,
        "version": task.version,
        "asked": _literal(task.asked),
        "decoding": _literal(seen.decoding),
        "bodies": seen.has_bodies,
        "reader_cfg": {"input_columns": ["question"], "output_column": "gold"},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": "{question}"},
            "retriever": {"type": "ZeroRetriever"},
            "inferencer": {"type": "GenInferencer", **({"n": seen.repeats} if seen.repeats > 1 else {})},
        },
        "eval_cfg": scoring,
    }


def _literal(value: Any, depth: int = 0) -> Any:
    """Return JSON as a config can hold it: what is no literal of Python, such as NaN, or nested too deep is None."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, Mapping):
        return {str(key): _literal(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_literal(one, depth + 1) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _record(
    tasks: Sequence[LoggedTask], imported: Sequence[LogTask], folder: RunFolder, command: str, path: Path
) -> None:
    """Write the config and the record of the run."""
    models = {_name(task.model): {"type": f"{ELSEWHERE}{task.tool}", "model": task.model} for task in tasks}
    datasets: dict[str, Mapping[str, Any]] = {}
    for one in imported:
        if datasets.setdefault(one.config["abbr"], one.config) != one.config:
            what = f"the models of the log were asked or scored differently on {one.config['abbr']}"
            raise ConfigError(what, where=str(path), fix="import the log of one model at a time")
    values = {
        "models": [{"abbr": abbr, **model} for abbr, model in models.items()],
        "datasets": [dict(one) for one in datasets.values()],
        "model_dataset_combinations": [
            {"models": [abbr], "datasets": [one.config["abbr"] for one in imported if one.model == abbr]}
            for abbr in models
        ],
    }
    # All types in it are those that are written above, whatever the log says.
    spec = read_spec(Options(loaded=LoadedConfig(values, path.stem), work_dir=str(folder.root.parent.parent))).spec
    notes = [f"{one.name}: {note}" for one in imported for note in one.notes]
    record = record_of(Plan(spec), folder, command, asks=True, notes=notes).begin()
    by_name = {one.name: one for one in imported}
    for task in spec.tasks:
        found = by_name[task.name]
        model = {"type": found.tool, "model": task.model.part.args.get("model")}
        record.add_task(task, TaskFacts(model, samples=found.samples, failed=found.failed))
    rows = summary_rows(
        TaskOutcome(one.model, one.dataset, one.scores, predictions_only=not one.scores) for one in imported
    )
    write_summary(folder.summary_dir, rows, rows)  # what `view` shows
    record.finish("finished")


def _name(text: str) -> str:
    """Return a name of a model or dataset as the ``abbr`` of a config."""
    return _NOT_IN_NAMES.sub("_", text.strip()).strip("_")[:_LONGEST] or "unknown"
