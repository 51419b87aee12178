"""``aisprompt run``: infer, score, report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ais_prompt.catalog import PARTS
from ais_prompt.cli.ending import exit_code, show, show_folder
from ais_prompt.cli.gate_options import GATE_OPTIONS, gate_options, read_gates, refuse_undecided_gates
from ais_prompt.cli.modes import (
    CommandWithModes,
    Mode,
    ModeRun,
    divided_run,
    mode_help,
    mode_of,
    mode_option_names,
    mode_options,
    modes,
    take_mode_options,
)
from ais_prompt.cli.options import (
    FURTHER,
    MODEL_AND_DATA,
    SESSION_NAMES,
    SOURCE_NAMES,
    brought_names,
    given_words,
    names_of,
    option_of,
    read_options,
    shown_command,
    taken,
    with_options,
)
from ais_prompt.cli.verb import (
    added,
    brought,
    echo,
    given_options,
    hanging,
    hint,
    json_option,
    output_of,
    quiet_option,
    repeat_mistakes,
    speed_option,
    verbose_option,
)
from ais_prompt.steps import steps
from ais_prompt.verbs import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ais_prompt.cli.gate_options import GateKeeper
    from ais_prompt.config import Options
    from ais_prompt.plan import Plan, Task
    from ais_prompt.verbs import RunResult

_NOT_STORED = {"max_num_workers", *names_of("cache", "budget")}
"""The options that neither a config nor its stored answers hold."""
_BROUGHT: Final = brought_names("run")
_SAME: Final = "…"
"""The command that was typed, where it would be repeated with more options."""
_RUNNERS = [name.removesuffix("Runner").lower() for name in PARTS["runners"]]
_MADE_HERE = {
    "mode": option_of(Session, "mode", f"; {mode_help()}.", type=Mode(["all", "infer", "eval", "viz", *modes()])),
    "runner": option_of(Session, "runner", f": {', '.join(_RUNNERS)}. Its options: --set runner.num_shards=8."),
}


@click.command(
    cls=CommandWithModes,
    first={**MODEL_AND_DATA, "Run": ("--num-prompts", "--sample", "-r", "-w", "--dry-run", "--save-config", "-h")},
    further={
        **FURTHER,
        "Requests and limits": ("max_num_workers", "max_failures", "retry_truncated", *names_of("cache", "budget")),
        "Several machines": ("shard", "runner"),
        "Gates": (*_BROUGHT, *GATE_OPTIONS),
        "Performance": mode_option_names(),
    },
)
@with_options("config", "run", "sample", "cache", "budget")
@brought("run")
@added([_MADE_HERE.get(name) or option_of(Session, name) for name in SESSION_NAMES])
@gate_options
@mode_options
@json_option
@quiet_option
@speed_option
@verbose_option
@click.pass_context
def run(ctx: click.Context, /, **values: Any) -> None:
    """Ask the models, score the answers, report.

    CONFIG is a Python config; `aisprompt init` writes one. Without a config:

    \b
    aisprompt run --url http://127.0.0.1:8000/v1 --data questions.csv
    aisprompt run --models NAME… --datasets NAME…    # see `aisprompt list`
    """
    from ais_prompt.checks import checked
    from ais_prompt.verbs import check_retry

    session = taken(Session, values)
    gate_values = {name: values[name] for name in GATE_OPTIONS}
    refuse_undecided_gates(session.mode, gate_values)
    source, own = take_mode_options(values, session.mode)
    options = read_options(source)
    _refuse_run_without_config(session, options)
    check_retry(session, session.shard)
    divided = divided_run(session)
    options = divided.options(options)
    plan, warnings = checked(options, tasks_of=divided.tasks)
    session = replace(session, command=shown_command(), warnings=warnings)
    further = mode_of(session.mode)
    keeper = read_gates(plan, **gate_values, mode=session.mode)
    in_mode = ModeRun(plan, options, session, own, keeper, values["debug"])
    if not all(may_ask(plan, given_options(values, _BROUGHT)) for may_ask in steps("may_ask")):
        ctx.exit(1)
    if session.save_config:
        _save_config(plan, Path(session.save_config))
        not_saved = given_words(ctx, {"num_prompts", "allow_code_execution", *_NOT_STORED})
        echo(f"{session.save_config} is written. Run it: {shown_command(['run', session.save_config, *not_saved])}")
        return
    if session.dry_run:
        if further is not None:
            further.preview(in_mode)
        from ais_prompt.cli.check import show_estimate

        show_estimate(plan, by_task=True)
        divided.preview(in_mode)
        echo("nothing was asked (--dry-run)")
        return
    if further is not None:
        ctx.exit(further.run(in_mode))
    if (code := divided.run(in_mode, gate_values)) is not None:
        ctx.exit(code)
    ctx.exit(_run_here(ctx, plan, session, keeper))


def _refuse_run_without_config(session: Session, options: Options) -> None:
    """Refuse ``-r RUN`` alone: a run goes on with its config, which may have changed.

    Raises:
        ConfigError: a run is named, but nothing to run.
    """
    from ais_prompt.errors import ConfigError

    named = options.config or options.models or options.names_model or options.names_dataset
    if session.reuse not in (None, "latest") and not named:
        what = f"{session.reuse!r} names the run to go on with, and there is no config"
        raise ConfigError(what, where="-r", fix=f"add the config: aisprompt run CONFIG -r {session.reuse}")


def _run_here(ctx: click.Context, plan: Plan, session: Session, keeper: GateKeeper) -> int:
    """Ask in this process, score, show the scores and what to do next, and return the exit code."""
    from ais_prompt.errors import ModelError
    from ais_prompt.report import MANY
    from ais_prompt.verbs import open_run_folder, run_source, with_found_models

    try:
        plan = with_found_models(plan, session.mode)
        folder = open_run_folder(plan, session.mode, session.reuse)
    except ModelError:
        for note in session.warnings:  # how the address was understood may be the cause
            hint(note.labelled(), err=True)
        raise
    if len(plan.tasks) > MANY:  # a few tasks are soon over, and the run ends with its folder
        hint(f"Run folder: {folder.root}", err=True)
    result = run_source(plan, folder, session)
    show(result, plan, _remedies(plan, result, session.retry_truncated), keeper.gates.options)
    holds = session.mode == "infer" or keeper.hold(result)
    if len(plan.tasks) <= MANY or any(outcome.scores for outcome in result.outcomes):
        show_folder(result)
    _show_next(ctx, result)
    repeat_mistakes(session.warnings)
    return exit_code(result, session.max_failures, debug=ctx.params["debug"]) or int(not holds)


def _save_config(plan: Plan, path: Path) -> None:
    """Write the config that the command line means. A file of that name is not overwritten."""
    from ais_prompt.config import render_config
    from ais_prompt.errors import ConfigError
    from ais_prompt.store import replacing

    if path.exists():
        raise ConfigError("there is a file of that name", where=f"--save-config {path}", fix="choose another name")
    with replacing(path) as stream:
        stream.write(render_config(plan.spec.resolved).encode("utf-8", "backslashreplace"))


def _limits(task: Task) -> Sequence[int]:
    """Return the ``max_out_len`` of a task, of each of its turns if they have limits of their own."""
    from ais_prompt.inferencers import GeneratingInferencer

    given = task.inferencer.max_out_len if isinstance(task.inferencer, GeneratingInferencer) else None
    if given is None:
        return [task.model.max_out_len]
    return [given] if isinstance(given, int) else given


def _remedies(plan: Plan, result: RunResult, retried_with: int | None) -> dict[str, tuple[str, str]]:
    """Return what helps against answers without a score of their own, as `show` takes it."""
    found = {"failed": ("", f"{_SAME} -r")}
    cut = {outcome.name for outcome in result.outcomes if outcome.scores and outcome.scores[0].counts["truncated"]}
    if limits := [limit for task in plan.tasks if task.name in cut for limit in _limits(task)]:
        largest = max(*limits, retried_with or 0)
        command = f"{_SAME} -r --retry-truncated max_out_len={2 * largest}"
        found["cut"] = (f"at max_out_len={largest}", command)
    return {**found, "no gold": ("", f"{_SAME} -r --max-failures {result.failed}")}


def _show_next(ctx: click.Context, result: RunResult) -> None:
    """Print the commands that are useful next; with ``-v`` those too that are useful after every run."""
    root = result.folder.root
    first = None if ctx.params["sample"] else ctx.params["num_prompts"]
    draw = ["run", *given_words(ctx, SOURCE_NAMES - {"num_prompts"}), "--sample", str(first)]
    words = ["run", *given_words(ctx, {*SOURCE_NAMES, *names_of("sample"), *_NOT_STORED}), "-r", root.name]
    again = shown_command([*words, *given_words(ctx, {"retry_truncated"})])
    score = shown_command(["score", str(root), *given_words(ctx, {"allow_code_execution"})])
    fixes = [outcome.error.fix or "" for outcome in result.outcomes if outcome.error]
    has_scores = any(outcome.scores for outcome in result.outcomes)
    # If all answers that were read are wrong, the reader may be the reason. Programs are not read in several ways.
    read = (outcome.scores[0] for outcome in result.outcomes if outcome.scores and outcome.name not in result.isolation)
    is_all_wrong = any(score.value == 0 and score.counts["scored"] for score in read)
    always = output_of(ctx).level > 0
    lines = [
        hanging(f"  {purpose:<27} ", command, breaks=False)
        for helps, purpose, command in (
            (bool(result.paused), "ask the rest", again),
            (any("-r" not in fix for fix in fixes) and not result.paused, "go on once it is fixed", again),
            (first is not None and has_scores, "ask a random sample instead", shown_command(draw)),
            (has_scores and bool(result.paused), "score the answers so far", score),
            (always and has_scores, "look at every sample", shown_command(["view", str(root)])),
            ((always and has_scores) or is_all_wrong, "read the answers in other ways", f"{score} --audit"),
            (always, "see what was sent", shown_command(["view-prompt", *given_words(ctx, SOURCE_NAMES), "-a"])),
        )
        if helps
    ]
    for line in ["Next:", *lines] if lines else []:
        hint(line)
