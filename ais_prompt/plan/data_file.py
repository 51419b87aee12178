"""Describe a file with questions as a dataset (``--data FILE``).

`ais_prompt.data.data_shapes` says what its columns mean, `ais_prompt.plan.gold_kinds` what its answers are. What a
user says of the file counts before what is recognised. `ais_prompt.plan.file_notes` says what else is remarkable.
"""

from __future__ import annotations

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
    LocalDataset,
    RowShape,
    find_shape,
    flat,
    guessed_csv_form,
    label_names,
    named_numbers,
)
from ais_prompt.errors import ConfigError
from ais_prompt.plan.file_columns import (
    FileColumns,
    columns_of_prompts,
    guessed_columns,
    named_prompts,
    names_in,
    written_prompts,
)
from ais_prompt.plan.file_notes import DescribedFile, notes_on
from ais_prompt.plan.gold_kinds import (
    KINDS,
    Golds,
    Kind,
    Scoring,
    as_kind,
    guess,
    has_gold,
    labels_of,
)
from ais_prompt.prompts import mark_of
from ais_prompt.terminal import FACT
from ais_prompt.utils import counted, late, listed

NONE: Final = "none"
"""In place of a postprocessor: the whole answer is scored."""
ROWS_LOOKED_AT: Final = 20_000
"""Rows that decide what a file means; the reader refuses a later one of another shape."""
_HAN: Final = late(r"[\u4e00-\u9fff]")
_KANA_OR_HANGUL: Final = late(r"[\u3040-\u30ff\uac00-\ud7af]")
_ICE: Final = "</E>"
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
    names = label_names(path)
    source = {"type": "LocalDataset", "path": data.path, **form}
    found = describe_rows(table.columns, table, data, source, names)
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
    columns: Sequence[str],
    rows: Iterable[Mapping[str, Any]],
    data: DataFile,
    source: Mapping[str, Any],
    names: Mapping[str, tuple[str, ...]] = {},
) -> Description:
    """Return the dataset that these rows mean.

    Args:
        columns: their names.
        rows: the rows.
        data: what is said of them; its path names the dataset.
        source: ``type`` and arguments of the reader.
        names: column of numbers → the name of each.

    Raises:
        ConfigError, DataError: as `describe_file`.
    """
    raw = list(islice(rows, ROWS_LOOKED_AT))
    looked = [named_numbers(row, names) for row in raw] if names else raw
    known_names = names_in(looked[0]) if looked else columns
    if data.answer is not None and data.answer not in known_names:
        raise ConfigError(f"there is no column {data.answer!r}", where="--answer", fix=f"columns: {listed(columns)}")
    found = _columns(looked, data)
    shape = found.shape
    if names := {name: labels for name, labels in names.items() if name in (found.source, found.answer)}:
        shape = replace(shape, names=names)
    made = looked if shape == RowShape() else list(shape.rows(raw, data.path))
    answer = found.answer if found.answer in made[0] else None
    golds = [] if answer is None else [row.get(answer) for row in made]
    known = Golds(
        [gold for gold in golds if has_gold(gold)],
        shape.answer or answer or "",
        _letters(made) if shape.options else found.letters,
        chinese=any(map(_is_chinese, (*found.inputs, *(str(made[0].get(name) or "") for name in found.inputs)))),
    )
    kind, scoring = _scoring(known, data)
    if kind in ("letter", "letters") and not known.letters and not data.texts and shape.messages is None:
        _refuse_letters_alone([[str(row.get(name)) for name in found.inputs] for row in made], known, columns, data)
    prompts = found.prompts if data.texts else [_instructed(one, kind, scoring, known) for one in found.prompts]
    shown = found.shown(made)
    infers = (
        [_text_prompt(prompt, answer, data, shown) for prompt in prompts]
        if shape.messages is None
        else [_chat_prompt(data)]
    )
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
    is_guessed = not data.evaluator and not data.postprocessor
    described = DescribedFile(data.path, data.texts, found, looked, made, golds, known, kind, scoring, is_guessed)
    sentence = _recognised(found, kind, scoring, data.evaluator)
    return Description(dataset, sentence, tuple(notes_on(described)), kind)


def _is_chinese(text: str) -> bool:
    return bool(_HAN.search(text)) and not _KANA_OR_HANGUL.search(text)


def _refuse_letters_alone(asked: Sequence[Sequence[str]], golds: Golds, columns: Sequence[str], data: DataFile) -> None:
    """Raise an error for questions without the options whose letters are their answers.

    Args:
        asked: what the prompt of each row says.
        golds: letters.
        columns: of the file.
        data: the file.
    """
    with_options = sum(
        all(re.search(rf"(?<![A-Za-z]){letter}(?![A-Za-z])", " ".join(row)) for letter in "AB") for row in asked
    )
    if 2 * with_options < len(asked):
        what = f"the answers in {golds.column!r} are letters of options, and no column of {data.path} has known options"
        fix = f'--prompt "…" with the question and each option, of: {listed(columns)}'
        raise ConfigError(what, where="--data", fix=fix)


def _columns(rows: Sequence[Mapping[str, Any]], data: DataFile) -> FileColumns:
    """Return what the columns of a file mean.

    Raises:
        ConfigError, DataError: as `describe_file`.
    """
    if not data.texts:
        shape, _ = find_shape(rows, answer=data.answer)
        return guessed_columns(shape, rows, data.path)
    inside = find_shape(rows)[0].inside
    known = [*flat(rows[0], inside), *names_in(rows[0])]
    written = written_prompts(data.texts, data.path, list(dict.fromkeys(known)))
    shape, _ = find_shape(rows, answer=data.answer, asked=written.columns)
    return columns_of_prompts(shape, rows, written, data.path)


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


def _recognised(columns: FileColumns, kind: Kind | None, scoring: Scoring, evaluator: str | None) -> str:
    """Say what was recognised. An evaluator is named if the user names it, or no postprocessor reads the answers."""
    shape = columns.shape
    inputs = [name for name in columns.inputs if name != columns.answer and not (name == "options" and shape.options)]
    made = {"question": shape.question}
    asked = listed(mark_of(column) for name in inputs for column in made.get(name) or (name,))
    if shape.messages is not None:
        asked = f"the chat in {mark_of(shape.messages)}"
    if shape.inside:
        asked += f", columns inside {listed(map(mark_of, shape.inside))}"
    if shape.options:
        options = (shape.options,) if isinstance(shape.options, str) else shape.options
        asked += f", options from {listed(map(mark_of, options))}"
    if kind is None or columns.answer is None:
        return f"{asked} · no column has a known name for the answer, so nothing is scored: --answer COLUMN"
    about = next(one.about for one in KINDS if one.name == kind)
    if kind in ("letter", "letters") and shape.answer is not None and shape.gold.startswith("from"):
        other = "from 1" if shape.gold == "from 0" else "from 0"
        about += f", counted {shape.gold} (otherwise --set datasets.0.shape.gold='{other}')"
    where = shape.right or columns.source or ("the last turn" if shape.messages else "a mark of the options")
    read = [scoring[key]["type"] for key in ("dataset_postprocessor", "pred_postprocessor") if key in scoring]
    scorers = read if read and not evaluator else [*read, scoring["evaluator"]["type"]]
    named = mark_of(where) if where in (shape.right, columns.source) else where
    return f"{asked} → {named}, {about} ({', '.join(dict.fromkeys(scorers))})"
