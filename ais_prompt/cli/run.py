"""``aisprompt run``: infer, score, report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ais_prompt.cli.completion import complete_reuse
from ais_prompt.cli.ending import exit_code, show
from ais_prompt.cli.gate_options import GATE_OPTIONS, gate_options, read_gates, refuse_undecided_gates
from ais_prompt.cli.limit_options import (
    BUDGET_OPTIONS,
    FAILURE_LIMIT,
    LONGER,
    FailureLimit,
    budget_options,
    read_budget,
    show_estimate,
)
from ais_prompt.cli.lock import lock_command, show_drift, tell_drift
from ais_prompt.cli.modes import Mode, mode_help, mode_of, mode_options, modes, take_mode_options
from ais_prompt.cli.options import (
    MODEL_AND_DATA,
    SAMPLE_NAMES,
    SOURCE_NAMES,
    given_words,
    sample_options,
    shown_command,
    source,
    source_options,
)
from ais_prompt.cli.runner_options import preview_shards, run_by_runner, runner_option, with_runner
from ais_prompt.cli.shards import refuse_scores_of_shard, run_shard, tasks_of_shard
from ais_prompt.cli.verb import (
    Verb,
    echo,
    hanging,
    hint,
    json_option,
    quiet_option,
    repeat_mistakes,
    speed_option,
    verbose_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ais_prompt.checks import PromptWarning
    from ais_prompt.cli.gate_options import GateKeeper
    from ais_prompt.plan import Plan, Source, Task
    from ais_prompt.verbs import RunResult

_SESSION = {"cache", "max_num_workers", *BUDGET_OPTIONS}
"""The options of a session that neither a config nor its stored answers hold."""


@click.command(
    cls=Verb,
    first={**MODEL_AND_DATA, "Run": ("--num-prompts", "--sample", "-r", "-w", "--dry-run", "--save-config", "-h")},
)
@source_options
@sample_options
@click.option(
    "-m",
    "--mode",
    type=Mode(["all", "infer", "eval", "viz", *modes()]),
    default="all",
    show_default=True,
    help=f"All, only predictions, only scores of stored predictions, or only the summary; {mode_help()}.",
)
@click.option(
    "-r",
    "--reuse",
    metavar="[latest|TIMESTAMP]",
    shell_complete=complete_reuse,
    help="Go on with a run: ask only what is missing.",
)
@click.option(
    "--retry-truncated",
    type=LONGER,
    metavar="max_out_len=N",
    help="With -r: ask truncated answers again with this max_out_len. Both answers are kept.",
)
@click.option("--locked", is_flag=True, help="Ask nothing, exit code 1, if a prompt is not that of the lock.")
@click.option("--lock-file", metavar="FILE", help="The lock of --locked (default: eval.lock beside eval.py).")
@click.option("--cache", metavar="DIR", help="Answers that runs share: what any of them has asked is not asked again.")
@click.option("--save-config", metavar="FILE", help="Write the config of this command line; ask nothing.")
@click.option(
    "--max-num-workers",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Compute local models in N worker processes, each with GPUs of its own (default: in this process).",
)
@click.option("--dry-run", is_flag=True, help="Show the tasks, requests, tokens and cost; ask nothing.")
@click.option(
    "--max-failures",
    type=FAILURE_LIMIT,
    default="0",
    show_default=True,
    metavar="N|N%",
    help="More samples than this that failed: exit code 1.",
)
@budget_options
@gate_options
@mode_options
@click.option("--shard", metavar="I/N", help="Ask one part of N of the samples: 0/8 to 7/8, or auto/8 in an array job.")
@runner_option
@json_option
@quiet_option
@speed_option
@verbose_option
@click.pass_context
def run(
    ctx: click.Context,
    /,
    mode: str,
    reuse: str | None,
    retry_truncated: int | None,
    locked: bool,
    lock_file: str | None,
    cache: str | None,
    save_config: str | None,
    dry_run: bool,
    max_num_workers: int | None,
    max_failures: FailureLimit,
    shard: str | None,
    runner: str | None,
    **options: Any,
) -> None:
    """Ask the models, score the answers, report.

    CONFIG is a Python config; `aisprompt init` writes one. Without a config:

    \b
    aisprompt run --url http://127.0.0.1:8000/v1 --data questions.csv
    aisprompt run --models NAME… --datasets NAME…    # see `aisprompt list`
    """
    from msgspec.structs import replace

    from ais_prompt.checks import checked

    gate_values, budget = _taken(options, GATE_OPTIONS), _taken(options, BUDGET_OPTIONS)
    options = take_mode_options(options, mode)
    refuse_undecided_gates(mode, gate_values)
    asked_for = replace(source(**options, cache=cache), budget=read_budget(**budget))
    _refuse_run_without_config(reuse, asked_for)
    _refuse_retry(retry_truncated, mode, reuse, shard)
    tasks_of = partial(tasks_of_shard, shard, reuse)
    plan, warnings = checked(with_runner(asked_for, runner, is_shard=shard is not None), tasks_of=tasks_of)
    further = mode_of(mode)
    keeper = read_gates(plan, **gate_values, mode=mode)
    if (locked or lock_file) and not _is_locked(ctx, plan, lock_file):
        ctx.exit(1)
    if save_config:
        _save_config(plan, Path(save_config))
        not_saved = given_words(ctx, {"num_prompts", "allow_code_execution", *_SESSION})
        echo(f"{save_config} is written. Run it: {shown_command(['run', save_config, *not_saved])}")
        return
    if dry_run:
        if further is not None:
            further.preview(plan, ctx.params)
        show_estimate(plan, by_task=True)
        preview_shards(ctx, plan)
        echo("nothing was asked (--dry-run)")
        return
    if further is not None:
        ctx.exit(further.run(ctx, plan, keeper, gate_values))
    if shard is not None:
        refuse_scores_of_shard(mode, gate_values)
        debug, scores = options["debug"], mode == "all"
        ctx.exit(run_shard(plan, warnings, shard, reuse, max_failures, max_num_workers, scores=scores, debug=debug))
    if plan.spec.runner is not None and mode in ("all", "infer"):
        _refuse_retry(retry_truncated, mode, reuse, plan.spec.runner)
        ctx.exit(run_by_runner(ctx, plan, warnings, keeper))
    ctx.exit(_run_here(ctx, plan, warnings, keeper))


def _refuse_run_without_config(reuse: str | None, asked_for: Source) -> None:
    """Refuse ``-r RUN`` alone: a run goes on with its config, which may have changed.

    Raises:
        ConfigError: a run is named, but nothing to run.
    """
    from ais_prompt.errors import ConfigError

    if reuse in (None, "latest") or asked_for.config or asked_for.models or asked_for.names_dataset:
        return
    if not asked_for.names_model:
        what = f"{reuse!r} names the run to go on with, and there is no config"
        raise ConfigError(what, where="-r", fix=f"add the config: aisprompt run CONFIG -r {reuse}")


def _refuse_retry(retry_truncated: int | None, mode: str, reuse: str | None, shards: object | None) -> None:
    """Refuse to ask truncated answers again where there are none, or in shards, whose folders do not have them.

    Raises:
        ConfigError: they cannot be asked again.
    """
    from ais_prompt.errors import ConfigError
    from ais_prompt.verbs import check_retry

    check_retry(retry_truncated, mode, reuse)
    if retry_truncated is not None and shards is not None:
        what = "shards do not ask truncated answers again"
        raise ConfigError(what, where="--retry-truncated", fix="run without --shard and runner: only they are asked")


def _taken(options: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Take the options of these names out of the others."""
    return {name: options.pop(name) for name in names}


