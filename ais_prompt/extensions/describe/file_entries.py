"""Entries of the files of a run folder, with their JSON schemas."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any, Final, NotRequired, TypedDict

import msgspec
from msgspec import Struct
from pydantic import BaseModel

from ais_prompt.extension import import_object
from ais_prompt.extensions.describe.docstring import read_docstring
from ais_prompt.gates import BASELINE_FORMAT, BaselineFile
from ais_prompt.parts import type_words
from ais_prompt.scoring import Row
from ais_prompt.steps import extensions
from ais_prompt.store import SCHEMA_VERSION, Results, RunFile
from ais_prompt.types import Argument, Completion, Entry, Speed


class FileKind(Struct, frozen=True):
    """A kind of file.

    Attributes:
        name: a short name, as `aisprompt describe` takes it.
        path: where it is in a run folder.
        about: what it holds, one sentence.
        shape: the type of its content, or of a line of it; None if it is no JSON.
        lines: whether it has one value a line.
        version: version of its form; 0 if that of the run folder counts.
    """

    name: str
    path: str
    about: str
    shape: Any = None
    lines: bool = False
    version: int = 0


class JournalLine(TypedDict):
    """A line of a journal: a finished request.

    Attributes:
        key: digest of everything that decides the answer.
        former: the key of an earlier version under which the answer was found.
        sample_id: the sample that was asked first with this key.
        turn: number of the turn in a dialogue, from 0.
        repeat: number of the answer to this prompt, from 0.
        files: the media files that were sent: path, media type, size in bytes, SHA-256.
        times: of a load: seconds from its beginning to the steps of the request, and to each event of its stream.
        completion: the answer, or why there is none.
    """

    key: str
    former: NotRequired[str]
    sample_id: str
    turn: int
    repeat: int
    files: NotRequired[list[dict[str, Any]]]
    times: NotRequired[dict[str, Any]]
    completion: Completion


class PredictionLine(TypedDict):
    """A line of the predictions: a sample with its prompt and answer.

    Attributes:
        id: digest of the input columns; the same on every machine.
        row: digest of the whole row; missing in version 1, whose ``id`` it is.
        index: number of the row after its range, from 0.
        origin_prompt: the prompt as it was sent: a text, a list of messages, or a list of these in a dialogue.
        prediction: the answer before postprocessing; null if there is none.
        gold: the value of the output column.
        labels: label → its measured values, where the answer is chosen from labels.
        shots_used: in-context examples in the prompt.
        cluster: column and value that the question shares with others.
        columns: numbers and short texts of the row, except the gold answer.
        completions: the answers of the model, in the order of the requests.
        failed_turn: number of the turn whose failure ended a dialogue, from 1.
    """

    id: str
    row: NotRequired[str]
    index: int
    origin_prompt: Any
    prediction: Any
    gold: Any
    labels: NotRequired[dict[str, dict[str, Any]]]
    shots_used: int
    cluster: NotRequired[tuple[str, str]]
    columns: NotRequired[dict[str, Any]]
    completions: list[Completion]
    failed_turn: NotRequired[int]


FILES: Final = (
    FileKind("run.json", "run.json", "What was run, with which versions, when, and how it ended.", RunFile),
    FileKind(
        "config.py", "config.py", "The config as it was run, overrides included; secrets are `***`. It runs again."
    ),
    FileKind(
        "journal", "journal/MODEL/DATASET.jsonl", "Finished requests, in order of arrival.", JournalLine, lines=True
    ),
    FileKind(
        "predictions",
        "predictions/MODEL/DATASET.jsonl",
        "Prompts and answers, one sample a line, in the order of the data. `judge/MODEL/` has those of a judge, "
        "and `judge/MODEL/by/EVALUATOR/` those of each of several evaluators.",
        PredictionLine,
        lines=True,
    ),
    FileKind("results", "results/MODEL/DATASET.json", "The scores of a task and of each of its samples.", Results),
    FileKind("summary.json", "summary/summary.json", "The rows of the summary, in full precision.", list[Row]),
    FileKind("summary.csv", "summary/summary.csv", "The same rows as CSV, with the same columns."),
    FileKind("summary.txt", "summary/summary.txt", "The table of the terminal; `summary.md` is the same for Markdown."),
    FileKind("speed.json", "summary/speed.json", "Task → how fast its served model answered.", dict[str, Speed]),
    FileKind("report.html", "report.html", "Scores and every sample, for a browser."),
    FileKind("run.log", "logs/run.log", "Messages and tracebacks. `logs/servers/MODEL.log` has the output of servers."),
    FileKind("partial", "partial/", "Scores of a run that is not finished: a run folder of its own."),
    FileKind(
        "shards", "shards/TIME_I-of-N_HOST_PID/", "What a shard wrote: a run folder of its own, with `shard.json`."
    ),
    FileKind(
        "servers", "servers/DIGEST/HOST_PID_N.json", "A server that shards share. The file's time is its heartbeat."
    ),
    FileKind(
        "baseline",
        "(outside: `aisprompt baseline -o FILE`)",
        "The values that later runs are held against.",
        BaselineFile,
        version=BASELINE_FORMAT,
    ),
    *(
        FileKind(name, one.path, one.about, import_object(one.shape) if one.shape else None, version=one.version)
        for extension in extensions()
        for name, one in extension.files.items()
    ),
)


COMPUTED: Final = {"Speed": ("requests_per_second", "output_tokens_per_second")}
"""Value → numbers that are written with it, and computed again when it is read."""


def file_entries() -> Iterator[Entry]:
    """Yield the entries of all files."""
    for file in FILES:
        yield _entry(file)


def schema_of(file: FileKind) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a file, or of a line of it."""
    if _is_pydantic(file.shape):
        schema = file.shape.model_json_schema()
        del schema["title"]
    else:
        schema = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(file.shape)))  # its defaults may be tuples
    title = f"{file.path}: a line" if file.lines else file.path
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    for name, definition in schema.get("$defs", {}).items():
        for computed in COMPUTED.get(name, ()):
            definition["properties"][computed] = {"type": "number"}
        if "description" in definition:  # its first sentence is enough
            definition["description"] = " ".join(definition["description"].partition("\n\n")[0].split())
    return {**head, "version": file.version or SCHEMA_VERSION, **schema}


