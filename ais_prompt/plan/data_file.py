"""Describe a file with questions as a dataset (``--data FILE``).

`ais_prompt.data.data_shapes` says what its columns mean, `ais_prompt.plan.gold_kinds` what its answers are. What a
user says of the file counts before what is recognised.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.config import Note, Options, resolve_data_path
from ais_prompt.data import (
    ANSWERS,
    LETTERS,
    OPTION_LISTS,
    QUESTIONS,
    LocalDataset,
    RowShape,
    find_shape,
    flat,
    guessed_csv_form,
    plain_name,
    row_place,
)
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.plan.gold_kinds import KINDS, Golds, Kind, Scoring, as_kind, guess, has_gold, labels_of
from ais_prompt.prompts import mark_of
from ais_prompt.terminal import FACT
from ais_prompt.utils import counted, is_missing, late, listed

NONE: Final = "none"
"""In place of a postprocessor: the whole answer is scored."""
ROWS_LOOKED_AT: Final = 20_000
"""Rows that decide what a file means; the reader refuses a later one of another shape."""
_MARK: Final = late(r"\{\{\s*(?P<double>[^{}\n]+?)\s*\}\}|\{\s*(?P<single>[^{}\n]+?)\s*\}")
_NAME: Final = late(r"[^\W\d]\w*")
_HAN: Final = late(r"[\u4e00-\u9fff]")
_ICE: Final = "</E>"
_BETWEEN: Final = "\x00"
"""Between the prompts of the user, while the columns in them are looked at."""
_INSTRUCTIONS: Final = {
    ("letter", False): "Answer with the letter of the right option.",
    ("letter", True): "请回答正确选项的字母。",
    ("letters", False): "Answer with the letters of all right options.",
    ("letters", True): "请回答所有正确选项的字母。",
    ("label", False): "Answer with one of: {labels}.",
    ("label", True): "请从以下选项中选择一个回答：{labels}。",
}
"""What the answer is, and whether the question is Chinese → the last line of a guessed prompt."""


class DataFile(Struct, frozen=True):
    """A file with questions, and what is said of it; None where it is to be guessed.

    Attributes:
        path: a file of any format of `LocalDataset`, or a folder with a file for each split.
        prompt: the question, with ``{column}`` or ``{{column}}``. ``{{other}}`` is sent as ``{other}``. Several are a
            dict of name → prompt: each is a variant of the dataset.
        answer: the column of the gold answer.
        postprocessor: name or dotted path; `NONE` for none.
        evaluator: name or dotted path.
        few_shot: examples in front of each question.
        kind: what gold answers are, one of `KINDS`.
    """

    path: str
    prompt: str | Mapping[str, str] | None = None
    answer: str | None = None
    postprocessor: str | None = None
    evaluator: str | None = None
    few_shot: int = 0
    kind: Kind | None = None

    @property
    def texts(self) -> list[str]:
        """The prompts; empty if one is guessed."""
        return [] if self.prompt is None else [self.prompt] if isinstance(self.prompt, str) else [*self.prompt.values()]

    @classmethod
    def named(cls, options: Options) -> DataFile | None:
        """Return the file of ``--data``; None if there is none."""
        told = (options.answer, options.postprocessor, options.evaluator, options.few_shot or 0)
        return None if options.data is None else cls(options.data, named_prompts(options.prompt), *told)


class Description(NamedTuple):
    """What a file means.

    Attributes:
        dataset: its config.
        sentence: what was recognised, in one line.
        remarks: what else a person may want to know.
        kind: what the gold answers are; None without any.
    """

    dataset: dict[str, Any]
    sentence: str
    remarks: tuple[Note, ...]
    kind: Kind | None

    @property
    def notes(self) -> tuple[Note, ...]:
        """The sentence and the remarks."""
        return Note(self.sentence, level=FACT), *self.remarks


def named_prompts(prompts: Sequence[str]) -> str | Mapping[str, str] | None:
    """Return the prompts of a command line: none, one text, or name → text of several.

    Args:
        prompts: each is a text, or ``@FILE`` for the text in a file, which gives it its name.

    Raises:
        ConfigError: a file cannot be read, or two prompts have the same name.
    """
    if len(prompts) < 2 and not any(prompt.startswith("@") for prompt in prompts):
        return next(iter(prompts), None)
    from ais_prompt.config import name_of_prompt  # most runs have one prompt

    found: dict[str, str] = {}
    for prompt in prompts:
        name, text = _read_prompt(Path(prompt[1:])) if prompt.startswith("@") else (name_of_prompt(prompt), prompt)
        if name in found:
            raise ConfigError(f"two prompts are called {name!r}", where="--prompt", fix="give each prompt once")
        found[name] = text
    return found if len(found) > 1 else next(iter(found.values()), None)


def _read_prompt(path: Path) -> tuple[str, str]:
    try:
        return path.stem, path.read_text("utf-8-sig").rstrip("\n")
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"the prompt cannot be read: {error}", where=f"--prompt @{path}", fix="name a text file"
        ) from error


def describe_file(data: DataFile) -> Description:
    """Return the dataset that a file means.

    Raises:
        ConfigError: a column that is named is not there, or that of the question is not known; it lists the columns.
        DataError: the file cannot be read, or a row has another shape than the others.
    """
    path = resolve_data_path(data.path, None) or Path(data.path)
    form: dict[str, Any] = {**guessed_csv_form(path)}
    reader = LocalDataset(str(path), **form)
    splits = reader.splits()
    test = next((name for name in ("test", "validation", "dev") if name in splits), splits[0])
    table = reader.read(test)
    source = {"type": "LocalDataset", "path": data.path, **form}
    found = describe_rows(table.columns, table, data, source)
    dataset = found.dataset
    if len(splits) > 1 and test != "test":
        dataset["reader_cfg"]["test_split"] = test
    if data.few_shot >= len(table) and len(splits) == 1:
        what = f"--few-shot {data.few_shot} needs {data.few_shot + 1} rows, and {data.path} has {len(table)}"
        raise ConfigError(what, where="--few-shot", fix="show fewer, or give a folder with train.csv and test.csv")
    if data.few_shot and "train" in splits[:-1] + splits[1:]:
        dataset["infer_cfg"]["retriever"] = {"type": "FixKRetriever", "fix_id_list": list(range(data.few_shot))}
    return found._replace(sentence=f"{data.path} · {counted(len(table), 'row')} · {found.sentence}")


def describe_rows(
    columns: Sequence[str], rows: Iterable[Mapping[str, Any]], data: DataFile, source: Mapping[str, Any]
) -> Description:
    """Return the dataset that these rows mean.

    Args:
        columns: their names.
        rows: the rows.
        data: what is said of them; its path names the dataset.
        source: ``type`` and arguments of the reader.

    Raises:
        ConfigError, DataError: as `describe_file`.
    """
    looked = list(islice(rows, ROWS_LOOKED_AT))
    inside = find_shape(looked)[0].inside if data.texts else ()
    known_columns = list(flat(looked[0], inside)) if inside else columns
    written = _all_written([_written(text, data.path, known_columns) for text in data.texts])
    if data.answer is not None and data.answer not in columns:
        raise ConfigError(f"there is no column {data.answer!r}", where="--answer", fix=f"columns: {listed(columns)}")
    shape, _ = find_shape(looked, answer=data.answer, asked=None if written is None else written[1])
    if written is None and not shape.question and shape.messages is None:
        raise _no_question(data, columns, looked)
    if written is None and not shape.options:
        _refuse_unread_options(data, looked)
    found = _columns(shape, looked, written)
    if shape.messages is None:
        _refuse_mixed(found.inputs, looked, data)
    shape = found.shape
    made = _made(shape, looked, data)
    answer = found.answer if found.answer in made[0] else None
    golds = [] if answer is None else [row.get(answer) for row in made]
    known = Golds(
        [gold for gold in golds if has_gold(gold)],
        shape.answer or answer or "",
        _letters(made) if shape.options else found.letters,
        chinese=any(_HAN.search(name) for name in found.inputs) or _is_chinese(made, found.inputs),
    )
    kind, scoring = _scoring(known, data)
    prompt = found.prompt if written else _instructed(found.prompt, kind, scoring, known)
    shown = found.shown(made)
    infers = [
        _text_prompt(text, answer, data, shown) if shape.messages is None else _chat_prompt(data)
        for text in prompt.split(_BETWEEN)
    ]
    if data.few_shot and shown != answer:
        shape = replace(shape, shown=answer)
    dataset = {
        "abbr": Path(data.path).name.partition(".")[0] or "data",
        **source,
        **({} if shape == RowShape() else {"shape": msgspec.to_builtins(shape)}),
        "reader_cfg": {
            "input_columns": [name for name in found.inputs if name != answer],
            "output_column": answer,
        },
        "infer_cfg": {**infers[0], "inferencer": {"type": "GenInferencer"}},
        **({"prompts": dict(zip(data.prompt, infers, strict=True))} if isinstance(data.prompt, Mapping) else {}),
        **({"eval_cfg": scoring} if scoring else {}),
    }
    remarks = (
        *_missing(golds, answer, data.path),
        *_empty_answer(written, answer),
        *_unnamed_labels(data, kind, known),
        *_other_answers(looked, shape, found),
    )
    return Description(dataset, _sentence(shape, found, kind, scoring, data.evaluator), remarks, kind)


class _Columns(Struct, frozen=True):
    """The columns of a dataset. A shape is used as far as it is needed: a plain column is written by its own name.

    Attributes:
        shape: what is left of the shape that was found.
        answer: the column of the gold; None without one.
        source: the column that the gold is made of.
        prompt: the question as a template has it.
        inputs: the columns in it.
        letters: of options that the prompt writes column by column; empty where the shape makes ``options``.
    """

    shape: RowShape
    answer: str | None
    source: str | None
    prompt: str = ""
    inputs: Sequence[str] = ()
    letters: str = ""

    def shown(self, rows: Sequence[Mapping[str, Any]]) -> str | None:
        """Return the column that an example shows as its answer: of golds that are no texts one that is made."""
        is_plain = self.answer is None or not any(isinstance(row.get(self.answer), Mapping | list) for row in rows)
        return self.answer if is_plain else "shown_answer"


def _columns(shape: RowShape, rows: Sequence[Mapping[str, Any]], written: tuple[str, list[str]] | None) -> _Columns:
    """Return the columns of a dataset.

    Args:
        shape: what was found.
        rows: of the file.
        written: the prompt of the user and the columns in it; None if it is guessed.
    """
    plain_rows = [flat(row, shape.inside) for row in rows] if shape.inside else rows
    found = _with_gold(shape, plain_rows)
    if written is not None:
        return _with_written(found, plain_rows, *written)
    if shape.messages is not None:
        return replace(found, inputs=("messages",))
    return _with_options(_with_question(found, plain_rows), plain_rows)


def _with_gold(shape: RowShape, rows: Sequence[Mapping[str, Any]]) -> _Columns:
    """Find the column of the gold: the one in the file, or ``answer``, which the shape makes."""
    source = shape.answer
    replies = shape.messages is not None and source is None
    if source is None:
        is_made = replies or shape.right is not None or shape.gold == "marked"
        return _Columns(shape, "answer" if is_made else None, None)
    if shape.options or shape.parsed or source not in rows[0]:  # a path leads into a column
        return _Columns(shape, "answer", source)
    shape = replace(shape, answer=None)
    if any(isinstance(row[source], bool) for row in rows):
        shape = replace(shape, texts=(*shape.texts, source))
    return _Columns(shape, source, source)


def _with_written(found: _Columns, rows: Sequence[Mapping[str, Any]], prompt: str, inputs: Sequence[str]) -> _Columns:
    """Take the prompt of the user; options in it are written as lines, and other values as people write them."""
    shape = found.shape
    if isinstance(shape.options, str) and shape.options in inputs:
        prompt = prompt.replace(mark_of(shape.options), mark_of("options"))
        inputs = ["options" if name == shape.options else name for name in inputs]
    odd = [name for name in inputs if name in rows[0] and name != found.answer and not _is_written(name, rows)]
    return replace(found, shape=replace(shape, texts=(*shape.texts, *odd)), prompt=prompt, inputs=inputs)


def _with_question(found: _Columns, rows: Sequence[Mapping[str, Any]]) -> _Columns:
    """Write the columns of the question, or the text that the shape makes of them."""
    shape, parts = found.shape, found.shape.question
    if shape.right is None and all(_is_written(name, rows) for name in parts):
        prompt = "\n\n".join(map(mark_of, parts))
        return replace(found, shape=replace(shape, question=()), prompt=prompt, inputs=parts)
    if shape.right is None and len(parts) == 1:
        shape = replace(shape, question=(), texts=(*shape.texts, *parts))
        return replace(found, shape=shape, prompt=mark_of(parts[0]), inputs=parts)
    return replace(found, prompt=mark_of("question"), inputs=("question",))


def _with_options(found: _Columns, rows: Sequence[Mapping[str, Any]]) -> _Columns:
    """Write the options below the question: their columns if each has a letter, or the lines that the shape makes."""
    shape = found.shape
    if not shape.options:
        return found
    if not _are_lettered(shape, rows):
        prompt = f"{found.prompt}\n{mark_of('options')}"
        return replace(found, prompt=prompt, inputs=(*found.inputs, "options"))
    lines = [f"{letter}. {mark_of(name)}" for letter, name in zip(LETTERS, shape.options, strict=False)]
    return replace(
        found,
        shape=replace(shape, options=(), answer=None),
        answer=found.source,
        prompt="\n".join([found.prompt, *lines]),
        inputs=(*found.inputs, *shape.options),
        letters=LETTERS[: len(lines)],
    )


def _are_lettered(shape: RowShape, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether each option has a column with a value in every row, and the answer is a letter."""
    if isinstance(shape.options, str) or shape.right is not None or shape.gold != "letter":
        return False
    letters = LETTERS[: len(shape.options)]
    golds = [] if shape.answer is None else [str(row.get(shape.answer) or letters[0]).upper() for row in rows]
    return all(gold in tuple(letters) for gold in golds) and all(_is_written(name, rows) for name in shape.options)