def _run_here(
    ctx: click.Context,
    plan: Plan,
    warnings: Sequence[PromptWarning],
    keeper: GateKeeper,
) -> int:
    """Ask in this process, score, show the scores and what to do next, and return the exit code.

    Args:
        ctx: of the command.
        plan: of a checked config.
        warnings: of its prompts.
        keeper: the gates.
    """
    from ais_prompt.verbs import open_run_folder, run_source, with_found_models

    values = ctx.params
    mode, limit = values["mode"], values["max_failures"]
    plan = with_found_models(plan, mode)
    folder = open_run_folder(plan, mode, values["reuse"])
    hint(f"Run folder: {folder.root}", err=True)
    result = run_source(
        plan,
        folder,
        mode,
        shown_command(),
        warnings,
        max_num_workers=values["max_num_workers"],
        retry_truncated=values["retry_truncated"],
    )
    show(result)
    holds = mode == "infer" or keeper.hold(result)
    _show_next(ctx, result, folder.root, _larger_limit(plan, result, values["retry_truncated"]))
    repeat_mistakes(warnings)
    return exit_code(result, limit, debug=values["debug"]) or int(not holds)


def _is_locked(ctx: click.Context, plan: Plan, lock_file: str | None) -> bool:
    """Return whether the prompts equal the lock; if not, print what changed."""
    from ais_prompt.locks import find_drift, prompt_lock_path

    path = prompt_lock_path(plan.spec, lock_file, ctx.params["config"])
    drift = find_drift(plan, path)
    if drift.is_none:
        echo(f"The prompts are those of {path}", err=True)
    else:
        show_drift(drift)
        tell_drift(path, lock_command(ctx, lock_file))
        echo("Nothing was asked.", err=True)
    return drift.is_none


