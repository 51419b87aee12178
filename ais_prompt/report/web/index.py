"""All samples of a run in one SQLite file, ``view/samples.sqlite``, and what a page asks of it.

Each sample has a row with its line of the table, and where its prediction and score begin in their files. Other tables
hold the text that a search looks into, and where the requests to judges about a sample begin. If SQLite has FTS5 with
trigrams, a search looks only into the texts that have all trigrams of the query. The row of ``run`` is written last:
without it the file is made again.

`find` filters, searches and sorts the samples for a `Query` of the page. `find_questions` puts the same questions under
several models side by side. With two models a question is in one of four classes: both right, only the first, only the
second, none of them.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs

from msgspec import Struct

from ais_prompt.errors import AisPromptError, ConfigError, StoreError
from ais_prompt.parts import exception_line
from ais_prompt.preview import question_text, questions
from ais_prompt.report.web.overview import COLUMNS, InOrder, TaskTotals, overview, samples_of
from ais_prompt.report.web.run_files import shown_tasks, summary_of, time_of_summary
from ais_prompt.report.web.sample import judgement_places
from ais_prompt.secrets import SECRETS
from ais_prompt.store import ASK_FIRST, NO_ANSWERS, RunFolder, detail_places, is_own, reading, refuse_links, writing
from ais_prompt.types import Prediction
from ais_prompt.utils import encode_finite

STATES: Final = ("right", "partial", "wrong", "scored", "answered", "unparsed", "truncated", "no_gold", "failed")
"""In the order in which they are shown."""
VERSION: Final = 9
"""Of the file; one of another version is made again."""
BATCH_SAMPLES: Final = 1000
"""Samples of a task that are written together."""
FIRST_SAMPLES: Final = 5000
"""Samples that a page shows first."""
FIELDS: Final = (*COLUMNS, "task", "start", "detail_start")
"""Columns of the samples: the number of the task, and bytes in its files; ``detail_start`` is -1 without a score."""
_SCHEMA: Final = f"""
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
BEGIN;
CREATE TABLE run (version, summary, overview);
CREATE TABLE tasks (task INTEGER PRIMARY KEY, model, dataset, unit);
CREATE TABLE samples (number INTEGER PRIMARY KEY, {", ".join(f'"{name}"' for name in FIELDS)});
CREATE INDEX samples_by_id ON samples (id);
CREATE TABLE judgements (task, id, path, start);
CREATE INDEX judgements_by_id ON judgements (id);
CREATE TABLE texts (number INTEGER PRIMARY KEY, text);
"""
_TRIGRAMS: Final = "CREATE VIRTUAL TABLE trigrams USING fts5(text, content='', detail=none, tokenize='trigram')"
_INSERT: Final = f"INSERT INTO samples VALUES (:number, {', '.join(f':{name}' for name in FIELDS)})"
_FIX: Final = "free space if the disk is full; else remove the file: it is made again"
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

Batch: TypeAlias = Sequence[tuple[Prediction, dict[str, Any]]]
"""Samples with their lines of the table."""

WORST_FIRST: Final = ("wrong", "unparsed", "truncated", "no_gold", "failed", "partial", "scored", "answered", "right")
"""In the order in which they are sorted."""
ORDERS: Final = {
    "state": f"CASE state {' '.join(f'WHEN {STATES.index(one)} THEN {at}' for at, one in enumerate(WORST_FIRST))} END",
    **{name: name for name in ("question", "extracted", "gold", "value", "seconds", "model", "dataset")},
    "index": '"index"',
    "length": "CASE unit WHEN 'tokens' THEN tokens ELSE characters END",
}
"""What the page sorts by, and its expression in SQL."""
MOST_TRIGRAMS: Final = 30
"""Trigrams of a text that choose the samples to look into."""

MOST_MODELS: Final = 8
"""Models side by side."""
RIGHT: Final = STATES.index("right")
MISSES: Final = tuple(STATES.index(name) for name in ("partial", "wrong", "unparsed", "truncated", "no_gold", "failed"))
"""States below the full score."""


class SampleIndex:
    """The samples of a run with scores. They are read in a thread of its own where there is no valid file.

    While they are read, the first `FIRST_SAMPLES` are shown, and more each time that their number has doubled.

    Attributes:
        folder: with the scores of the run.
        overview: of the samples so far, from `ais_prompt.report.web.overview.overview`.
        share: how much of the predictions is read, 0 to 1; 1 after an error.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.overview: Mapping[str, Any] = {}
        self.share = 0.0
        self._summary = time_of_summary(folder)
        self._changed = threading.Condition()  # held while the database is used
        self._error: AisPromptError | None = None
        stored = _stored(folder, self._summary)
        if stored is None:
            threading.Thread(target=self._run, daemon=True).start()
        else:
            self._database, self.overview = stored
            self.has_trigrams = _has_trigrams(self._database)
            self.share = 1.0

    @property
    def size(self) -> int:
        """Number of samples so far."""
        return sum(task["samples"] for task in self.overview.get("tasks", ()))

    def wait(self, *, whole: bool = False) -> SampleIndex:
        """Wait for the first samples, or for all of them.

        Raises:
            StoreError: the run cannot be read, or the file cannot be written.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.share == 1 or (self.overview and not whole))
            if self._error:
                raise self._error
        return self

    def select(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a SELECT.

        Raises:
            StoreError: the file is broken.
        """
        with self._changed, _database_errors(self.folder):
            return self._database.execute(statement, list(map(storable, values))).fetchall()

    def row(self, number: int) -> dict[str, Any]:
        """Return a sample as JSON values, as the page expects it, with ``start`` and ``detail_start``."""
        names = ", ".join(f'"{name}"' for name in FIELDS)
        [values] = self.select(f"SELECT {names} FROM samples WHERE number = ?", [number])
        line = dict(zip(FIELDS, values, strict=True))
        columns = json.loads("{" + line["columns"].strip(",") + "}")
        return {**line, "number": number, "state": STATES[line["state"]], "columns": columns}

    def judgements(self, task: int, sample_id: str) -> list[tuple[Path, int]]:
        """Return where the requests to judges about a sample begin: each with its file and byte."""
        statement = "SELECT path, start FROM judgements WHERE task = ? AND id = ? ORDER BY rowid"
        return [(self.folder.root / path, start) for path, start in self.select(statement, [task, sample_id])]

    def _run(self) -> None:
        try:
            with _database_errors(self.folder):
                self._make()
        except AisPromptError as error:
            self._error = error
        except Exception as error:  # a page waits, and must show it
            what = f"cannot make the index: {exception_line(error)}"
            self._error = StoreError(what, where=str(self.folder.view), fix="report it")
        with self._changed:
            self.share = 1.0
            self._changed.notify_all()

    def _make(self) -> None:
        """Read all samples into a new file, and publish their overview as they become more."""
        refuse_links(self.folder)
        rows = summary_of(self.folder)
        totals = [TaskTotals(task) for task in shown_tasks(self.folder, rows)]
        paths = [self.folder.predictions(one.task.model, one.task.dataset) for one in totals]
        with reading(self.folder.root / "predictions", ASK_FIRST, absent=NO_ANSWERS):
            sizes = [path.stat().st_size for path in paths]
        with writing(self.folder.view):
            self.folder.view.mkdir(exist_ok=True)
            _file(self.folder).unlink(missing_ok=True)  # a process that has it open keeps it
        self._database = _connect(self.folder, "nolock=1")
        self._database.executescript(_SCHEMA)
        with suppress(sqlite3.OperationalError):  # this SQLite has no FTS5, or no trigrams
            self._database.execute(_TRIGRAMS)
        self.has_trigrams = _has_trigrams(self._database)
        number, published = 0, 0
        for place, one in enumerate(totals):
            judged = [
                (place, storable(sample_id), str(path.relative_to(self.folder.root)), start)
                for sample_id, path, start in judgement_places(self.folder, one.task.model, one.task.dataset)
            ]
            with self._changed:
                self._database.executemany("INSERT INTO judgements VALUES (?, ?, ?, ?)", judged)
            for batch, before in self._batches(place, one, paths[place]):
                with self._changed:
                    self._write(number, batch, before)
                number += len(batch)
                self.share = min((sum(sizes[:place]) + batch[-1][1]["start"]) / sum(sizes), 0.99)
                if number >= max(2 * published, FIRST_SAMPLES):
                    published = number
                    self._publish(overview(self.folder, rows, totals), totals)
        values = overview(self.folder, rows, totals)
        stored = VERSION, self._summary, SECRETS.hide_in_json(encode_finite(values))
        with self._changed:
            self._publish(values, totals)
            self._database.execute("INSERT INTO run VALUES (?, ?, ?)", stored)
            self._database.commit()

    def _batches(self, place: int, totals: TaskTotals, path: Path) -> Iterator[tuple[Batch, Prediction | None]]:
        """Yield the samples of a task in batches, each with the sample before it."""
        task = totals.task
        details = InOrder(detail_places(self.folder.results(task.model, task.dataset)) if task.scored else ())
        batch: list[tuple[Prediction, dict[str, Any]]] = []
        before = None
        for (prediction, _, line), start in zip(samples_of(totals, self.folder), line_starts(path), strict=False):
            detail = details.pop(prediction.sample_id)
            places = {"task": place, "start": start, "detail_start": -1 if detail is None else detail}
            batch.append((prediction, {**line, **places}))
            if len(batch) == BATCH_SAMPLES:
                yield batch, before
                before, batch = prediction, []
        if batch:
            yield batch, before

    def _write(self, number: int, batch: Batch, before: Prediction | None) -> None:
        """Write samples whose first one has a number."""
        rows, texts = [], []
        asked = questions([prediction for prediction, _ in batch])
        for place, ((prediction, line), question) in enumerate(zip(batch, asked, strict=True), start=number):
            # A comma around each pair, so that a pair is found as a text. A quote inside a text is escaped.
            columns = f",{json_text(line['columns'])[1:-1]},"
            row = {**line, "number": place, "question": question, "state": STATES.index(line["state"])}
            rows.append({name: storable(value) for name, value in {**row, "columns": columns}.items()})
            texts.append((place, storable(_searched(prediction, before, row))))
            before = prediction
        self._database.executemany(_INSERT, rows)
        self._database.executemany("INSERT INTO texts VALUES (?, ?)", texts)
        if self.has_trigrams:
            self._database.executemany("INSERT INTO trigrams (rowid, text) VALUES (?, ?)", texts)

    def _publish(self, values: Mapping[str, Any], totals: Sequence[TaskTotals]) -> None:
        """Show the samples so far."""
        tasks = [
            tuple(map(storable, (number, one.task.model, one.task.dataset, one.unit)))
            for number, one in enumerate(totals)
        ]
        with self._changed:
            self._database.executemany("REPLACE INTO tasks VALUES (?, ?, ?, ?)", tasks)
            self.overview = values
            self._changed.notify_all()


