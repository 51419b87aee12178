"""Entries of the files of a run folder, with their JSON schemas."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct
from pydantic import BaseModel

from ais_prompt.comparison import BASELINE_FORMAT, BaselineFile
from ais_prompt.extensions.describe.docstring import read_docstring
from ais_prompt.locks import FORMAT as LOCK_FORMAT
from ais_prompt.locks import PromptLockFile
from ais_prompt.parts import type_words
from ais_prompt.scoring import Row
from ais_prompt.steps import extensions
from ais_prompt.store import SCHEMA_VERSION, JournalLine, PredictionLine, Results, RunFile
from ais_prompt.types import Argument, Entry, Speed


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
    *(FileKind(name, entry.path, entry.about) for one in extensions() for name, entry in one.files.items()),
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
    FileKind(
        "prompt-lock",
        "CONFIG.lock",
        "A digest of every prompt of a config, and the text of a few. It is beside the config.",
        PromptLockFile,
        version=LOCK_FORMAT,
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