def _save_config(plan: Plan, path: Path) -> None:
    """Write the config that the command line means. A file of that name is not overwritten."""
    from ais_prompt.config import render_config
    from ais_prompt.errors import ConfigError
    from ais_prompt.store import replacing

    if path.exists():
        raise ConfigError("there is a file of that name", where=f"--save-config {path}", fix="choose another name")
    with replacing(path) as stream:
        stream.write(render_config(plan.spec.resolved).encode("utf-8", "backslashreplace"))


def _larger_limit(plan: Plan, result: RunResult, retried_with: int | None) -> int | None:
    """Return twice the largest ``max_out_len`` of the tasks with truncated answers; None if there are none."""
    names = {outcome.name for outcome in result.outcomes if outcome.scores and outcome.scores[0].counts["truncated"]}
    limits = [limit for task in plan.tasks if task.name in names for limit in _limits(task)]
    return 2 * max(*limits, retried_with or 0) if limits else None


def _limits(task: Task) -> Sequence[int]:
    """Return the ``max_out_len`` of a task, of each of its turns if they have limits of their own."""
    from ais_prompt.inferencers import GeneratingInferencer

    given = task.inferencer.max_out_len if isinstance(task.inferencer, GeneratingInferencer) else None
    if given is None:
        return [task.model.max_out_len]
    return [given] if isinstance(given, int) else given


def _reads_few(result: RunResult) -> bool:
    """Return whether a dataset has so many unread answers, or so few right ones, that its reader may be the reason."""
    # Programs are not read in several ways.
    read = (outcome for outcome in result.outcomes if outcome.name not in result.isolation)
    scores = [outcome.scores[0] for outcome in read if outcome.scores]
    return any(one.counts["unparsed"] > one.n / 10 or one.value == 0 for one in scores if one.n)


def _show_next(ctx: click.Context, result: RunResult, root: Path, larger_limit: int | None) -> None:
    """Print the commands that are useful next.

    Args:
        ctx: of the command.
        result: of the run; the scores of an unfinished run are in a folder of their own.
        root: the run folder.
        larger_limit: ``max_out_len`` with which truncated answers can be asked again; None if there are none.
    """
    from ais_prompt.scoring import UNUSABLE_GOLD

    limit = ctx.params["max_failures"]
    first = None if ctx.params["sample_size"] else ctx.params["num_prompts"]
    draw = ["run", *given_words(ctx, SOURCE_NAMES - {"num_prompts"}), "--sample", str(first)]
    words = ["run", *given_words(ctx, {*SOURCE_NAMES, *SAMPLE_NAMES, *_SESSION}), "-r", root.name]
    again = shown_command([*words, *given_words(ctx, {"retry_truncated"})])
    longer = shown_command([*words, "--retry-truncated", f"max_out_len={larger_limit}"])
    paused, failed = bool(result.paused), result.failed
    may_succeed = failed > 0 and set(result.reasons) != {UNUSABLE_GOLD}
    has_error = any(outcome.error for outcome in result.outcomes)
    has_scores = any(outcome.scores for outcome in result.outcomes)
    score = shown_command(["score", str(root), *given_words(ctx, {"allow_code_execution"})])
    hint("Next:")
    for helps, purpose, command in (
        (paused, "ask the rest", again),
        (may_succeed, "ask the failed ones again", again),
        (not limit.allows(failed, result.asked), "accept these failures", f"{again} --max-failures {failed}"),
        (has_error and not paused, "go on once it is fixed", again),
        (larger_limit is not None and not paused, "ask the truncated again", longer),
        (first is not None, "ask a random sample instead", shown_command(draw)),
        (has_scores, "look at every sample", shown_command(["view", str(result.folder.root)])),
        (has_scores and paused, "score the answers so far", score),
        (has_scores and not paused, "score again without asking", score),
        (not paused and _reads_few(result), "read the answers in other ways", f"{score} --audit"),
        (True, "see what was sent", shown_command(["view-prompt", *given_words(ctx, SOURCE_NAMES), "-a"])),
    ):
        if helps:
            hint(hanging(f"  {purpose:<27} ", command, breaks=False))
