"""The result of a load: tables, verdicts and files, computed from what the run folder holds of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from ais_prompt.errors import DataError
from ais_prompt.extensions.perf.aisbench import AisbenchTables, aisbench_tables
from ais_prompt.extensions.perf.charts import charts_json
from ais_prompt.extensions.perf.details import write_details
from ais_prompt.extensions.perf.load_files import StoredLoad, read_load
from ais_prompt.extensions.perf.load_verdicts import Goodput, LoadVerdict, goodput, load_verdicts
from ais_prompt.extensions.perf.metrics import LoadTable, load_table, window_table
from ais_prompt.extensions.perf.options import THROUGHPUTS
from ais_prompt.extensions.perf.probe import probe_times
from ais_prompt.extensions.perf.section import PerfSpec
from ais_prompt.report import finite_json
from ais_prompt.scoring import Row
from ais_prompt.store import RunFolder, replacing, write_json_atomic
from ais_prompt.types import TaskSpec
from ais_prompt.utils import encode_plain

VERSION: Final = 1
"""Of ``<dataset>_perf.json``."""


class LoadResult(Struct, frozen=True):
    """The result of one task under load.

    Attributes:
        task: a model and a dataset.
        load: as it is stored.
        total: the numbers of the whole load.
        window: those of its full height; None if that is too short.
        aisbench: the tables of AISBench; None if nothing was answered, or there is no stable stage.
        missing: why ``aisbench`` is None.
        verdicts: what may be wrong with the numbers.
        goodput: requests that meet the goals; None without goals.
    """

    task: TaskSpec
    load: StoredLoad
    total: LoadTable
    window: LoadTable | None
    aisbench: AisbenchTables | None
    missing: str
    verdicts: Sequence[LoadVerdict]
    goodput: Goodput | None = None

    @property
    def rows(self) -> list[Row]:
        """The numbers as rows for gates: ``ttft_seconds_p99``, ``requests_per_second``; of a verdict 1 if it holds."""
        table = self.total
        values = {
            f"{metric}_{name}": value
            for metric, found in table.distributions.items()
            for name, value in {"mean": found.mean, **found.percentiles}.items()
        }
        values |= {name: getattr(table, name) for name in THROUGHPUTS}
        if self.goodput is not None:
            values |= {"goodput": self.goodput.requests_per_second, "goodput_share": self.goodput.share}
        for verdict in self.verdicts:  # there may be several of one name
            values[verdict.name] = min(float(verdict.holds), values.get(verdict.name, 1.0))
        dataset, model, failed = self.task.dataset.abbr, self.task.model.abbr, table.failed
        return [
            Row(dataset, model, name, value, fraction=False, n=table.requests, scored=table.answered, failed=failed)
            for name, value in values.items()
        ]


def read_result(task: TaskSpec, perf: PerfSpec, folder: RunFolder) -> LoadResult:
    """Compute the result of a task from its schedule and journal, and write its files.

    Raises:
        ConfigError: the run has measured no such load.
        DataError: not a single request was sent.
        StoreError: a file cannot be read or written.
    """
    names = task.model.abbr, task.dataset.abbr
    schedule = folder.load_file(*names, "_schedule.jsonl")
    load = read_load(schedule, folder.journal(*names))
    if not load.exchanges:
        raise DataError("the load was stopped before its first answer", where=str(schedule), fix="measure it again")
    total = load_table(load.exchanges, load.plan.schedule)
    if load.probes:
        total = replace(total, distributions={**total.distributions, "probe_seconds": probe_times(load.probes)})
    tables, missing = None, ""
    try:
        tables = aisbench_tables(load.exchanges, load.plan.max_concurrency, perf.stage, perf.stats)
    except DataError as error:
        missing = f"{error.what}; {error.fix}"
    goals = goodput(load.exchanges, load.plan.schedule, total, perf.slo)
    result = LoadResult(
        task,
        load,
        total,
        window_table(load.exchanges, load.plan.schedule),
        tables,
        missing,
        load_verdicts(load, total, goals),
        goals,
    )
    if tables is not None:
        for ending, text in ((".csv", tables.csv), (".json", tables.json)):
            with replacing(folder.load_file(*names, ending)) as stream:
                stream.write(text.encode())
    write_json_atomic(folder.load_file(*names, "_perf.json"), result_json(result))
    with replacing(folder.load_file(*names, "_charts.json"), json=True) as stream:
        stream.write(encode_plain(charts_json(load)))
    write_details(task, load.plan.sample_ids, folder)
    return result


def result_json(result: LoadResult) -> dict[str, Any]:
    """Return the content of ``<dataset>_perf.json``: plain JSON values in seconds and tokens; infinity is null."""
    schedule = result.load.plan.schedule
    plan = to_builtins(result.load.plan)
    del plan["sample_ids"], plan["schedule"]["due"]
    values: dict[str, Any] = finite_json(
        {
            "version": VERSION,
            "model": result.task.model.abbr,
            "dataset": result.task.dataset.abbr,
            "plan": plan | {"rate": schedule.rate},
            "stages": {table.stage: to_builtins(table) for table in (result.total, result.window) if table},
            "goodput": None if result.goodput is None else to_builtins(result.goodput),
            "verdicts": to_builtins(result.verdicts),
            "client": None if result.load.client is None else to_builtins(result.load.client),
            "first_body": result.load.first_body,
            "counters": to_builtins(result.load.counters),
            "probes": to_builtins(result.load.probes),
        }
    )
    return values
