"""The modes of ``run`` that measure the performance of servers: ``-m perf`` and ``-m perf_viz``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from ais_prompt.cli.modes import RunMode
from ais_prompt.cli.options import names_of, shown_command
from ais_prompt.cli.verb import echo, hint, offer, report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from ais_prompt.cli.gate_options import GateKeeper
    from ais_prompt.errors import AisPromptError, Interrupted
    from ais_prompt.extensions.perf.load_result import LoadResult
    from ais_prompt.extensions.perf.perf_run import PerfRun
    from ais_prompt.extensions.perf.section import PerfSpec
    from ais_prompt.extensions.perf.sweep import Sweep
    from ais_prompt.extensions.perf.tools import ToolName
    from ais_prompt.plan import Plan

SYNTHETIC: Final = "synthetic"
"""The shipped dataset of made-up prompts."""


def _source(options: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that name a config, with made-up prompts and a rate where the command line asks for them.

    Args:
        options: those that `ais_prompt.cli.options.read_options` reads.
        values: those of `ais_prompt.extensions.perf.options`.

    Raises:
        ConfigError: prompts are made, and other datasets are named.
    """
    from ais_prompt.errors import ConfigError

    made = {name: values[name] for name in ("input_tokens", "output_tokens") if values[name]}
    settings = [f"datasets.0.{name}={ends}" for name, ends in made.items()]
    named = [name for name in ("config", "datasets", "data") if options.get(name)]
    if made and named:
        what = "--input-tokens and --output-tokens make the prompts, and there are others"
        raise ConfigError(what, where="--input-tokens", fix="name no config and no dataset")
    if made and (requests := options["num_prompts"]):
        settings.append(f"datasets.0.requests={requests}")
    if values["request_rate"]:
        settings.append(f"models.0.request_rate={values['request_rate']}")
    if options["url"]:
        settings.append("models.0.stream=True")
    datasets = (SYNTHETIC,) if made else options["datasets"]
    return {**options, "datasets": datasets, "overrides": (*settings, *options["overrides"])}


def _run(ctx: click.Context, plan: Plan, keeper: GateKeeper, gate_values: Mapping[str, Any]) -> int:
    """Measure the tasks of a plan, or show an earlier measurement, and return the exit code.

    Args:
        ctx: of the command.
        plan: of a checked config.
        keeper: the gates.
        gate_values: the options of gates.

    Raises:
        ConfigError: an option cannot be used so, or a task cannot be measured.
    """
    from rich.console import Console

    from ais_prompt.extensions.perf.load_tables import print_loads

    _refuse(ctx.params, gate_values)
    perf = _perf(plan, ctx.params)
    if (sweep := _several(ctx, plan, perf)) is not None:
        return _end_sweep(ctx, sweep, keeper)
    run = _measured(plan, perf) if _measures(ctx.params) else _shown(ctx, plan, perf)
    hint("")
    console = Console()
    if ctx.params["shown_as"] is None:
        print_loads(run.results, console)
    elif ctx.params["shown_as"] == "aisbench":
        _print_as_aisbench(run)
    else:
        _print_as(ctx.params["shown_as"], run, console)
    offer(folder=str(run.folder.root), scores=[row for result in run.results for row in result.rows])
    rows = [row for result in run.results for row in result.rows]
    holds = keeper.hold_rows(rows, run.folder.root)
    hint(f"Run folder: {run.folder.root}")
    hint("  performances/  _perf.json: all numbers; .csv and .json in the form and with the definitions of AISBench")
    hint("  journal/       every request with its times, from which -m perf_viz -r computes all of this again")
    return _exit_code(ctx, run.results, run.errors, run.stopped) or int(not holds)


def _several(ctx: click.Context, plan: Plan, perf: PerfSpec) -> Sweep | None:
    """Measure or show several loads; None if there is only one.

    Raises:
        ConfigError: the options exclude each other, or a value makes no sense.
    """
    from ais_prompt.errors import ConfigError
    from ais_prompt.extensions.perf.points import read_sweep
    from ais_prompt.extensions.perf.sweep import (
        find_rate,
        measure_points,
        prepare_points,
        refuse_search,
        show_points,
    )
    from ais_prompt.verbs import find_or_make, open_run_folder, with_found_models

    values = ctx.params
    runs = values["runs"] or 1
    if not _measures(values):
        return show_points(plan, perf, find_or_make(plan, values["reuse"]))
    if values["sweep"] is None and not values["find_rate"] and runs == 1:
        return None
    if values["sweep"] is not None and values["find_rate"]:
        raise ConfigError("--find-rate chooses its own points", where="--sweep", fix="leave --sweep out")
    if values["shown_as"] is not None:
        what = "--as shows one load"
        raise ConfigError(what, where="--as", fix="leave it out; then: -m perf_viz -r RUN_FOLDER/loads/NAME --as TOOL")
    settings = [None] if values["sweep"] is None else read_sweep(values["sweep"])
    plan = with_found_models(plan, "infer")
    if values["find_rate"]:
        refuse_search(plan, perf)
    else:
        prepare_points(plan, perf, settings)
    folder = open_run_folder(plan, "infer")
    hint(f"Run folder: {folder.root}", err=True)
    if values["find_rate"]:
        return find_rate(plan, perf, folder, shown_command(), runs)
    return measure_points(plan, perf, folder, shown_command(), settings, runs)


