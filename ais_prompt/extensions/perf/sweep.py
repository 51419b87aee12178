"""Measure several loads one after the other: points of a sweep, repeated runs, or the search for the largest rate.

Each load is a run folder of its own below ``loads/`` of the run (`perf.points`). ``summary/perf.csv`` has
one row for each of them. Before each load the prefix caches of the servers are reset, where a server can do that.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import AisPromptError, ConfigError, Interrupted
from ais_prompt.extensions.perf.load_result import LoadResult
from ais_prompt.extensions.perf.perf_run import PerfRun, end_of, measure_run, prepare_run, report_again, show_run
from ais_prompt.extensions.perf.points import PointRun, Setting, ends_at_client, misses, runs_verdict, search_rate
from ais_prompt.extensions.perf.prepare import served_model
from ais_prompt.extensions.perf.section import PerfSpec
from ais_prompt.models import ApiModel, Reply, ask_root
from ais_prompt.plan import Plan, record_of
from ais_prompt.processes import interruption
from ais_prompt.report import csv_lines, status_of, write_report
from ais_prompt.scoring import Row
from ais_prompt.store import RunFolder, hold_writer_lock, read_run_file, recorded, replacing, writing
from ais_prompt.types import ModelSpec
from ais_prompt.utils import counted
from ais_prompt.verbs import model_addresses

FIRST_COLUMNS: Final = ("model", "dataset", "point", "run")
"""Columns of ``summary/perf.csv`` in front of the metrics."""


class SweepLoad(Struct, frozen=True):
    """One load of several.

    Attributes:
        point: which one.
        run: its results, without their single requests.
    """

    point: PointRun
    run: PerfRun


class Sweep(Struct, frozen=True):
    """Several loads.

    Attributes:
        folder: the run folder.
        loads: in the order in which they were measured.
        not_reset: why prefix caches may hold prompts of earlier loads; empty if they were reset, or not asked.
        stopped: why it ended before its last load; None if it did not, or that is not known.
        is_whole: whether it came to its end.
    """

    folder: RunFolder
    loads: Sequence[SweepLoad]
    not_reset: str = ""
    stopped: Interrupted | None = None
    is_whole: bool = True

    @property
    def results(self) -> list[tuple[PointRun, LoadResult]]:
        """The result of each task in each load. Where loads are repeated they have the verdict ``runs``."""
        found = [(load.point, result) for load in self.loads for result in load.run.results]
        alike: dict[tuple[str, str], list[LoadResult]] = {}
        for point, result in found:
            alike.setdefault((point.point, result.task.name), []).append(result)
        several = {key: [one.total for one in results] for key, results in alike.items() if len(results) > 1}
        verdicts = {key: [runs_verdict(tables)] for key, tables in several.items()}
        return [
            (point, replace(one, verdicts=[*one.verdicts, *verdicts.get((point.point, one.task.name), ())]))
            for point, one in found
        ]

    @property
    def best(self) -> Setting | None:
        """The largest ``request_rate`` at which every run met all goals; None if there is none."""
        passed: dict[Setting, bool] = {}
        for load in self.loads:
            if load.point.setting is not None and load.point.setting.key == "request_rate":
                passed[load.point.setting] = passed.get(load.point.setting, True) and meets_goals(load.run)
        return max((one for one, is_met in passed.items() if is_met), key=lambda one: float(one.value), default=None)

    @property
    def best_is_least(self) -> bool:
        """Whether the server may take more than `best`: at the next larger rate this machine was the limit, if any."""
        if (best := self.best) is None:
            return False
        rates = [
            (float(one.value), load.run) for load in self.loads if (one := load.point.setting) and one.key == best.key
        ]
        above = [(rate, run) for rate, run in rates if rate > float(best.value)]
        nearest = min((rate for rate, _ in above), default=None)
        failed = [run for rate, run in above if rate == nearest and not meets_goals(run)]
        return all(any(map(ends_at_client, run.results)) for run in failed)

    @property
    def rows(self) -> list[Row]:
        """The numbers of all loads, for gates: each load must meet them."""
        return [row for _, result in self.results for row in result.rows]

    @property
    def errors(self) -> Mapping[str, AisPromptError]:
        """``load model/dataset`` → why there is no result."""
        return {f"{load.point.title} {name}": error for load in self.loads for name, error in load.run.errors.items()}


def meets_goals(run: PerfRun) -> bool:
    """Return whether every task of a load has a result that passes (`misses`)."""
    return bool(run.results) and not run.errors and not any(one.goodput is None or misses(one) for one in run.results)


def plan_at(plan: Plan, setting: Setting | None) -> Plan:
    """Return a plan in which every model has this option, wherever its config has it."""
    if setting is None:
        return plan

    def with_option(args: Mapping[str, Any]) -> dict[str, Any]:
        for name in ("limits", "sampling", "wire"):
            if isinstance(group := args.get(name), Mapping) and setting.key in group:
                return {**args, name: {**group, setting.key: setting.value}}
        return {**args, setting.key: setting.value}

    def changed(model: ModelSpec) -> ModelSpec:
        return replace(model, part=replace(model.part, args=with_option(model.part.args)))

    spec = plan.spec
    resolved = {**spec.resolved, "models": [with_option(model) for model in spec.resolved.get("models", ())]}
    return Plan(replace(spec, models=tuple(map(changed, spec.models)), resolved=resolved))


def prepare_points(plan: Plan, perf: PerfSpec, settings: Sequence[Setting | None]) -> None:
    """Check every load before anything is sent.

    Raises:
        ConfigFaults: a value makes no sense.
    """
    for setting in settings:
        prepare_run(plan_at(plan, setting), perf)


def refuse_search(plan: Plan, perf: PerfSpec) -> None:
    """Check whether a rate can be searched.

    Raises:
        ConfigError: there are no goals, several tasks, or another load than a rate.
        ConfigFaults: the load makes no sense.
    """
    if not perf.slo:
        raise ConfigError("--find-rate searches a rate that meets goals", where="--find-rate", fix="add --slo GOAL")
    if len(plan.tasks) != 1:
        what = f"--find-rate searches the rate of one model on one dataset, and there are {len(plan.tasks)}"
        raise ConfigError(what, where="--find-rate", fix="choose one with --models and --datasets")
    if perf.load not in (None, "rate"):
        raise ConfigError(
            f"--find-rate needs a rate, and the load is {perf.load!r}", where="perf.load", fix="remove it"
        )
    prepare_points(plan, perf, [Setting("request_rate", f"{start_rate(plan):g}")])


def start_rate(plan: Plan) -> float:
    """Return the first rate of a search: the ``request_rate`` of the model, else 1 a second."""
    return served_model(plan.tasks[0]).limits.request_rate or 1.0


def sweep_points(settings: Sequence[Setting | None], runs: int) -> list[PointRun]:
    """Return the loads of a sweep: every run of a point, then the next point."""
    return [
        PointRun(number, setting, run)
        for number, setting in enumerate(settings, start=1)
        for run in (range(1, runs + 1) if runs > 1 else (0,))
    ]


def measure_points(
    plan: Plan, perf: PerfSpec, folder: RunFolder, command: str, settings: Sequence[Setting | None], runs: int
) -> Sweep:
    """Measure every point.

    Args:
        plan: of a checked config.
        perf: how it is measured. Each load has a seed of its own, counted up from this one.
        folder: a new run folder.
        command: the command line without secrets.
        settings: of the points; None for a load as the config has it.
        runs: how often each point is measured.

    Raises:
        StoreError: the run folder cannot be used.
    """
    return _measured(plan, perf, folder, command, _each(sweep_points(settings, runs)))


def find_rate(plan: Plan, perf: PerfSpec, folder: RunFolder, command: str, runs: int) -> Sweep:
    """Search the largest request rate at which all goals are met (`search_rate`).

    The arguments are those of `measure_points`; `refuse_search` was called before.

    Raises:
        StoreError: the run folder cannot be used.
    """
    return _measured(plan, replace(perf, load="rate"), folder, command, _searched(start_rate(plan), runs))


def show_points(plan: Plan, perf: PerfSpec, folder: RunFolder) -> Sweep | None:
    """Compute the results of several loads again; None if the run has only one load.

    A load that was stopped before its first answer is left out.

    Raises:
        StoreError: the run folder cannot be used.
    """
    found = [(point, path) for path in folder.load_folders() if (point := PointRun.of_folder(path.root.name))]
    if not found:
        return None
    loads = []
    is_whole = not folder.run_file.exists() or status_of(folder, read_run_file(folder)) in ("finished", "failed")
    for point, path in found:
        shown = show_run(plan.tasks, perf, path)
        if shown.results or is_whole:
            loads.append(SweepLoad(point, _without_requests(shown)))
    with hold_writer_lock(folder):
        sweep = _written(Sweep(folder, loads, is_whole=is_whole))
        report_again(folder)
    return sweep


Points: TypeAlias = Generator[PointRun, bool | None, None]
"""Yields what to measure next, and takes whether it passes; None if nothing could be measured."""


def _each(points: Sequence[PointRun]) -> Points:
    for point in points:  # noqa: UP028  # whether it passes does not matter
        yield point


def _searched(start: float, runs: int) -> Points:
    """Measure each rate of a search so often; it passes if every run does."""
    rates = search_rate(start)
    number, rate = 1, next(rates)
    while True:
        passes = True
        for point in sweep_points([Setting("request_rate", f"{rate:.6g}")], runs):
            meets = yield replace(point, number=number)
            if meets is None:  # a lower rate is of no use to a server that does not answer
                return
            passes = passes and meets
            if not passes:
                break
        try:
            number, rate = number + 1, rates.send(passes)
        except StopIteration:
            return


def _measured(plan: Plan, perf: PerfSpec, folder: RunFolder, command: str, points: Points) -> Sweep:
    sweep = Sweep(folder, [])
    with hold_writer_lock(folder):
        record = record_of(plan, folder, command, model_addresses(plan, "infer"), asks=True)
        with recorded(record, folder):
            point = next(points, None)
            while point is not None and sweep.stopped is None:
                try:
                    sweep, run = _with_load(sweep, point, plan_at(plan, point.setting), perf, command)
                    point = points.send(meets_goals(run) if run.results else None)
                except StopIteration:
                    point = None
                except (KeyboardInterrupt, Interrupted) as stop:  # between two loads, or while a server starts
                    sweep = _stopped(sweep, stop if isinstance(stop, Interrupted) else interruption(stop, ""))
            record.finish(end_of(sweep.errors, sweep.stopped))
        write_report(folder)
    return sweep


def _with_load(sweep: Sweep, point: PointRun, plan: Plan, perf: PerfSpec, command: str) -> tuple[Sweep, PerfRun]:
    """Measure one load; return all so far, and its run. One that was stopped before its first answer is left out."""
    sweep = replace(sweep, not_reset=sweep.not_reset or reset_caches(plan))
    perf = replace(perf, seed=perf.seed + len(sweep.loads))
    folder = RunFolder(sweep.folder.loads / point.folder_name)
    with writing(folder.root):
        folder.root.mkdir(parents=True)
    run = measure_run(plan, prepare_run(plan, perf), perf, folder, command)
    if run.results or run.stopped is None:
        sweep = _written(replace(sweep, loads=[*sweep.loads, SweepLoad(point, _without_requests(run))]))
    return sweep if run.stopped is None else _stopped(sweep, run.stopped), run


def _stopped(sweep: Sweep, stop: Interrupted) -> Sweep:
    """Return a sweep that ends here, with an error that says what is there."""
    whole = sum(load.run.stopped is None for load in sweep.loads)
    what = f"stopped after {counted(whole, 'load')}; what was measured is kept"
    fix = "measure the others in a new run; -m perf_viz -r shows these"
    return replace(sweep, stopped=type(stop)(what, where=str(sweep.folder.root), fix=fix), is_whole=False)


def _without_requests(run: PerfRun) -> PerfRun:
    """Return a run whose results have only their numbers, so that many loads need no more memory than one."""
    return replace(run, results=[replace(one, load=replace(one.load, exchanges=())) for one in run.results])


def _written(sweep: Sweep) -> Sweep:
    """Write ``summary/perf.csv``: one row for each load of each task."""
    lines: list[dict[str, Any]] = []
    for point, result in sweep.results:
        head = {"model": result.task.model.abbr, "dataset": result.task.dataset.abbr, "point": point.point}
        values = {str(row.metric): row.score for row in result.rows}
        lines.append({**head, "run": point.run or None, **values})
    columns = list(dict.fromkeys([*FIRST_COLUMNS, *(name for line in lines for name in line)]))
    with replacing(sweep.folder.summary_dir / "perf.csv") as stream:
        stream.write(csv_lines(columns, lines).encode())
    return sweep


def reset_caches(plan: Plan) -> str:
    """Let servers forget the prompts of earlier loads; return why one did not, or nothing.

    Source of the path: vLLM and SGLang have ``POST /reset_prefix_cache`` or ``POST /flush_cache`` beside ``/v1``.
    """
    for planned in plan.models:
        model = planned.model
        if not isinstance(model, ApiModel) or model.server is not None:
            continue
        for base_url in model.base_urls:
            replies = (
                ask_root(base_url, "POST", path, model.api_key, model.headers, model.api)
                for path in ("reset_prefix_cache", "flush_cache")
            )
            if not any(isinstance(reply, Reply) and reply.status == 200 for reply in replies):
                return f"{planned.spec.abbr} has no /reset_prefix_cache: its cache may hold prompts of earlier loads"
    return ""
