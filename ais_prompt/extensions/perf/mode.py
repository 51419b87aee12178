"""The modes of ``run`` that measure the performance of servers: ``-m perf`` and ``-m perf_viz``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ais_prompt.cli.modes import ModeRun, RunMode
from ais_prompt.cli.options import names_of, shown_command
from ais_prompt.cli.verb import echo, hanging, hint, offer, report
from ais_prompt.config import declared_options
from ais_prompt.extensions.perf.options import LoadOptions, ToolName

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from ais_prompt.errors import AisPromptError, Interrupted
    from ais_prompt.extensions.perf.load_result import LoadResult
    from ais_prompt.extensions.perf.perf_run import PerfRun
    from ais_prompt.extensions.perf.section import PerfSpec
    from ais_prompt.extensions.perf.sweep import Sweep
    from ais_prompt.store import RunFolder

SYNTHETIC: Final = "synthetic"
"""The shipped dataset of made-up prompts."""


def _source(values: dict[str, Any], own: LoadOptions) -> dict[str, Any]:
    """Return the values that name a config, with made-up prompts and a rate where the command line asks for them.

    Args:
        values: those of the command.
        own: the options of the mode.

    Raises:
        ConfigError: prompts are made, and other datasets are named.
    """
    from ais_prompt.errors import ConfigError

    made = {name: ends for name in ("input_tokens", "output_tokens") if (ends := getattr(own, name))}
    named = [name for name in ("config", "datasets", "data") if values.get(name)]
    if made and named:
        what = "--input-tokens and --output-tokens make the prompts, and there are others"
        raise ConfigError(what, where="--input-tokens", fix="name no config and no dataset")
    settings = [f"datasets.0.{name}={list(ends)}" for name, ends in made.items()]
    if not named and (requests := values["num_prompts"]):
        settings.append(f"datasets.0.requests={requests}")
    if own.request_rate:
        settings.append(f"models.0.request_rate={own.request_rate}")
    if values["url"]:
        settings.append("models.0.stream=True")
    datasets = values["datasets"] if named else (SYNTHETIC,)
    return {**values, "datasets": datasets, "overrides": (*settings, *values["overrides"])}


def _run(run: ModeRun) -> int:
    """Measure the tasks of a plan, or show an earlier measurement, and return the exit code.

    Raises:
        ConfigError: an option cannot be used so, or a task cannot be measured.
    """
    from rich.console import Console

    from ais_prompt.extensions.perf.load_tables import print_loads

    own: LoadOptions = run.own
    _refuse(run)
    perf = _perf(run)
    if (sweep := _several(run, perf)) is not None:
        return _end_sweep(run, sweep)
    found = _loads(run, perf)
    console = Console()
    if own.shown_as is None:
        print_loads(found.results, console)
    elif own.shown_as == "aisbench":
        _print_as_aisbench(found)
    else:
        _print_as(own.shown_as, found, console)
    rows = [row for result in found.results for row in result.rows]
    offer(folder=str(found.folder.root), scores=rows)
    holds = run.keeper.hold_rows(rows, found.folder.root)
    _say_where(found.folder, "performances/*/*_perf.json")
    missed = any(result.goodput is not None and not result.goodput.met for result in found.results)
    return _exit_code(run, found.results, found.errors, found.stopped) or int(missed or not holds)


def _say_where(folder: RunFolder, files: str) -> None:
    """Name the command that shows all numbers, and the files in the run folder that have them."""
    hint(hanging("all numbers: ", shown_command(["view", str(folder.root)]), breaks=False))
    hint(f"             {files} in this folder")


def _several(run: ModeRun, perf: PerfSpec) -> Sweep | None:
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

    own: LoadOptions = run.own
    runs = own.runs or 1
    if not _measures(run):
        return show_points(run.plan, perf, find_or_make(run.plan, run.session.reuse))
    if not own.sweep and not own.find_rate and runs == 1:
        return None
    if own.sweep and own.find_rate:
        raise ConfigError("--find-rate chooses its own points", where="--sweep", fix="leave --sweep out")
    if own.shown_as is not None:
        what = "--as shows one load"
        raise ConfigError(what, where="--as", fix="leave it out; then: -m perf_viz -r RUN_FOLDER/loads/NAME --as TOOL")
    settings = read_sweep(*own.sweep) if own.sweep else [None]
    plan = with_found_models(run.plan, "infer")
    if own.find_rate:
        refuse_search(plan, perf)
    else:
        prepare_points(plan, perf, settings)
    folder = open_run_folder(plan, "infer")
    hint(f"Run folder: {folder.root}", err=True)
    if own.find_rate:
        return find_rate(plan, perf, folder, shown_command(), runs)
    return measure_points(plan, perf, folder, shown_command(), settings, runs)


def _end_sweep(run: ModeRun, sweep: Sweep) -> int:
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
    holds = run.keeper.hold_rows(sweep.rows, sweep.folder.root)
    _say_where(sweep.folder, "summary/perf.csv and loads/")
    results = [result for _, result in sweep.results]
    if run.own.find_rate:  # that rates above the best one fail is how a search ends
        errors = {} if sweep.best is not None else sweep.errors
        return _exit_code(run, [], errors, sweep.stopped) or int(sweep.best is None or not holds)
    missed = any(result.goodput is not None and not result.goodput.met for result in results)
    return _exit_code(run, results, sweep.errors, sweep.stopped) or int(missed or not holds)


def _preview(run: ModeRun) -> None:
    """Print what ``-m perf`` would send, for ``--dry-run``.

    Raises:
        ConfigError: a task cannot be measured.
    """
    from ais_prompt.extensions.perf.load_tables import plan_words
    from ais_prompt.extensions.perf.perf_run import prepare_run
    from ais_prompt.extensions.perf.points import read_sweep
    from ais_prompt.extensions.perf.prepare import served_model
    from ais_prompt.extensions.perf.sweep import plan_at

    perf, sweep = _perf(run), run.own.sweep
    for setting in read_sweep(*sweep) if sweep else [None]:
        point = "" if setting is None else f"{setting}: "
        for load in prepare_run(plan_at(run.plan, setting), perf):
            schedule = load.plan.schedule
            words = plan_words(schedule, schedule.requests)
            seconds = f", in {schedule.due[-1]:.4g} s" if schedule.rate else ""
            shared = f"; {load.plan.shared_prefix:.0%} of the prompts' text is the beginning of earlier prompts"
            hint(f"{point}{load.task.name}: {words}{seconds}{shared}")
            if not served_model(load.task).wire.stream:
                fix = f"set stream=True ({load.task.spec.model.where})"
                hint(f"  answers are not streamed, so there is no TTFT, TPOT or ITL: {fix}")


def _measures(run: ModeRun) -> bool:
    """Return whether something is asked: ``-m perf -r`` shows a run, as in AISBench; half a load is another load."""
    return str(run.session.mode) == "perf" and run.session.reuse is None


def _refuse(run: ModeRun) -> None:
    """Refuse options of other modes, and options that exclude each other.

    Raises:
        ConfigError: names the option.
    """
    from ais_prompt.errors import ConfigError

    mode, own = str(run.session.mode), run.own
    others: list[tuple[object, str]] = [
        (run.session, name) for name in ("retry_truncated", "shard", "runner", "max_num_workers")
    ]
    others += [(run.options, name) for name in names_of("cache", "budget")]
    given = [f"--{name.replace('_', '-')}" for of, name in others if getattr(of, name)]
    given += ["--baseline"] if run.keeper.gates.baseline is not None else []
    if given:
        raise ConfigError(f"-m {mode} has no {given[0]}", where=given[0], fix="leave it out")
    if own.duration is not None and own.pressure_time is not None:
        raise ConfigError("--duration and --pressure-time say the same", where="--duration", fix="give one of them")
    given_here = [name for name in ("sweep", "find_rate", "runs", "duration") if getattr(own, name)]
    asks = [flag for name in given_here for flag in declared_options(LoadOptions)[name].flags]
    if asks and not _measures(run):
        raise ConfigError(f"{asks[0]} measures, and a stored run is shown", where=asks[0], fix="leave it or -r out")
    if mode == "perf_viz" and run.session.reuse is None:
        raise ConfigError("-m perf_viz shows a run that is there already", fix="add -r, or -r TIMESTAMP")


def _perf(run: ModeRun) -> PerfSpec:
    """Return how performance is measured: the options of the command line come before ``perf`` of the config.

    Raises:
        ConfigError: a goal cannot be understood.
    """
    from msgspec.structs import replace

    from ais_prompt.extensions.perf.section import PerfSpec, parse_slo

    own: LoadOptions = run.own
    given: dict[str, Any] = {
        "load": "pressure" if own.pressure else None,
        "warmups": own.num_warmups,
        "pressure_seconds": own.pressure_time,
        "spec_decode": own.spec_decode or None,
        "duration": own.duration,
        "grace": own.grace,
        "slo": tuple(parse_slo(text, "--slo") for text in own.slos) or None,
    }
    spec: PerfSpec = run.plan.spec.sections.get("perf", PerfSpec())
    return replace(spec, **{name: value for name, value in given.items() if value is not None})


def _loads(run: ModeRun, perf: PerfSpec) -> PerfRun:
    from ais_prompt.extensions.perf.perf_run import measure_run, prepare_run, show_run
    from ais_prompt.verbs import find_or_make, open_run_folder, with_found_models

    if not _measures(run):
        return show_run(run.plan.tasks, perf, find_or_make(run.plan, run.session.reuse))
    plan = with_found_models(run.plan, "infer")
    loads = prepare_run(plan, perf)
    folder = open_run_folder(plan, "infer")
    return measure_run(plan, loads, perf, folder, shown_command())


def _print_as_aisbench(run: PerfRun) -> None:
    from ais_prompt.extensions.perf.tool_tables import aisbench_screen

    for result in run.results:
        folder = run.folder.load_file(result.task.model.abbr, result.task.dataset.abbr, "").parent
        if result.aisbench is None:
            echo(f"{result.task.name}: {result.missing}")
        else:
            echo(aisbench_screen(result.aisbench, result.task.name, str(folder)))


def _print_as(tool: ToolName, run: PerfRun, console: Console) -> None:
    """Print the tables of another tool; ``--json`` has them too, without rounding."""
    from ais_prompt.errors import DataError
    from ais_prompt.extensions.perf.tool_tables import print_sections, tool_sections

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
    run: ModeRun,
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
        report(errors[0], debug=run.debug)
    if stopped is not None:
        report(stopped, debug=run.debug)
        return stopped.exit_code
    if errors:
        return errors[0].exit_code
    failed = sum(result.total.failed for result in results)
    asked = sum(result.total.requests for result in results)
    if not run.session.max_failures.allows(failed, asked):
        echo(f"\n{failed} of {asked} requests failed; --max-failures is {run.session.max_failures}", err=True)
        return 1
    bound = [one.task.name for one in results if not all(it.holds for it in one.verdicts if it.name == "client")]
    if run.own.strict and bound:
        echo(f"\nthis machine was the limit for {', '.join(bound)} (--strict)", err=True)
        return 1
    return 0


MODE: Final = RunMode(source=_source, preview=_preview, run=_run)
