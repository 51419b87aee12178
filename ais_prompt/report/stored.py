"""A scored run as exporters read it: its tasks and scores, and its samples one at a time or as tables.

Tables are Arrow tables, pandas frames, CSV and Parquet. Their columns that can hold values of several types (prompts,
answers, golds) are texts: a text as it is, anything else as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, get_args, get_type_hints

from msgspec import Struct

from ais_prompt.errors import DataError, MissingExtra, StoreError
from ais_prompt.plan import stored_spec
from ais_prompt.report.summary import csv_lines
from ais_prompt.scoring import Row, TaskOutcome, summary_rows
from ais_prompt.store import (
    BROKEN_FIX,
    RunFolder,
    read_details,
    read_predictions,
    read_run_file,
    read_scores,
    replacing,
)
from ais_prompt.types import (
    ChatMessage,
    Prediction,
    SampleScore,
    Score,
    TaskFacts,
    TaskSpec,
    prompt_to_json,
    prompts_to_json,
)
from ais_prompt.utils import describe_call, shown_content

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


_SCORE_AGAIN = "score the run again: aisprompt score RUN"

SAMPLE_COLUMNS: Final[dict[str, type]] = {
    "model": str,
    "dataset": str,
    "id": str,
    "index": int,
    "prompt": str,
    "prediction": str,
    "gold": str,
    "status": str,
    "reason": str,
    "extracted": str,
    "score": float,
    "failure": str,
    "finish_reason": str,
    "prompt_tokens": int,
    "completion_tokens": int,
    "seconds": float,
    "attempts": int,
    "shots_used": int,
}
"""Column of `samples_table` → type of its values, before the columns of the rows, and one column for each metric."""

METRIC_PREFIX: Final = "score_"
ROW_PREFIX: Final = "row_"
"""Begins a column of the data whose name `SAMPLE_COLUMNS` or a metric has."""
_AT_A_TIME: Final = 2000
"""Samples in memory at most, besides the scores of one task."""


class StoredSample(Struct, frozen=True):
    """One sample of a task.

    Attributes:
        prediction: what was asked and answered.
        score: how the answer was scored; None if the task was not scored.
    """

    prediction: Prediction
    score: SampleScore | None

    @property
    def status(self) -> str:
        """One of the four states, or an empty text if the task was not scored."""
        if self.score is not None:
            return self.score.status
        return "failed" if self.prediction.failed else ""

    @property
    def failure(self) -> str:
        """``kind: message`` of the first failure; empty if there is none."""
        found = next((one.failure for one in self.prediction.completions if one.failure), None)
        return f"{found.kind}: {found.message}" if found else ""

    def messages(self) -> list[dict[str, Any]]:
        """Return the last prompt as messages in OpenAI form; a text is what the user says."""
        prompt: Any = self.prediction.origin_prompt
        while isinstance(prompt, tuple) and prompt and not isinstance(prompt[0], ChatMessage):
            prompt = prompt[-1]
        found = prompt_to_json((ChatMessage("user", prompt),) if isinstance(prompt, str) else prompt)
        assert isinstance(found, list)
        return found

    def question(self) -> str:
        """Return the texts of the last prompt as one text."""
        return "\n".join(map(text_of_message, self.messages()))


class StoredTask(Struct, frozen=True):
    """One model on one dataset, with its results.

    Attributes:
        spec: the task in the config of the run.
        facts: what ``run.json`` says of it.
        scores: the main one first; empty if it was not scored.
        folder: the run folder.
    """

    spec: TaskSpec
    facts: TaskFacts
    scores: tuple[Score, ...]
    folder: RunFolder

    @property
    def model(self) -> str:
        """The ``abbr`` of the model."""
        return self.spec.model.abbr

    @property
    def dataset(self) -> str:
        """The ``abbr`` of the dataset."""
        return self.spec.dataset.abbr

    @property
    def model_name(self) -> str:
        """The name of the model as its server or the hub knows it, else its ``abbr``."""
        args = self.spec.model.part.args
        return str(self.facts.model.get("model") or args.get("model") or args.get("path") or self.model)

    def samples(self) -> Iterator[StoredSample]:
        """Yield the samples in their order.

        Raises:
            StoreError, DataError: a file cannot be read, or is broken.
        """
        return read_samples(self.spec, self.folder)


class StoredResults(Struct, frozen=True):
    """A run folder that was opened for an export.

    Attributes:
        folder: the run folder.
        record: its ``run.json``.
        tasks: the tasks that have predictions, in order.
    """

    folder: RunFolder
    record: Mapping[str, Any]
    tasks: tuple[StoredTask, ...]

    @property
    def started(self) -> datetime:
        """When the run began."""
        return datetime.fromisoformat(self.record["sessions"][0]["started"])

    @property
    def ended(self) -> datetime:
        """When its last session ended; when it began, if no session did."""
        ends = [session["ended"] for session in self.record["sessions"] if session.get("ended")]
        return datetime.fromisoformat(ends[-1]) if ends else self.started

    @property
    def version(self) -> str:
        """The version of this program that made the run."""
        return str(self.record.get("versions", {}).get("ais-prompt", "unknown"))


def read_stored_results(folder: RunFolder) -> StoredResults:
    """Open a run folder for an export. Scores are read, predictions are not yet.

    Raises:
        ConfigError: its config has faults.
        StoreError: a file is missing or broken, or no task has predictions.
    """
    record = read_run_file(folder)
    spec = stored_spec(folder)
    facts = {name: TaskFacts.from_json(values) for name, values in record.get("tasks", {}).items()}
    tasks = []
    for task in spec.tasks:
        names = task.model.abbr, task.dataset.abbr
        if folder.predictions(*names).exists():
            results = folder.results(*names)
            scores = tuple(read_scores(results)) if results.exists() else ()
            tasks.append(StoredTask(task, facts.get(task.name, TaskFacts()), scores, folder))
    if not tasks or not record.get("sessions"):
        fix = f"finish the run: aisprompt run CONFIG -r {folder.root.name}"
        raise StoreError("the run has no predictions yet", where=str(folder.root), fix=fix)
    return StoredResults(folder, record, tuple(tasks))


def read_samples(task: TaskSpec, folder: RunFolder) -> Iterator[StoredSample]:
    """Yield the samples of a task in their order; none if it has no predictions.

    Raises:
        StoreError, DataError: a file cannot be read, or is broken.
    """
    names = task.model.abbr, task.dataset.abbr
    path, results = folder.predictions(*names), folder.results(*names)
    if not path.exists():
        return
    try:
        scores = {detail.sample_id: detail for detail in read_details(results)} if results.exists() else {}
    except StoreError as error:
        error.fix = _SCORE_AGAIN
        raise
    seen = set[str]()
    for prediction in read_predictions(path):
        if prediction.sample_id in seen:
            raise DataError(f"two predictions have the id {prediction.sample_id!r}", where=str(path), fix=BROKEN_FIX)
        seen.add(prediction.sample_id)
        yield StoredSample(prediction, scores.get(prediction.sample_id))


def text_of_message(message: Mapping[str, Any]) -> str:
    """Return the text of a message in the form of `message_to_json`; of parts, their texts and calls."""
    content = shown_content(message)
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", describe_call(part) or f"[{part.get('type')}]")) for part in content)


def scores_table(rows: Sequence[Row]) -> pa.Table:
    """Return the rows of a summary; the columns are the attributes of `Row`."""
    import pyarrow as pa

    hints, fields = get_type_hints(Row), []
    for name in Row.__struct_fields__:
        [kind] = set(get_args(hints[name]) or [hints[name]]) - {NoneType}  # int of int | None
        fields.append((name, _arrow_type(kind)))
    return pa.Table.from_pylist([row.to_json() for row in rows], schema=pa.schema(fields))


def samples_table(tasks: Iterable[TaskSpec], folder: RunFolder) -> pa.Table:
    """Return one row for each sample of the tasks; those of tasks without predictions are left out.

    Raises:
        StoreError: a file cannot be read.
        DataError: a file of predictions is broken.
    """
    import pyarrow as pa

    rows = [row for task in tasks for row in sample_rows(task, folder)]
    schema = sample_schema(rows)
    return pa.Table.from_pylist([_fitting(row, schema) for row in rows], schema=schema)


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Return a table as a pandas frame; integers may be missing (``Int64``).

    Raises:
        MissingExtra: pandas is not installed.
    """
    import pyarrow as pa

    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtra(
            "frames of pandas need the package pandas, which is not installed",
            fix="pip install pandas; or ask for an Arrow table: to='arrow'",
        ) from error
    kinds = {pa.int64(): pd.Int64Dtype()}
    return table.to_pandas(types_mapper=kinds.get)