def _searched(prediction: Prediction, before: Prediction | None, row: Mapping[str, Any]) -> str:
    """Return what a search looks into: the line of the table, the gold, the answers, and what only this prompt has."""
    cells = [row[name] or "" for name in ("id", "question", "extracted", "gold")]
    answers = chain.from_iterable((answer.text, answer.reasoning) for answer in prediction.completions)
    return "\n".join([*cells, str(prediction.gold), *answers, question_text(prediction, before)]).lower()


def line_starts(path: Path) -> Iterator[int]:
    """Yield where each line of a file begins, in bytes.

    Raises:
        ConfigError: there is no such file.
        StoreError: it cannot be read.
    """
    start = 0
    with reading(path, fix=ASK_FIRST, absent=NO_ANSWERS), path.open("rb") as lines:
        for line in lines:
            yield start
            start += len(line)


def json_text(value: Any) -> str:
    """Return a value in the one form in which ``columns`` has it, and a search looks for it."""
    return _ENCODER.encode(value)


def storable(value: Any) -> Any:
    """Return a value that SQLite can hold: a lone surrogate in a text becomes a question mark."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _stored(folder: RunFolder, summary: int) -> tuple[sqlite3.Connection, Mapping[str, Any]] | None:
    """Open the file of a run; None if it is not whole, of other scores, or made by somebody else.

    Args:
        folder: of the run.
        summary: from `time_of_summary`.
    """
    if not (is_own(folder) and _file(folder).is_file()):
        return None
    try:
        database = _connect(folder, "mode=ro&immutable=1")
        [(version, of, text)] = database.execute("SELECT version, summary, overview FROM run").fetchall()
        if (version, of) == (VERSION, summary):
            return database, json.loads(text)
        database.close()
    except (sqlite3.Error, ValueError):
        pass
    return None


def _file(folder: RunFolder) -> Path:
    return folder.view / "samples.sqlite"


def _connect(folder: RunFolder, options: str) -> sqlite3.Connection:
    """Open the file without locks, which shared file systems lack: only one thread at a time uses it."""
    address = f"{_file(folder).absolute().as_uri()}?{options}"
    return sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None)


def _has_trigrams(database: sqlite3.Connection) -> bool:
    """Return whether the file has trigrams, and this SQLite can read them."""
    try:
        with closing(database.execute("SELECT rowid FROM trigrams WHERE trigrams MATCH 'abc'")):
            return True
    except sqlite3.OperationalError:
        return False


@contextmanager
def _database_errors(folder: RunFolder) -> Iterator[None]:
    """Turn an error of SQLite into a StoreError."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"cannot use the index: {error}", where=str(_file(folder)), fix=_FIX) from error