def _end_sweep(ctx: click.Context, sweep: Sweep, keeper: GateKeeper) -> int:
    """Show several loads, and return the exit code."""
    from rich.console import Console

    from ais_prompt.extensions.perf.load_tables import print_sweep

    hint("")
    if sweep.loads and sweep.results:
        print_sweep(
            sweep.results,
            sweep.best,
            sweep.not_reset,
            Console(),
            best_is_least=sweep.best_is_least,
            is_whole=sweep.is_whole,
        )
    loads = [
        {"model": row.model, "dataset": row.dataset, "point": point.point, "run": point.run, row.metric: row.score}
        for point, result in sweep.results
        for row in result.rows
    ]
    best = None if sweep.best is None else sweep.best.value
    offer(folder=str(sweep.folder.root), loads=loads, best_rate=best, best_rate_is_least=sweep.best_is_least)
    holds = keeper.hold_rows(sweep.rows, sweep.folder.root)
    hint(f"Run folder: {sweep.folder.root}")
    hint("  summary/perf.csv  one row for each load")
    hint("  loads/            each load, a run folder of its own")
    results = [result for _, result in sweep.results]
    if ctx.params["find_rate"]:  # that rates above the best one fail is how a search ends
        errors = {} if sweep.best is not None else sweep.errors
        return _exit_code(ctx, [], errors, sweep.stopped) or int(sweep.best is None or not holds)
    return _exit_code(ctx, results, sweep.errors, sweep.stopped) or int(not holds)


def _preview(plan: Plan, values: Mapping[str, Any]) -> None:
    """Print what ``-m perf`` would send, for ``--dry-run``.

    Args:
        plan: of a checked config.
        values: of the command.

    Raises:
        ConfigError: a task cannot be measured.
    """
    from ais_prompt.extensions.perf.load_tables import plan_words
    from ais_prompt.extensions.perf.perf_run import prepare_run
    from ais_prompt.extensions.perf.points import read_sweep
    from ais_prompt.extensions.perf.prepare import served_model
    from ais_prompt.extensions.perf.sweep import plan_at

    perf = _perf(plan, values)
    for setting in [None] if values["sweep"] is None else read_sweep(values["sweep"]):
        point = "" if setting is None else f"{setting}: "
        for load in prepare_run(plan_at(plan, setting), perf):
            schedule = load.plan.schedule
            words = plan_words(schedule, schedule.requests)
            seconds = f", in {schedule.due[-1]:.4g} s" if schedule.rate else ""
            shared = f"; {load.plan.shared_prefix:.0%} of the prompts' text is the beginning of earlier prompts"
            hint(f"{point}{load.task.name}: {words}{seconds}{shared}")
            if not served_model(load.task).wire.stream:
                fix = f"set stream=True ({load.task.spec.model.where})"
                hint(f"  answers are not streamed, so there is no TTFT, TPOT or ITL: {fix}")


def _measures(values: Mapping[str, Any]) -> bool:
    """Return whether something is asked: ``-m perf -r`` shows a run, as in AISBench; half a load is another load."""
    return values["mode"] == "perf" and values["reuse"] is None


def _refuse(values: dict[str, Any], gate_values: Mapping[str, Any]) -> None:
    """Refuse options of other modes.

    Raises:
        ConfigError: names the option.
    """
    from ais_prompt.errors import ConfigError

    others = ("retry_truncated", "shard", "runner", "max_num_workers", *names_of("cache", "budget"))
    given = [f"--{name.replace('_', '-')}" for name in others if values[name]]
    given += ["--baseline"] if gate_values["baseline"] else []
    if given:
        raise ConfigError(f"-m {values['mode']} has no {given[0]}", where=given[0], fix="leave it out")
    if values["pressure_time"] is not None and not values["pressure"]:
        raise ConfigError("--pressure-time needs --pressure", where="--pressure-time", fix="add --pressure")
    if values["duration"] is not None and values["pressure_time"] is not None:
        raise ConfigError("--duration and --pressure-time say the same", where="--duration", fix="give one of them")
    if values["grace"] is not None and values["duration"] is None:
        raise ConfigError("--grace needs --duration", where="--grace", fix="add --duration SECONDS")
    asks = [f"--{name.replace('_', '-')}" for name in ("sweep", "find_rate", "runs", "duration") if values[name]]
    if asks and not _measures(values):
        raise ConfigError(f"{asks[0]} measures, and a stored run is shown", where=asks[0], fix="leave it or -r out")
    if values["mode"] == "perf_viz" and values["reuse"] is None:
        raise ConfigError("-m perf_viz shows a run that is there already", fix="add -r, or -r TIMESTAMP")