def sample_rows(task: TaskSpec, folder: RunFolder) -> Iterator[dict[str, Any]]:
    """Yield each sample of a task as column → value, with the columns of its row; none if it has no predictions.

    Raises:
        StoreError, DataError: a file cannot be read, or is broken.
    """
    for sample in read_samples(task, folder):
        prediction, score = sample.prediction, sample.score
        completions = prediction.completions
        yield {
            "model": task.model.abbr,
            "dataset": task.dataset.abbr,
            "id": prediction.sample_id,
            "index": prediction.index,
            "prompt": _text(prompts_to_json(prediction.origin_prompt)),
            "prediction": _text(prediction.prediction),
            "status": sample.status or None,
            "gold": _text(score.gold if score else prediction.gold),
            "reason": score.reason or None if score else None,
            "extracted": _text(score.extracted) if score else None,
            "score": next(iter(score.values.values()), None) if score else None,
            "failure": sample.failure or None,
            "finish_reason": completions[-1].finish_reason if completions else None,
            "prompt_tokens": _sum(completion.usage.prompt_tokens for completion in completions),
            "completion_tokens": _sum(completion.usage.completion_tokens for completion in completions),
            "seconds": sum(completion.seconds for completion in completions),
            "attempts": sum(completion.attempts for completion in completions),
            "shots_used": prediction.shots_used,
            **{_own_name(name): value for name, value in prediction.columns.items()},
            **{f"{METRIC_PREFIX}{name}": value for name, value in (score.all_values if score else {}).items()},
        }