class Query(Struct, frozen=True):
    """Which samples are wanted, in which order.

    Attributes:
        models, datasets: their ``abbr``; empty for all.
        states: of `STATES`; empty for all.
        columns: column of the data → its value as JSON, since 1 and true are equal in Python.
        text: what a sample contains, in upper or lower case; empty for all. Of prompts, only the lines that differ from
            the previous sample's are searched.
        sort: one of `ORDERS`; empty for the order of the data.
        down: from the largest to the smallest.
    """

    models: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    text: str = ""
    sort: str = ""
    down: bool = False

    @classmethod
    def parse(cls, text: str) -> Query:
        """Read the query part of an address, as the page writes it.

        Raises:
            ConfigError: it is not one.
        """
        values = parse_qs(text)
        try:
            pairs = [json.loads(text) for text in values.get("column", ())]
            columns = tuple((str(name), json_text(value)) for name, value in pairs)
        except (TypeError, ValueError):
            raise ConfigError("the address has a column that is no pair", fix="open the report again") from None
        first = {name: found[0] for name, found in values.items()}
        sort = first.get("sort", "")
        return cls(
            tuple(values.get("model", ())),
            tuple(values.get("dataset", ())),
            tuple(state for state in values.get("state", ()) if state in STATES),
            columns,
            first.get("query", ""),
            sort if sort in ORDERS else "",
            first.get("down") == "true",
        )


