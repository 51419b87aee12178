"""Rows that take the place of a dataset's loader, with the columns that its config names."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import gettempdir
from typing import Any, Final

import pyarrow as pa

from ais_prompt.data import ArrowBatches, Table
from ais_prompt.types import DatasetSpec

TRAIN_ROWS: Final = 64
TEST_ROWS: Final = 4

SHAPES: Final[Mapping[str, Any]] = {
    "letter": "A",
    "number": "3",
    "texts": ["A", "B"],
    "integer": 0,
    "solution": "so\n#### 3",
    "object": {"answer": "A", "text": ["A"], "answers": ["A"]},
    "objects": [{"answer": "A"}],
    "json": json.dumps({"answer": "A"}),
    "nested": [["A"], ["B"]],
    "keywords": "A*B",
    "keywords and depths": "A*B#10*20",
    "rotated": "question--A--ABCD",
    "options": json.dumps([{"A": "one", "B": "two"}, "A", "a category"]),
    "paragraph": "Paragraph 3, 段落3",
    "tagged": "<NUMBER> 3 </NUMBER>",
    "program": "def f(x):\n    return x\n",
}
"""Name → what the gold and unknown columns hold; the shape that an evaluator expects is not known beforehand."""
KNOWN: Final[Mapping[str, Sequence[Any]]] = {
    "is_clean": ("clean", "input contamination", "input-and-label contamination"),
}
"""Column that an evaluator reads → what it holds, from row to row."""

MEDIA: Final[Mapping[str, tuple[str, bytes]]] = {
    "image": (
        ".png",
        b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
    ),
    "video": (".mp4", b"\0\0\0\x18ftypisom\0\0\2\0isommp41" + bytes(32)),
    "audio": (".wav", b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data" + bytes(4)),
}
"""Kind → ending and content of the smallest media of it."""
MEDIA_ROOTS: Final = (gettempdir(),)
"""Where the files of these media are."""
CHAT: Final = [
    {"role": "user", "content": "a first question"},
    {"role": "assistant", "content": "a first answer"},
    {"role": "user", "content": "a second question"},
    {"role": "assistant", "content": "a second answer"},
]

FUNCTION: Final = {
    "name": "double",
    "description": "Double a number.",
    "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
}

PIECES: Final = (
    *("the answer", "a question?", "Ein Satz mit Ä und ß.", "中文，问题。", "😀", "100 %", "%s", "$1$", "1e5"),
    *("{unknown}", "{0}", "{{twice}}", "'single'", '"double"', "back\\slash", "</E>", "<S>"),
    *("line\nbreak", "\n\n", "tab\there", "  blanks  "),
)
"""What varied texts are made of: everything that a template could take for something else, except names of columns."""

_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][\w.-]*)\}")


class MadeUpRows:
    """Read rows that were made up.

    Args:
        columns: names of the columns that hold texts.
        gold: name of the column with the answer; None if there is none.
        shape: a key of `SHAPES`.
        unknown: columns that only the evaluator reads; they have the shape of the gold, unless they are `KNOWN`.
        keys: further keys of a gold that is an object, or a list of objects.
        golds: what the gold is one of, where the config says it, such as labels.
        splits: names of the splits; the last one is the test split.
        fixed: column → its value in every row, where an inferencer or a template needs a certain kind.
        varied: texts are drawn with a fixed seed from `PIECES`, and some columns hold other values than texts.
    """

    def __init__(
        self,
        columns: Sequence[str],
        gold: str | None,
        shape: str,
        unknown: Sequence[str] = (),
        keys: Sequence[str] = (),
        golds: Sequence[Any] = (),
        splits: Sequence[str] = ("train", "test"),
        fixed: Mapping[str, Any] | None = None,
        varied: bool = False,
    ) -> None:
        self._columns = columns
        self._gold = gold
        self._value = _with_keys(SHAPES[shape], keys)
        self._unknown = unknown
        self._golds = list(golds)
        self._splits = tuple(splits)
        self._fixed = dict(fixed or {})
        self._varied = varied

    def splits(self) -> tuple[str, ...]:
        """Return the splits that the config names."""
        return self._splits

    def read(self, split: str) -> Table:
        """Return the rows of a split."""
        is_only_test = split == self._splits[-1] and len(self._splits) > 1
        count = TEST_ROWS if is_only_test else TRAIN_ROWS
        rows = pa.Table.from_pylist([self._row(split, number) for number in range(count)])
        return Table(ArrowBatches(rows), ["made-up rows"])

    def _row(self, split: str, number: int) -> dict[str, Any]:
        row: dict[str, Any] = dict.fromkeys(self._unknown, self._value)
        row |= {name: KNOWN[name][number % len(KNOWN[name])] for name in self._unknown if name in KNOWN}
        row |= {column: self._text(column, split, number) for column in self._columns}
        if end := self._fixed.get("cont"):  # prompts of labels end with it
            row |= {column: f"{row[column]} {end}" for column in self._columns}
        if self._gold is not None and self._gold not in self._columns:
            row[self._gold] = self._golds[number % len(self._golds)] if self._golds else self._value
        return row | self._fixed

    def _text(self, column: str, split: str, number: int) -> Any:
        text = f"{column} {number} of {split}"
        return _varied(column, text) if self._varied else text


def _with_keys(value: Any, keys: Sequence[str]) -> Any:
    """Return a value with further keys in each object of it."""
    if isinstance(value, dict):
        return {**value, **dict.fromkeys(keys, "A")}
    return [_with_keys(one, keys) for one in value] if isinstance(value, list) else value


def _varied(column: str, text: str) -> Any:
    """Return a value of the kind that this column has in all rows: mostly a text, else a number or a list."""
    drawn = Random(text)
    pieces = [drawn.choice(PIECES) for _ in range(drawn.randrange(4))]
    kind = Random(column).randrange(10)
    if kind == 0:
        return drawn.choice([None, True, False])
    if kind == 1:
        return drawn.choice([0.5, -0.0, 1e21, 3.0])
    if kind == 2:
        return [*pieces, text]
    return " ".join([*pieces, text])


def made_up(
    dataset: DatasetSpec, shape: str, unknown: Sequence[str] = (), keys: Sequence[str] = (), *, varied: bool = False
) -> dict[str, Any]:
    """Return the arguments of `MadeUpRows` for a dataset.

    Args:
        dataset: names the columns, the templates and the inferencer.
        shape, unknown, keys, varied: as in `MadeUpRows`.
    """
    reader, infer = dataset.reader, dataset.infer
    templates = [part.args for part in (infer.ice_template, infer.prompt_template) if part is not None]
    named = [name for args in templates for name in _PLACEHOLDER.findall(json.dumps(args, default=str))]
    columns = [*reader.input_columns, *reader.gold_columns, *named]
    gold = reader.output_column
    return {
        "columns": [name for name in dict.fromkeys(columns) if name != gold or name in reader.input_columns],
        "gold": gold,
        "shape": shape,
        "unknown": [name for name in unknown if name != gold],
        "keys": list(keys),
        "golds": _labels(templates),
        "splits": list(dict.fromkeys([reader.train_split, reader.test_split])),
        "fixed": dict(_fixed(dataset, templates)),
        "varied": varied and infer.inferencer.type != "ChatInferencer",  # it takes texts only
    }


def _fixed(dataset: DatasetSpec, templates: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield the columns that must have a certain kind of value, and that value."""
    kind = dataset.infer.inferencer.type
    if kind == "ToolCallInferencer":
        yield "tools", json.dumps([{"type": "function", "function": FUNCTION}])
        yield "functions", json.dumps([FUNCTION])
        yield "answers", json.dumps([{FUNCTION["name"]: {"x": [1]}}])
    if kind == "SimulatedToolCallInferencer":
        tools = [{"type": "function", "function": FUNCTION}]
        yield "turns", json.dumps([{"messages": CHAT[:1], "tools": tools}])
        yield "involved_classes", json.dumps(["MathAPI"])
        yield "initial_config", "{}"
        yield "ground_truth", json.dumps([["add(a=1, b=2)"]])
    if kind == "CLPInferencer":
        yield "choices", ["A", "B"]
    if kind == "LLInferencer":
        yield "cont", "a continuation"
    if kind == "MultiTurnGenInferencer":
        yield "question", ["a first question", "a second question"]
        yield "answer", ["a first answer", "a second answer"]
    if kind == "ChatInferencer" and "dialogue" in dataset.reader.input_columns:
        yield "dialogue", CHAT
    blanks = kind == "MultiTurnGenInferencer"  # answers are put where messages are empty
    for part in _dicts(templates):
        if isinstance(name := part.get("expand_column"), str):
            yield name, [{**m, "content": ""} if m["role"] == "assistant" else m for m in CHAT] if blanks else CHAT[:-1]
        if isinstance(media := part.get("prompt_mm"), Mapping):
            tagged = {name: _media(name, is_path="base64" not in str(part)) for name, part in media.items()}
            yield "content", "".join(f"<AIS_{name.upper()}_START>{v}<AIS_CONTENT_TAG>" for name, v in tagged.items())


def _media(kind: str, *, is_path: bool) -> str:
    """Return what a loader puts into a row for one part of a question: a path, the base64 form, or a text."""
    if kind not in MEDIA:
        return "what is this?"
    ending, content = MEDIA[kind]
    if not is_path:
        return b64encode(content).decode()
    file = Path(MEDIA_ROOTS[0]) / f"aisprompt-made-up-{kind}{ending}"
    if not file.is_file():
        file.write_bytes(content)
    return str(file)


def _dicts(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every dict in a value."""
    if isinstance(value, Mapping):
        yield value
        value = value.values()
    if not isinstance(value, str) and hasattr(value, "__iter__"):
        for inner in value:
            yield from _dicts(inner)


def _labels(templates: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the labels of a template that has a text for each; none for any other."""
    for args in templates:
        template = args.get("template")
        if isinstance(template, Mapping) and not {"round", "begin", "end"} & set(template):
            return list(template)
    return []
