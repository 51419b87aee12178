"""Run every model on every dataset. The steps, for the command line and Python alike:

1. Load and check the config, and plan its tasks: `ais_prompt.checks.checked`.
2. Ask servers for the name of their only model, where the config leaves it out: `with_found_models`.
3. Check that the models can be used, and find or make the run folder: `open_run_folder`; or `open_foreign`, to score
   answers that were made elsewhere.
4. Ask and score: `run_source`, which begins a session, leaves the tasks to `ais_prompt.verbs.tasks.ask_and_score`, and
   then writes the summary and the report.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from ais_prompt.checks import TranslationNote
from ais_prompt.config import Options, Surroundings, hidden_again
from ais_prompt.engine import AskingOptions, ShardTask, Spending, asked_alike
from ais_prompt.errors import AisPromptError, ConfigError, Paused
from ais_prompt.models import ApiModel, BatchModel, Model, StartsServer, address_of
from ais_prompt.plan import Plan, PlannedModel, build_model, record_of
from ais_prompt.preview import write_prompts
from ais_prompt.report import forget_report, reasons_of, write_report, write_speed, write_summary
from ais_prompt.scoring import (
    Row,
    TaskOutcome,
    check_stored,
    forget_partial,
    open_partial,
    select,
    summary_rows,
    with_averages,
)
from ais_prompt.steps import steps, tell
from ais_prompt.store import (
    RunFolder,
    RunRecord,
    RunStatus,
    create_run_folder,
    find_run_folder,
    hold_writer_lock,
    is_made_here,
    read_questions,
    reading,
    recorded,
    write_config,
    write_predictions,
)
from ais_prompt.terminal import logging_to
from ais_prompt.types import (
    DatasetSpec,
    EvalSpec,
    ModelSpec,
    Prediction,
    Speed,
    SummaryGroup,
    TaskFacts,
    TaskSpec,
    Used,
)
from ais_prompt.utils import remove_leftovers
from ais_prompt.verbs.run_session import RunMode, Session
from ais_prompt.verbs.tasks import ask_and_score, stored_outcomes

if TYPE_CHECKING:
    from ais_prompt.comparison import Difference
    from ais_prompt.engine import ModelWorkers
    from ais_prompt.models import StartedServers

logger = logging.getLogger(__name__)


class RunResult(Struct, frozen=True):
    """The result of a run.

    Attributes:
        folder: the run folder; of an unfinished run that was scored, the folder of its scores so far.
        outcomes: how each task ended.
        rows: of the summary, those for people.
        failed, asked: samples that failed, because of the model, a judge or the gold; and samples in all.
        reasons: why answers failed → how many of them.
        speeds: task → how fast its served model answered.
        isolation: task → how the programs of its answers were kept apart from the machine.
        used: the requests, tokens and cost of this session.
        is_partial: whether the run was scored before it was finished.
        differences: of a run with two models, from `ais_prompt.comparison.differences.model_differences`.
    """

    folder: RunFolder
    outcomes: Sequence[TaskOutcome]
    rows: Sequence[Row]
    failed: int
    asked: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    speeds: Mapping[str, Speed] = field(default_factory=dict)
    isolation: Mapping[str, str] = field(default_factory=dict)
    used: Used = Used()
    is_partial: bool = False
    differences: Sequence[Difference] = ()

    @property
    def paused(self) -> list[Paused]:
        """Why tasks are paused, one for each."""
        return [outcome.error for outcome in self.outcomes if isinstance(outcome.error, Paused)]


def with_found_models(plan: Plan, mode: RunMode) -> Plan:
    """Return the plan with the names of the models and judges that are asked; the same plan if the config has them.

    Args:
        plan: of a checked config.
        mode: as in `run`.

    Raises:
        ConfigError: a server has several models.
        ModelError: a server does not answer or lists no models, or its key or address cannot be used.
    """
    if not any(_is_unnamed(planned.spec) for planned in asked(plan, mode)):
        return plan
    spec = plan.whole.spec
    if mode != "eval":
        spec = replace(spec, models=tuple(map(_named, spec.models)))
    if mode != "infer":
        spec = replace(spec, datasets=tuple(map(_with_named_judges, spec.datasets)))
    named = Plan(spec)
    return named if plan is plan.whole else named.only({task.name for task in plan.tasks})


def open_run_folder(plan: Plan, mode: RunMode = "all", reuse: str | None = None) -> RunFolder:
    """Check that the models can be used, and find or make the run folder.

    Args:
        plan: of a checked config.
        mode: as in `run`; scoring and summary alone need ``reuse``.
        reuse: ``latest`` or the name of the run folder to be taken up again; None makes a new one.

    Raises:
        ModelError: a model surely cannot be used.
        ConfigError: there is no such run folder, or none can be made.
    """
    if mode in ("eval", "viz") and reuse is None:
        raise ConfigError(f"-m {mode} works on a run that is there already", fix="add -r, or -r TIMESTAMP")
    for model in asked(plan, mode):
        model.preflight()
    folder = find_or_make(plan, reuse)
    if mode in ("all", "infer") and folder.root.name == RunFolder(folder.root.parent).partial.root.name:
        what = "this folder holds scores of a run that is not finished, and cannot be taken up again"
        raise ConfigError(what, where=str(folder.root), fix=f"-r {folder.root.parent}")
    return folder


def check_retry(session: Session, shards: object | None = None) -> None:
    """Check that there are truncated answers to be asked again.

    Args:
        session: of the run.
        shards: what asks in shards, whose folders do not have the answers of earlier sessions; None for no shards.

    Raises:
        ConfigError: no run is taken up again, nothing is asked, or shards ask.
    """
    if session.retry_truncated is None:
        return
    what = "truncated answers of an earlier session are asked again, and there is none"
    if session.reuse is None:
        fix = "add -r, or -r TIMESTAMP"
    elif session.mode not in ("all", "infer"):
        fix = "leave out the mode"
    elif shards is not None:
        what = "shards do not ask truncated answers again"
        fix = "run without --shard and runner: only they are asked"
    else:
        return
    raise ConfigError(what, where="--retry-truncated", fix=fix)


def find_or_make(plan: Plan, reuse: str | None) -> RunFolder:
    """Find the run folder of ``reuse``, or make a new run folder.

    Raises:
        ConfigError: there is no such run folder, or none can be made.
    """
    spec = plan.spec
    if not reuse:
        return create_run_folder(spec.work_dir, spec.name)
    return find_run_folder(spec.work_dir, spec.name, reuse)


def open_foreign(file: Path, options: Options, command: str) -> tuple[Plan, RunFolder]:
    """Make a run folder with answers that were made elsewhere.

    Answers that are missing, doubled or foreign are named in warnings; questions without one that can be trusted have
    failed.

    Args:
        file: the answers; see `ais_prompt.scoring.foreign_answers.read_answers`.
        options: the config with the dataset, in ``answered_by`` who answered, and in ``answered`` which dataset.
        command: the command line without secrets, for the record.

    Raises:
        ConfigError: the config has faults, or it is not clear which dataset is meant.
        DataError: the answers or the data cannot be read, or do not belong together.
    """
    from ais_prompt.checks import checked_for_scoring
    from ais_prompt.scoring import match, predictions, read_answers

    plan = checked_for_scoring(options)
    [task], data = plan.spec.tasks, plan.datasets[0].data
    matched = match(read_answers(file), data.test)
    folder = create_run_folder(plan.spec.work_dir, plan.spec.name)
    with hold_writer_lock(folder), logging_to(folder.logs / "run.log"):
        record = record_of(plan, folder, command, asks=True).begin()
        failed: Counter[bool] = Counter()
        made = _counted(predictions(matched, data.test, task.dataset.reader.output_column), failed)
        write_predictions(folder.predictions(task.model.abbr, task.dataset.abbr), made)
        for remark in matched.remarks(data.test):
            logger.warning("[%s] %s", task.name, remark)
        identity = {"answers": str(file.absolute())}
        record.add_task(task, TaskFacts(identity, data.digest, data.origins, len(data.test), failed[True]))
        record.finish("finished")
    return plan, folder


def _counted(predictions: Iterable[Prediction], failed: Counter[bool]) -> Iterator[Prediction]:
    """Yield the predictions, and count those that failed."""
    for prediction in predictions:
        failed[prediction.failed] += 1
        yield prediction


def asked(plan: Plan, mode: RunMode) -> Iterator[PlannedModel]:
    """Yield the models and judges that are asked in a mode."""
    if mode in ("all", "infer"):
        yield from plan.models
    if mode in ("all", "eval"):
        yield from plan.judges


def run_source(
    plan: Plan,
    folder: RunFolder,
    session: Session,
    *,
    shard: Mapping[str, ShardTask] | None = None,
) -> RunResult:
    """Run every model on every dataset, and leave predictions, scores and a summary in the run folder.

    Args:
        plan: of a checked config.
        folder: from `open_run_folder`.
        session: what is done, and how; without a report an earlier report is removed.
        shard: ask only this part of each task of the plan, in a folder that no other process knows of.

    Raises:
        ConfigError: a run that is only to be scored or shown lacks answers or scores (`check_stored`).
        AisPromptError: the run folder cannot be used. The errors of single tasks are in the result instead.
        Interrupted: stopped by Ctrl-C; everything so far is kept.
    """
    mode = session.mode
    unfinished = open_partial(plan, folder, session.command) if mode in ("eval", "viz") else None
    if unfinished is not None:  # The run folder stays as it is, so that asking can go on, even in another process.
        folder, mode = unfinished, "eval"
    # File systems that machines share do not always have locks; the folder of a shard needs none.
    with nullcontext() if shard is not None else hold_writer_lock(folder), logging_to(folder.logs / "run.log"):
        if mode in ("eval", "viz"):
            check_stored(plan, folder, mode)
        for begin in steps("begin"):
            begin(folder, plan, mode)
        record = _begin_session(plan, folder, mode, session)
        with recorded(record, folder):
            spec, tasks = plan.spec, [task.spec for task in plan.tasks]
            spending = Spending(spec.budget)
            retry, alike = session.retry_truncated, asked_alike(spec.datasets)
            asking = AskingOptions(spec.cache, record.addresses, spending, shard, retry, alike)
            if mode == "viz":
                outcomes = stored_outcomes(plan.tasks, folder)
            else:
                if mode != "eval" and shard is None:
                    write_prompts(plan.tasks, folder)
                announced = None if shard is None else folder.run_of_shard.servers
                parts = started_parts(plan, mode, folder.logs / "servers", announced, session.max_num_workers)
                with parts as (started, workers):
                    outcomes = ask_and_score(started, mode, folder, record, asking, workers, audits=session.audits)
            record.note_used(spending.used)
            rows = with_averages(summary_rows(outcomes), spec.summary.groups, partial(_questions, folder))
            groups = {group.name for group in spec.summary.groups}
            shown = select(rows, spec.summary.entries, groups, shows_missing=spec.summary.shows_missing)
            if record.asked_nothing and all(outcome.error for outcome in outcomes):
                logger.warning("nothing was scored; the config and the scores of the run are as before")
                record.withdraw()
            else:
                write_summary(folder.summary_dir, rows, shown)
                _end_session(record, folder, tasks, outcomes, with_report=session.report)
        if shard is None:
            tell("finished", folder.root, shown)
    failed = sum(_failed(task, outcome, record) for task, outcome in zip(tasks, outcomes, strict=True))
    return RunResult(
        folder,
        outcomes,
        shown,
        failed,
        asked=sum(record.samples(task) or 0 for task in tasks),
        reasons=reasons_of(outcomes, "failed"),
        speeds=record.speeds(tasks),
        isolation=record.isolation,
        used=spending.used,
        is_partial=unfinished is not None,
        differences=_differences(folder, tasks, spec.summary.groups),
    )


def _differences(folder: RunFolder, tasks: Sequence[TaskSpec], groups: Sequence[SummaryGroup]) -> Sequence[Difference]:
    if len({task.model.abbr for task in tasks}) < 2:
        return ()
    from ais_prompt.comparison import model_differences

    return model_differences(folder, tasks, groups)


def _begin_session(plan: Plan, folder: RunFolder, mode: RunMode, session: Session) -> RunRecord:
    """Clean up after earlier sessions, open the record of this session, and log the changes since the last session.

    Raises:
        StoreError: the run folder cannot be used.
    """
    logger.info("session begins: %s", session.command)
    remove_leftovers(folder.root.rglob(".*.tmp"))
    asks = mode in ("all", "infer")
    if asks:
        forget_partial(folder)
        for warning in session.warnings:
            level = warning.level if isinstance(warning, TranslationNote) else logging.WARNING
            logger.log(level, "%s", warning)
    _hide_again(folder)
    addresses = model_addresses(plan, mode)
    notes = [str(one) for one in session.warnings if isinstance(one, TranslationNote)]
    record = record_of(plan, folder, session.command, addresses, asks=asks, notes=notes)
    if record.changes:
        logger.warning("the config changed since the last session:\n  %s", "\n  ".join(record.changes))
    for abbr, before in record.moved.items():
        logger.warning(
            "%s: earlier answers came from %s, now %s is asked; answers to the same prompts are kept",
            abbr,
            before,
            addresses[abbr],
        )
    return record


def _hide_again(folder: RunFolder) -> None:
    """Hide secrets that an earlier version left open in ``config.py``, before the session notes what changed."""
    if folder.config_file.exists():
        with reading(folder.config_file, fix="start a new run without -r"):
            written = folder.config_file.read_text("utf-8", "replace")
        if (hidden := hidden_again(written)) != written:
            write_config(folder, hidden, trusted=is_made_here(folder, written.encode("utf-8", "replace")))


def model_addresses(plan: Plan, mode: RunMode) -> dict[str, str]:
    """Return ``abbr`` → address of each model that is asked and served; the task of a broken model says why."""
    found = {}
    for planned in asked(plan, mode):
        with suppress(AisPromptError):
            found[planned.spec.abbr] = address_of(planned.model)
    return {abbr: address for abbr, address in found.items() if address is not None}


@contextmanager
def started_parts(
    plan: Plan, mode: RunMode, logs: Path, announced: Path | None = None, number: int | None = None
) -> Iterator[tuple[Plan, ModelWorkers | None]]:
    """Let models start their servers and workers when they are asked. All of them end with the context.

    Args:
        plan, mode: of the run.
        logs, announced: as of `StartedServers`.
        number: of workers; None lets local models compute in this process.

    Yields:
        The plan whose local models compute in the workers, and the workers.
    """
    with ExitStack() as stack:

        @cache
        def servers() -> StartedServers:
            from ais_prompt.models import StartedServers

            return stack.enter_context(StartedServers(logs, announced))

        workers = None
        if number is not None:
            from ais_prompt.engine import ModelWorkers

            surroundings = Surroundings.here(plan.spec.resolved)
            workers = stack.enter_context(ModelWorkers(number, servers(), surroundings))
        moved: dict[PlannedModel, Model] = {}
        for planned in asked(plan, mode):
            with suppress(AisPromptError):  # a model that cannot be built ends its tasks
                model = planned.model
                if isinstance(model, StartsServer):
                    if model.server is not None:
                        model.start_with(servers(), planned.spec.abbr)
                elif workers and isinstance(model, BatchModel):
                    moved[planned] = workers.move(model, planned.spec)
        yield plan.with_models(moved) if moved else plan, workers


def _end_session(
    record: RunRecord,
    folder: RunFolder,
    tasks: Sequence[TaskSpec],
    outcomes: Sequence[TaskOutcome],
    *,
    with_report: bool,
) -> None:
    """Write speeds and report of a session, whose summary is written, and close its record."""
    write_speed(folder.summary_dir, record.speeds(tasks))
    unfinished = record.unfinished(tasks)
    record.finish(_status(outcomes, unfinished))
    if not unfinished:
        forget_partial(folder)
    if with_report:
        write_report(folder)
    else:
        forget_report(folder)


def _status(outcomes: Sequence[TaskOutcome], unfinished: Sequence[str]) -> RunStatus:
    """Return how a session ended; a session that only scores cannot finish a run that has open requests."""
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if errors:
        return "paused" if all(isinstance(error, Paused) for error in errors) else "failed"
    return "partial" if unfinished else "finished"


def _questions(folder: RunFolder, row: Row) -> list[tuple[str, float]]:
    return list(read_questions(folder.results(row.model, row.dataset), row.metric or ""))


def _failed(task: TaskSpec, outcome: TaskOutcome, record: RunRecord) -> int:
    """Return how many samples of a task failed; before scoring, only those without an answer are known."""
    by_score = outcome.scores[0].failed_samples if outcome.scores else None
    return record.unanswered(task) if by_score is None else by_score


def _with_named_judges(dataset: DatasetSpec) -> DatasetSpec:
    def named(scoring: EvalSpec) -> EvalSpec:
        if (judge := scoring.judge) is None:
            return scoring
        return replace(scoring, judge=replace(judge, models=tuple(map(_named, judge.models))))

    return replace(dataset, eval=dataset.eval.for_each(named))


def _is_unnamed(spec: ModelSpec) -> bool:
    return spec.part.args.get("model") == ""


def _named(spec: ModelSpec) -> ModelSpec:
    if not _is_unnamed(spec) or not isinstance(model := build_model(spec), ApiModel):
        return spec
    return replace(spec, part=replace(spec.part, args={**spec.part.args, "model": model.only_model()}))