class FoundSamples(Struct, frozen=True):
    """The samples that pass a query.

    Attributes:
        numbers: in the index, in order.
        states: number of samples in each state that pass all filters but that of states.
    """

    numbers: array[int]
    states: Mapping[str, int]


def find(index: SampleIndex, query: Query, size: int) -> FoundSamples:
    """Return which of the first ``size`` samples of an index pass a query.

    Raises:
        StoreError: the index is broken.
    """
    where, values = conditions(index, query, size)
    order = f"{ORDERS[query.sort]} IS NULL, {ORDERS[query.sort]} {'DESC' if query.down else ''}, " if query.sort else ""
    statement = f"SELECT number, state FROM samples JOIN tasks USING (task) WHERE {where} ORDER BY {order}number"
    found = index.select(statement, values)
    counts = Counter(state for _, state in found)
    wanted_states = {STATES.index(state) for state in query.states or STATES}
    return FoundSamples(
        array("q", (number for number, state in found if state in wanted_states)),
        {STATES[state]: counts[state] for state in sorted(counts)},
    )


def conditions(index: SampleIndex, query: Query, size: int) -> tuple[str, list[Any]]:
    """Return the condition in SQL that samples pass a query, whatever their state, and its values."""
    found, values = ["number < ?"], list[Any]([size])
    for name, chosen in (("model", query.models), ("dataset", query.datasets)):
        if chosen:
            found.append(f"{name} IN ({', '.join('?' * len(chosen))})")
            values += chosen
    for name, value in query.columns:
        found.append("instr(columns, ?)")
        values.append(f",{json_text(name)}:{value},")
    if query.text:
        text = query.text.lower()
        texts = "instr(text, ?)"
        first = {text[start : start + 3].replace('"', '""') for start in range(min(len(text) - 2, MOST_TRIGRAMS))}
        trigrams = [f'"{trigram}"' for trigram in sorted(first) if "\0" not in trigram]
        if index.has_trigrams and trigrams:
            texts = f"number IN (SELECT rowid FROM trigrams WHERE trigrams MATCH ?) AND {texts}"
            values.append(" AND ".join(trigrams))
        found.append(f"number IN (SELECT number FROM texts WHERE {texts})")
        values.append(text)
    return " AND ".join(found), values