def _is_written(name: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a template writes every value of a column as people do, and there is one in every row."""
    return all(
        isinstance(value := row.get(name), str | int | float) and not isinstance(value, bool) and not is_missing(value)
        for row in rows
    )


def _made(shape: RowShape, rows: Sequence[Mapping[str, Any]], data: DataFile) -> Sequence[Mapping[str, Any]]:
    """Return the rows in their shape.

    Raises:
        DataError: a row has another shape; it names the row.
    """
    if shape == RowShape():
        return rows
    made = []
    for number, row in enumerate(rows):
        try:
            made.append(shape.row(row))
        except DataError as error:
            error.where = f"{data.path}, row {number}"
            raise
    return made


def _refuse_mixed(inputs: Sequence[str], rows: Sequence[Mapping[str, Any]], data: DataFile) -> None:
    """Raise an error for a row whose question is a list or an object, unlike that of the first row."""
    for name in inputs:
        is_nested = [isinstance(row.get(name), list | Mapping) for row in rows if row.get(name) is not None]
        if len(set(is_nested)) > 1:
            number = next(
                n for n, row in enumerate(rows) if isinstance(row.get(name), list | Mapping) is not is_nested[0]
            )
            what = f"{name!r} holds {rows[number].get(name)!r:.60}, unlike the rows before"
            fix = "write the same kind of value in every row, or name another column with --prompt"
            raise DataError(what, where=f"{data.path}, row {number}", fix=fix)


def _scoring(golds: Golds, data: DataFile) -> tuple[Kind | None, Scoring]:
    """Return what the golds are, and the ``eval_cfg``: what the user says, else what is guessed.

    Raises:
        ConfigError: there are golds that nothing can score.
    """
    if not golds.values:
        return None, {}
    found = as_kind(data.kind, golds) if data.kind else guess(golds)
    if found is None and data.evaluator is None:
        what = f"the answers in {golds.column!r} are of no known kind: {golds.values[0]!r:.60}"
        fix = "--answer COLUMN with texts, numbers or lists of texts; or --evaluator, to score them by a part of yours"
        raise ConfigError(what, where=data.path, fix=fix)
    kind, scoring = found or as_kind("exact", golds)
    if kind.name == "text" and data.postprocessor not in (None, NONE):
        kind, scoring = as_kind("exact", golds)  # what is left of the answer is compared, not searched
    scoring = dict(scoring)
    if data.postprocessor == NONE:
        scoring.pop("pred_postprocessor", None)
    elif data.postprocessor is not None:
        scoring["pred_postprocessor"] = {"type": data.postprocessor}
    if data.evaluator is not None:
        scoring["evaluator"] = {"type": data.evaluator}
    return kind.name, scoring


def _text_prompt(prompt: str, answer: str | None, data: DataFile, shown: str | None) -> dict[str, Any]:
    """Return the ``infer_cfg`` of a text: question, answer, and the examples in front of it."""

    def turns(gold: str | None) -> list[dict[str, str]]:
        said = [] if gold is None else [{"role": "BOT", "prompt": mark_of(gold)}]
        return [{"role": "HUMAN", "prompt": prompt}, *said]

    if not data.few_shot:
        return {"prompt_template": {"type": "PromptTemplate", "template": {"round": turns(answer)}}}
    if answer is None:
        what = f"--few-shot needs the column of the answer, and {data.path} has none of a known name"
        raise ConfigError(what, where="--few-shot", fix="add --answer COLUMN")
    return {
        "ice_template": {"type": "PromptTemplate", "template": {"round": turns(shown)}},
        "prompt_template": {
            "type": "PromptTemplate",
            "template": {"begin": _ICE, "round": turns(answer)},
            "ice_token": _ICE,
        },
        "retriever": {"type": "RandomRetriever", "ice_num": data.few_shot, "exclude_self": True},
    }


def _chat_prompt(data: DataFile) -> dict[str, Any]:
    if data.few_shot:
        what = f"--few-shot needs questions, and {data.path} has chats"
        raise ConfigError(what, where="--few-shot", fix="write examples into the chats, or leave it out")
    return {"prompt_template": {"type": "RawPromptTemplate", "messages": [{"expand_column": "messages"}]}}


def _instructed(prompt: str, kind: Kind | None, scoring: Scoring, golds: Golds) -> str:
    """Return a guessed prompt with what the answer must be, where a model cannot know it."""
    if not prompt or kind is None or (kind, golds.chinese) not in _INSTRUCTIONS:
        return prompt
    instruction = _INSTRUCTIONS[kind, golds.chinese]
    if kind == "label":
        labels = scoring.get("pred_postprocessor", {}).get("labels") or labels_of(golds) or []
        return f"{prompt}\n\n{instruction.format(labels=('、' if golds.chinese else ', ').join(labels))}"
    return f"{prompt}\n{instruction}"


def _letters(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the letters of all options."""
    found = {line[:1] for row in rows for line in str(row["options"]).splitlines() if line[1:3] == ". "}
    return "".join(sorted(found))


def _is_chinese(rows: Sequence[Mapping[str, Any]], inputs: Sequence[str]) -> bool:
    """Return whether the first question is Chinese."""
    return any(_HAN.search(str(rows[0].get(name) or "")) for name in inputs)


def _sentence(shape: RowShape, columns: _Columns, kind: Kind | None, scoring: Scoring, evaluator: str | None) -> str:
    """Say what was recognised. An evaluator is named if the user names it, or no postprocessor reads the answers."""
    inputs = [name for name in columns.inputs if name != columns.answer and not (name == "options" and shape.options)]
    asked = listed(map(mark_of, inputs))
    if shape.messages is not None:
        asked = f"the chat in {mark_of(shape.messages)}"
    if shape.inside:
        asked += f", columns inside {listed(map(mark_of, shape.inside))}"
    if shape.options:
        asked += f", options from {listed(map(mark_of, _named(shape.options)))}"
    if kind is None or columns.answer is None:
        return f"{asked} · no column has a known name for the answer, so nothing is scored: --answer COLUMN"
    about = next(one.about for one in KINDS if one.name == kind)
    if kind in ("letter", "letters") and shape.answer is not None and shape.gold.startswith("from"):
        other = "from 1" if shape.gold == "from 0" else "from 0"
        about += f", counted {shape.gold} (otherwise --set datasets.0.shape.gold='{other}')"
    where = shape.right or columns.source or ("the last turn" if shape.messages else "a mark of the options")
    read = [scoring[key]["type"] for key in ("dataset_postprocessor", "pred_postprocessor") if key in scoring]
    parts = read if read and not evaluator else [*read, scoring["evaluator"]["type"]]
    named = mark_of(where) if where in (shape.right, columns.source) else where
    return f"{asked} → {named}, {about} ({', '.join(dict.fromkeys(parts))})"


def _named(options: str | Sequence[str]) -> Sequence[str]:
    return (options,) if isinstance(options, str) else options


def _missing(golds: Sequence[Any], answer: str | None, path: str) -> list[Note]:
    """Say how many rows have no gold. The end of a run names them with a command."""
    empty = [number for number, gold in enumerate(golds) if not has_gold(gold)]
    if answer is None or not empty or len(empty) == len(golds):
        return []
    first = row_place([path], empty[0])
    what = f"{counted(len(empty), 'row')} without an answer, the first is {first}: they get no score"
    return [Note(what, level=logging.INFO)]


def _empty_answer(written: tuple[str, list[str]] | None, answer: str | None) -> list[Note]:
    """Say that the right answer is not sent, where a prompt of the user has its column."""
    if written is None or answer not in written[1]:
        return []
    where = f"{mark_of(answer)} is always empty in the prompt, take it out of --prompt"
    return [Note(f"the right answer is never sent: {where}")]


def _unnamed_labels(data: DataFile, kind: Kind | None, golds: Golds) -> list[Note]:
    """Say which labels a prompt of the user does not name."""
    labels = labels_of(golds) if kind == "label" else None
    unnamed = {text: [label for label in labels or () if not _names(text, label)] for text in data.texts}
    if not any(unnamed.values()):
        return []
    missing = listed(next(filter(None, unnamed.values())))
    which = "a" if len(unnamed) > 1 else "the"
    return [Note(f"{which} prompt does not name the labels {missing}, so the model has to guess them")]


def _names(prompt: str, label: str) -> bool:
    """Return whether a prompt has a label as a word: "know" does not name the label "no"."""
    word = rf"(?<![A-Za-z0-9]){re.escape(label)}(?![A-Za-z0-9])"
    return re.search(word, prompt, re.IGNORECASE) is not None


def _other_answers(rows: Sequence[Mapping[str, Any]], shape: RowShape, columns: _Columns) -> list[Note]:
    """Name the other columns that may be the answer."""
    taken = {columns.source, columns.answer, shape.right, shape.messages, *shape.inside, *columns.inputs}
    taken |= {shape.options} if isinstance(shape.options, str) else set(shape.options)
    names = [
        name
        for name in rows[0]
        if name not in taken and plain_name(name) in ANSWERS and plain_name(name) not in QUESTIONS
    ]
    source = columns.source
    if source is None or shape.options:
        return []
    # A solution that holds the answer is no other answer.
    others = [name for name in names if any(str(row.get(source)) not in str(row.get(name)) for row in rows)]
    return [Note(f"the answer is not {listed(map(mark_of, others))}: --answer COLUMN changes it")] if others else []


def _no_question(data: DataFile, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> ConfigError:
    """Return the error for a file whose question is not known."""
    fix = f'--prompt "…{mark_of("column")}…" with: {listed(columns)}'
    named = [name for name in columns if plain_name(name) in QUESTIONS]
    if named:
        value = next((value for row in rows if not is_missing(value := row.get(named[0]))), None)
        if value is None:
            return ConfigError(f"the column {named[0]!r} of {data.path} is empty", where="--data", fix=fix)
        what = f"the column {named[0]!r} of {data.path} holds {value!r:.60}, which no prompt can write"
        return ConfigError(what, where="--data", fix=fix)
    if len(columns) == 1:
        what = f"{data.path} has only the column {columns[0]!r}, whose values are no questions"
        return ConfigError(what, where="--data", fix=fix)
    what = f"no column of {data.path} has a known name for the question, such as 'question' or '问题'"
    return ConfigError(what, where="--data", fix=fix)


def _refuse_unread_options(data: DataFile, rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise an error for options that no form knows: a question without its options is another question."""
    for name in rows[0]:
        values = [value for row in rows if not is_missing(value := row.get(name))]
        if plain_name(name) not in OPTION_LISTS or plain_name(name) in ANSWERS or not values:
            continue
        if any(isinstance(value, list | Mapping) or len(str(value).splitlines()) > 1 for value in values):
            what = (
                f"the options in {name!r} of {data.path} have no known form, or no column names the right one of them"
            )
            fix = f"--answer with the column of the right option, or --prompt with others: {listed(rows[0])}"
            raise ConfigError(what, where="--data", fix=fix)


def _all_written(prompts: Sequence[tuple[str, list[str]]]) -> tuple[str, list[str]] | None:
    """Return several prompts as one text, with all their columns: the variants of a question have the same id."""
    if not prompts:
        return None
    return _BETWEEN.join(text for text, _ in prompts), list(dict.fromkeys(name for _, used in prompts for name in used))


def _written(text: str, path: str, columns: Sequence[str]) -> tuple[str, list[str]]:
    """Return the prompt of the user as a template has it, and the columns in it."""
    used: dict[str, None] = {}
    unknown: list[str] = []

    def write(found: re.Match[str]) -> str:
        name = found["single"] or found["double"]
        if name in columns:
            used[name] = None
            return mark_of(name)
        if found["single"] and _NAME.fullmatch(name):
            unknown.append(name)
        return mark_of(name) if found["double"] else found[0]

    written = _MARK.sub(write, text if "\n" in text else text.replace("\\n", "\n"))
    if unknown:
        raise ConfigError(
            f"{path} has no column {unknown[0]!r}",
            where="--prompt",
            fix=f"columns: {listed(columns)}; braces that are to be sent are written {{{{{unknown[0]}}}}}",
        )
    if not used:
        fix = f'write "…{mark_of(columns[0])}…"; columns: {listed(columns)}'
        raise ConfigError("the prompt names no column, so every question would be the same", where="--prompt", fix=fix)
    return written, list(used)