def _perf(plan: Plan, values: Mapping[str, Any]) -> PerfSpec:
    """Return how performance is measured: the options of the command line come before ``perf`` of the config.

    Raises:
        ConfigError: a goal cannot be understood.
    """
    from msgspec.structs import replace

    from ais_prompt.extensions.perf.section import PerfSpec, parse_slo

    given: dict[str, Any] = {"load": "pressure"} if values["pressure"] else {}
    given |= {"warmups": values["num_warmups"]} if values["num_warmups"] is not None else {}
    given |= {"pressure_seconds": values["pressure_time"]} if values["pressure_time"] is not None else {}
    given |= {"spec_decode": True} if values["spec_decode"] else {}
    given |= {name: values[name] for name in ("duration", "grace") if values[name] is not None}
    given |= {"slo": tuple(parse_slo(text, "--slo") for text in values["slos"])} if values["slos"] else {}
    spec: PerfSpec = plan.spec.sections.get("perf", PerfSpec())
    return replace(spec, **given)


def _measured(plan: Plan, perf: PerfSpec) -> PerfRun:
    from ais_prompt.extensions.perf.perf_run import measure_run, prepare_run
    from ais_prompt.verbs import open_run_folder, with_found_models

    plan = with_found_models(plan, "infer")
    loads = prepare_run(plan, perf)
    folder = open_run_folder(plan, "infer")
    hint(f"Run folder: {folder.root}", err=True)
    return measure_run(plan, loads, perf, folder, shown_command())


def _shown(ctx: click.Context, plan: Plan, perf: PerfSpec) -> PerfRun:
    from ais_prompt.extensions.perf.perf_run import show_run
    from ais_prompt.verbs import find_or_make

    return show_run(plan.tasks, perf, find_or_make(plan, ctx.params["reuse"]))


def _print_as_aisbench(run: PerfRun) -> None:
    from ais_prompt.extensions.perf.tool_load import aisbench_screen

    for result in run.results:
        folder = run.folder.load_file(result.task.model.abbr, result.task.dataset.abbr, "").parent
        if result.aisbench is None:
            echo(f"{result.task.name}: {result.missing}")
        else:
            echo(aisbench_screen(result.aisbench, result.task.name, str(folder)))


def _print_as(tool: ToolName, run: PerfRun, console: Console) -> None:
    """Print the tables of another tool; ``--json`` has them too, without rounding."""
    from ais_prompt.errors import DataError
    from ais_prompt.extensions.perf.tool_load import print_sections
    from ais_prompt.extensions.perf.tool_tables import tool_sections

    tables = {}
    for result in run.results:
        echo(f"{result.task.name} by the definitions of {tool}:")
        try:
            sections = tool_sections(result.load, tool)
        except DataError as error:
            echo(f"{error.what}; {error.fix}")
            continue
        print_sections(sections, console)
        tables[result.task.name] = sections
    offer(tables=tables)


def _exit_code(
    ctx: click.Context,
    results: Sequence[LoadResult],
    failures: Mapping[str, AisPromptError],
    stopped: Interrupted | None,
) -> int:
    """Say why tasks have no result, or that too many requests failed, and return the exit code."""
    from ais_prompt.utils import counted

    errors = list(failures.values())
    if errors:
        names = {one.task.name for one in results}
        of = counted(len(results) + sum(name not in names for name in failures), "task")
        echo(f"\n{len(errors)} of {of} failed; the first cause:", err=True)
        report(errors[0], debug=ctx.params["debug"])
    if stopped is not None:
        report(stopped, debug=ctx.params["debug"])
        return stopped.exit_code
    if errors:
        return errors[0].exit_code
    failed = sum(result.total.failed for result in results)
    asked = sum(result.total.requests for result in results)
    if not ctx.params["max_failures"].allows(failed, asked):
        echo(f"\n{failed} of {asked} requests failed; --max-failures is {ctx.params['max_failures']}", err=True)
        return 1
    bound = [one.task.name for one in results if not all(it.holds for it in one.verdicts if it.name == "client")]
    if ctx.params["strict"] and bound:
        echo(f"\nthis machine was the limit for {', '.join(bound)} (--strict)", err=True)
        return 1
    return 0


MODE: Final = RunMode(source=_source, preview=_preview, run=_run)