class FoundQuestions(Struct, frozen=True):
    """The questions that at least two models were asked.

    Attributes:
        models: those side by side, in the order of the run.
        numbers: of the first sample of each question in the index, in the order of the data.
        verdicts: number of questions of each verdict (`verdict_of`), whatever verdict is wanted.
    """

    models: tuple[str, ...]
    numbers: array[int]
    verdicts: Mapping[str, int]


def find_questions(index: SampleIndex, query: Query, size: int, wanted: str) -> FoundQuestions:
    """Return the questions of which a sample passes a query.

    Args:
        index: of the run.
        query: which models are side by side (all if it names none, up to `MOST_MODELS`), and what one of the samples
            of a question passes.
        size: of the index, for samples that are read so far.
        wanted: a verdict; empty for all questions.

    Raises:
        StoreError: the index is broken.
    """
    known = dict.fromkeys(task["model"] for task in index.overview["tasks"])
    models = tuple(name for name in known if not query.models or name in query.models)[:MOST_MODELS]
    weight = f"CASE model {' '.join(f'WHEN ? THEN {1 << place}' for place in range(len(models)))} END"
    asked = Query(models, query.datasets)
    among, values = conditions(index, asked, size)
    if query.states or query.columns or query.text:  # else all samples pass, and need not be looked up
        where, passing = conditions(index, query, size)
        if query.states:
            where += f" AND state IN ({', '.join(str(STATES.index(state)) for state in query.states)})"
        among += f" AND (dataset, id) IN (SELECT dataset, id FROM samples JOIN tasks USING (task) WHERE {where})"
        values += passing
    found = index.select(
        f"""
        SELECT MIN(number), SUM(weight), SUM(weight * (state = {RIGHT})), SUM(weight * (state IN {MISSES}))
        FROM (SELECT number, id, dataset, state, {weight} AS weight FROM samples JOIN tasks USING (task) WHERE {among})
        GROUP BY dataset, id HAVING COUNT(*) > 1 ORDER BY MIN(number)
        """,
        [*models, *values],
    )
    verdicts = [verdict_of(right, missed, asked, len(models)) for _, asked, right, missed in found]
    numbers = (number for (number, *_), verdict in zip(found, verdicts, strict=True) if wanted in ("", verdict))
    return FoundQuestions(models, array("q", numbers), Counter(verdict for verdict in verdicts if verdict))


def verdict_of(right: int, missed: int, asked: int, models: int) -> str:
    """Return which models are right: ``all``, ``none``, of two ``first`` or ``second``, of more ``some``.

    Args:
        right, missed, asked: sums of ``1 << place`` of the models that are right, that are not, and of all.
        models: number of models.

    Returns:
        Empty if a model has neither right nor wrong answers.
    """
    if right | missed != asked:
        return ""
    if right in (0, asked):
        return "all" if right else "none"
    if models > 2:
        return "some"
    return "first" if right == 1 else "second"
