"""``aisprompt run --shard`` and ``--runner``: which part of the run this process asks, or starts others for."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, Any

from ais_prompt.cli.ending import exit_code, show, show_folder
from ais_prompt.cli.modes import DividedRun, ModeRun
from ais_prompt.cli.options import shown_command
from ais_prompt.cli.verb import echo, hint, repeat_mistakes
from ais_prompt.verbs import Session

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ais_prompt.config import Options
    from ais_prompt.plan import Plan
    from ais_prompt.store import RunFolder
    from ais_prompt.types import RunSpec
    from ais_prompt.verbs import FailureLimit

NOT_IN_SHARDS = ("gates", "baseline", "junit", "markdown")
"""Options about the scores of the whole run, which no shard has."""


def divided(session: Session) -> DividedRun:
    """Return how the shards of a run ask it."""
    return DividedRun(
        options=partial(_options, session),
        tasks=partial(tasks_of_shard, session.shard, session.reuse),
        preview=_preview,
        run=_run,
    )


def _options(session: Session, options: Options) -> Options:
    if session.shard is None and session.runner is None:
        return options
    from ais_prompt.extensions.shards.by_runner import with_runner

    return with_runner(options, session.runner, is_shard=session.shard is not None)


def _preview(run: ModeRun) -> None:
    if run.plan.spec.runner is not None:
        from ais_prompt.extensions.shards.by_runner import preview_shards

        preview_shards(run)


def _run(run: ModeRun, gate_values: Mapping[str, Any]) -> int | None:
    session, runner = run.session, run.plan.spec.runner
    if session.shard is not None:
        refuse_scores_of_shard(session.mode, gate_values)
        return run_shard(run.plan, session, session.shard, debug=run.debug)
    if runner is not None and session.mode in ("all", "infer"):
        from ais_prompt.extensions.shards.by_runner import run_by_runner
        from ais_prompt.verbs import check_retry

        check_retry(session, runner)
        return run_by_runner(run)
    return None


def run_shard(plan: Plan, session: Session, shard: str, *, debug: bool) -> int:
    """Ask one shard, score the run if it was the last, and return the exit code."""
    from ais_prompt.errors import ConfigError, StoreError
    from ais_prompt.extensions.shards.partition import ask_shard
    from ais_prompt.extensions.shards.shard_folders import is_asked, parse_shard, shared_run_folder
    from ais_prompt.verbs import with_found_models

    if session.reuse is None:
        fix = "give all shards the same one, such as the id of the job: -r 4711"
        raise ConfigError("shards need the name of the run folder that they share", where="--shard", fix=fix)
    part = parse_shard(shard)
    plan = with_found_models(plan, session.mode)
    for model in plan.models:
        model.preflight()
    folder = shared_run_folder(plan.spec.work_dir, plan.spec.name, session.reuse)
    hint(f"Run folder: {folder.root}, shard {part}", err=True)
    result = ask_shard(plan, folder, part, session)
    code = exit_code(result, session.max_failures, debug=debug)
    repeat_mistakes(session.warnings)
    if not is_asked(folder):
        echo(f"Shard {part} is done: {result.asked:,} samples. The others: aisprompt status {quoted(folder)}")
        return code
    if session.mode == "infer":
        echo(f"All shards are done. Score them: aisprompt merge {quoted(folder)}")
        return code
    try:
        scored = score(plan.whole, folder, session.max_failures, debug=debug)
    except StoreError as error:
        if "another process" not in error.what:
            raise
        echo("All shards are done; another one puts them together.", err=True)
        return code
    return code if code > 1 else scored  # whether too many samples failed is decided for the whole run


def refuse_scores_of_shard(mode: str, gate_values: Mapping[str, Any]) -> None:
    """Refuse what is decided by scores, which no single shard has.

    Raises:
        ConfigError: the command line asks for it.
    """
    from ais_prompt.errors import ConfigError

    given = [name for name in NOT_IN_SHARDS if gate_values.get(name)]
    if mode in ("eval", "viz") or given:
        what = "a shard has no scores, so nothing about them can be decided in it"
        raise ConfigError(what, where="--shard", fix="give gates to `aisprompt score` when all shards are done")


def tasks_of_shard(shard: str | None, reuse: str | None, spec: RunSpec) -> Collection[str] | None:
    """Return the tasks that a shard asks, so that it reads no others; None for all, or if that is not decided yet."""
    if shard is None or reuse is None or spec.partitioner is None:
        return None
    from ais_prompt.extensions.shards.partition import held_tasks
    from ais_prompt.extensions.shards.shard_folders import parse_shard, shared_run_folder

    held = held_tasks(spec, shared_run_folder(spec.work_dir, spec.name, reuse), parse_shard(shard))
    return None if held is None else held.portions


def score(plan: Plan, folder: RunFolder, limit: FailureLimit, *, debug: bool) -> int:
    """Score a run with the answers of all shards, and return the exit code."""
    from ais_prompt.verbs import run_source, with_found_models

    plan = with_found_models(plan, "eval")
    result = run_source(plan, folder, Session("eval", command=shown_command()))
    show(result, plan)
    show_folder(result)
    return exit_code(result, limit, debug=debug) or int(result.is_partial)


def quoted(folder: RunFolder) -> str:
    """Return the path of a folder as a shell takes it."""
    return shlex.quote(str(folder.root))
