"""Measure the performance of servers: send each task's load, one task after the other, and compute its numbers.

`measure_run` asks; `show_run` computes everything again from the schedules and journals of a run, and asks nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from ais_prompt.errors import AisPromptError, Interrupted, ModelError, Terminated, raise_all
from ais_prompt.extensions.perf.counters import ServerCounters, spec_decode_json
from ais_prompt.extensions.perf.load_result import LoadResult, read_result
from ais_prompt.extensions.perf.measure import measure
from ais_prompt.extensions.perf.page import write_load_pages
from ais_prompt.extensions.perf.prepare import PreparedLoad, prepare_load
from ais_prompt.extensions.perf.section import PerfSpec
from ais_prompt.plan import Plan, Task, record_of
from ais_prompt.processes import interruption
from ais_prompt.report import write_report
from ais_prompt.store import RunFolder, RunStatus, hold_writer_lock, recorded, write_json_atomic
from ais_prompt.terminal import logging_to
from ais_prompt.verbs import model_addresses, started_parts

logger = logging.getLogger(__name__)


class PerfRun(Struct, frozen=True):
    """The results of a run that measures performance.

    Attributes:
        folder: the run folder.
        results: of the tasks that were measured.
        errors: ``model/dataset`` → why a task has no result.
        stopped: why the run ended before its last task; None if it did not.
    """

    folder: RunFolder
    results: Sequence[LoadResult]
    errors: Mapping[str, AisPromptError]
    stopped: Interrupted | None = None


def prepare_run(plan: Plan, perf: PerfSpec) -> list[PreparedLoad]:
    """Build the prompts and schedules of all tasks, before anything is sent.

    Raises:
        ConfigFaults: every task that cannot be measured.
    """
    loads: list[PreparedLoad] = []
    faults: list[AisPromptError] = []
    for task in plan.tasks:
        try:
            loads.append(prepare_load(task, perf))
        except AisPromptError as fault:
            if all((fault.what, fault.where) != (known.what, known.where) for known in faults):
                faults.append(fault)
    raise_all(faults)
    return loads


def measure_run(plan: Plan, loads: Sequence[PreparedLoad], perf: PerfSpec, folder: RunFolder, command: str) -> PerfRun:
    """Send the loads one after the other, and compute their results.

    Args:
        plan: of a checked config.
        loads: of `prepare_run`.
        perf: how it is measured.
        folder: a new run folder.
        command: the command line without secrets, for the record.

    Raises:
        StoreError: the run folder cannot be used.
    """
    results: list[LoadResult] = []
    errors: dict[str, AisPromptError] = {}
    stopped: Interrupted | None = None
    with hold_writer_lock(folder), logging_to(folder.logs / "run.log"):
        record = record_of(plan, folder, command, model_addresses(plan, "infer"), asks=True)
        parts = started_parts(plan, "infer", folder.logs / "servers")
        with recorded(record, folder, fix="measure it again"), parts:
            for load in loads:
                name = load.task.name
                try:
                    record.add_task(load.task.spec, measure(load, folder))
                except KeyboardInterrupt as stop:
                    what, fix = "stopped; what was answered is kept", "measure it again; -m perf_viz -r shows this load"
                    stopped = interruption(stop, what, where=str(folder.root), fix=fix)
                except AisPromptError as error:
                    logger.info("%s failed", name, exc_info=True)
                    errors[name] = error
                    continue
                _compute(load.task, perf, folder, results, errors)
                if stopped is not None:
                    break
            record.finish(end_of(errors, stopped))
        if results:
            write_report(folder)
        if perf.spec_decode:
            _write_spec_decode(results, folder)
    return PerfRun(folder, results, errors, stopped)


def end_of(errors: Mapping[str, AisPromptError], stopped: Interrupted | None) -> RunStatus:
    """Return how a run has ended, for its record."""
    if stopped is None:
        return "failed" if errors else "finished"
    return "preempted" if stopped.exit_code == Terminated.exit_code else "interrupted"


def show_run(tasks: Sequence[Task], perf: PerfSpec, folder: RunFolder) -> PerfRun:
    """Compute the results of a run again from its schedules and journals; nothing is asked.

    Raises:
        StoreError: the run folder cannot be used.
    """
    results: list[LoadResult] = []
    errors: dict[str, AisPromptError] = {}
    with hold_writer_lock(folder):
        for task in tasks:
            _compute(task, perf, folder, results, errors)
        if results:
            report_again(folder)
        if perf.spec_decode:
            _write_spec_decode(results, folder)
    return PerfRun(folder, results, errors)


def report_again(folder: RunFolder) -> None:
    """Write the report of loads that were measured earlier, unless ``run.json`` is gone, which it is made from."""
    if folder.run_file.exists():
        write_report(folder)
    else:
        logger.warning("%s is missing: there is no report.html", folder.run_file)


def _write_spec_decode(results: Sequence[LoadResult], folder: RunFolder) -> None:
    """Write ``spec_decode_<host_port>.json`` of each server of a model: from its first load to the end of its last."""
    servers: dict[tuple[str, str], ServerCounters] = {}
    for result in results:
        for one in result.load.counters:
            key = result.task.model.abbr, one.address
            known = servers.get(key, one)
            servers[key] = ServerCounters(one.address, {**one.before, **known.before}, one.after, one.error)
    for (model, address), counters in servers.items():
        host = urlsplit(address).netloc.replace(":", "_")
        path = folder.load_file(model, f"spec_decode_{host}", ".json")
        write_json_atomic(path, spec_decode_json(counters))


def _compute(
    task: Task, perf: PerfSpec, folder: RunFolder, results: list[LoadResult], errors: dict[str, AisPromptError]
) -> None:
    """Add the result of a task, or why there is none."""
    try:
        result = read_result(task.spec, perf, folder)
        write_load_pages(task.spec, folder)
    except AisPromptError as error:
        errors[task.name] = error
        return
    results.append(result)
    if not result.total.answered:
        kinds = {one.failure for one in result.load.exchanges}
        what = f"none of {result.total.requests} requests was answered: {', '.join(sorted(map(str, kinds)))}"
        errors[task.name] = ModelError(
            what, where=result.task.model.where, fix="the journal has the message of each failure"
        )