def sample_schema(rows: Iterable[Mapping[str, Any]]) -> pa.Schema:
    """Return the columns of samples: those of each sample, those of the rows of the data, and one for each metric.

    A column of the data that holds values of several types becomes text.
    """
    import pyarrow as pa

    kinds: dict[str, set[type]] = {}
    for row in rows:
        for name, value in row.items():
            if name not in SAMPLE_COLUMNS:
                kinds.setdefault(name, set()).add(type(value))
    others: dict[str, type] = {}
    for name in sorted(kinds, key=lambda name: name.startswith(METRIC_PREFIX)):
        known = kinds[name] - {NoneType}
        is_number = name.startswith(METRIC_PREFIX) or known == {int, float}
        others[name] = float if is_number else known.pop() if len(known) == 1 else str
    return pa.schema([(name, _arrow_type(kind)) for name, kind in (SAMPLE_COLUMNS | others).items()])


def _own_name(column: str) -> str:
    return f"{ROW_PREFIX}{column}" if column in SAMPLE_COLUMNS or column.startswith(METRIC_PREFIX) else column


def _fitting(row: dict[str, Any], schema: pa.Schema) -> dict[str, Any]:
    """Return a row whose values are texts where the column holds texts."""
    import pyarrow as pa

    texts = {field.name for field in schema if field.type == pa.string()}
    return {name: _text(value) if name in texts else value for name, value in row.items()}


def _sum(numbers: Iterable[int | None]) -> int | None:
    """Return the sum of the numbers that are known; None if none is."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    # Arrow holds UTF-8, which has no bytes for a lone surrogate.
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _arrow_type(kind: type) -> Any:
    import pyarrow as pa

    return {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}[kind]


def write_csv(run: StoredResults, folder: Path) -> list[Path]:
    """Write ``scores.csv`` and ``samples.csv``; a missing value is an empty field.

    Raises:
        StoreError, DataError: a file cannot be read or written.
    """
    paths = [folder / "scores.csv", folder / "samples.csv"]
    scores = _scores(run)
    with replacing(paths[0]) as stream:
        stream.write(csv_lines(scores.schema.names, scores.to_pylist()).encode())
    columns = sample_schema(_all_rows(run)).names
    with replacing(paths[1]) as stream:
        stream.write(csv_lines(columns, ()).encode())
        for some in _batches(run):
            stream.write(csv_lines(columns, some, header=False).encode())
    return paths


def write_parquet(run: StoredResults, folder: Path) -> list[Path]:
    """Write ``scores.parquet`` and ``samples.parquet``.

    Raises:
        StoreError, DataError: a file cannot be read or written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = [folder / "scores.parquet", folder / "samples.parquet"]
    with replacing(paths[0], binary=True) as stream:
        pq.write_table(_scores(run), stream)
    schema = sample_schema(_all_rows(run))
    with replacing(paths[1], binary=True) as stream, pq.ParquetWriter(stream, schema) as writer:
        for some in _batches(run):
            writer.write_table(pa.Table.from_pylist([_fitting(row, schema) for row in some], schema=schema))
    return paths


def _scores(run: StoredResults) -> Any:
    outcomes = [
        TaskOutcome(
            task.model,
            task.dataset,
            task.scores,
            predictions_only=not task.scores,
            is_reference=task.spec.is_reference,
            variant=task.spec.columns,
        )
        for task in run.tasks
    ]
    return scores_table(summary_rows(outcomes))


def _all_rows(run: StoredResults) -> Iterator[dict[str, Any]]:
    for task in run.tasks:
        yield from sample_rows(task.spec, run.folder)


def _batches(run: StoredResults) -> Iterator[list[dict[str, Any]]]:
    rows = _all_rows(run)
    while some := list(islice(rows, _AT_A_TIME)):
        yield some