def _entry(file: FileKind) -> Entry:
    facts = []
    if file.shape is not None:
        facts.append(("version", f"{file.version or SCHEMA_VERSION}"))
        facts.append(("JSON schema", f"`aisprompt describe {file.name} --schema`"))
    also = tuple(name for name in (file.path, f"{file.name}.jsonl" if file.lines else f"{file.name}.json") if name)
    return Entry(
        file.name,
        "files",
        "file",
        file.about,
        "One JSON object a line." if file.lines else "",
        tuple(_keys(file.shape)) if file.shape is not None else (),
        usage=file.path,
        also=also,
        facts=tuple(facts),
    )


def _keys(shape: Any) -> Iterator[Argument]:
    """Yield the keys of a shape, and of the values that its values are made of."""
    kind = _object_in(shape)
    if kind is None:
        return
    hints, doc = typing.get_type_hints(kind), read_docstring(kind)
    for name, hint in hints.items():
        if issubclass(kind, Struct) and name not in kind.__struct_fields__:
            continue
        yield Argument(name, type_words(hint), "", doc.items.get(name, ""))


def _object_in(shape: Any) -> type | None:
    """Return the type with keys that a shape is, or that its items are."""
    for kind in (shape, *typing.get_args(shape)):
        if typing.is_typeddict(kind) or _is_pydantic(kind) or (isinstance(kind, type) and issubclass(kind, Struct)):
            return kind  # type: ignore[no-any-return]
    return None


def _is_pydantic(shape: Any) -> bool:
    return isinstance(shape, type) and issubclass(shape, BaseModel)
