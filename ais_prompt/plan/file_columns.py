"""The columns of the dataset that a file means: the question, its options and the gold answer.

The question is guessed, or written by the user (``--prompt``), who names the columns in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.data import ANSWERS, LETTERS, OPTION_LISTS, QUESTIONS, RowShape, flat, plain_name
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.prompts import mark_of
from ais_prompt.utils import is_missing, late, listed


class FileColumns(Struct, frozen=True):
    """The columns of a dataset. A shape is used as far as it is needed: a plain column is written by its own name.

    Attributes:
        shape: what is left of the shape that was found.
        answer: the column of the gold; None without one.
        source: the column that the gold is made of.
        prompts: the question as a template has it; several are variants.
        inputs: the columns in them.
        letters: of options that the prompt writes column by column; empty where the shape makes ``options``.
    """

    shape: RowShape
    answer: str | None
    source: str | None
    prompts: Sequence[str] = ("",)
    inputs: Sequence[str] = ()
    letters: str = ""

    def shown(self, rows: Sequence[Mapping[str, Any]]) -> str | None:
        """Return the column that an example shows as its answer: of golds that are no texts one that is made."""
        is_plain = self.answer is None or not any(isinstance(row.get(self.answer), Mapping | list) for row in rows)
        return self.answer if is_plain else "shown_answer"


def names_in(row: Mapping[str, Any]) -> list[str]:
    """Return the names that a prompt may write: the columns of a row, and the keys of the objects in them."""
    inside = [key for value in row.values() if isinstance(value, Mapping) for key in value]
    return list(dict.fromkeys([*row, *inside]))


def guessed_columns(shape: RowShape, rows: Sequence[Mapping[str, Any]], path: str) -> FileColumns:
    """Return the columns of a dataset whose prompt is made of the question and its options.

    Args:
        shape: what was found.
        rows: of the file.
        path: of the file, for errors.

    Raises:
        ConfigError: the question is not known, or the options have no known form.
        DataError: a row has another kind of question than the first.
    """
    plain_rows = _flat(shape, rows)
    if shape.messages is not None:
        return replace(_with_gold(shape, plain_rows), inputs=("messages",))
    if not shape.question:
        raise _no_question(path, rows)
    _refuse_data_as_names(shape, path)
    if not shape.options:
        _refuse_unread_options(path, plain_rows)
    found = _with_options(_with_question(_with_gold(shape, plain_rows), plain_rows), plain_rows)
    _refuse_mixed(found.inputs, plain_rows, path)
    return found


def columns_of_prompts(
    shape: RowShape, rows: Sequence[Mapping[str, Any]], written: WrittenPrompts, path: str
) -> FileColumns:
    """Return the columns of a dataset with prompts of the user.

    Options in the prompts are written as lines, and other values as people write them. Arguments as those of
    `guessed_columns`.

    Raises:
        DataError: a row has another kind of question than the first.
    """
    plain_rows = _flat(shape, rows)
    found = _with_gold(shape, plain_rows)
    shape, prompts, inputs = found.shape, written.texts, written.columns
    if isinstance(shape.options, str) and shape.options in inputs:
        prompts = [text.replace(mark_of(shape.options), mark_of("options")) for text in prompts]
        inputs = ["options" if name == shape.options else name for name in inputs]
    odd = [
        name for name in inputs if name in plain_rows[0] and name != found.answer and not _is_written(name, plain_rows)
    ]
    _refuse_mixed(inputs, plain_rows, path)
    return replace(found, shape=replace(shape, texts=(*shape.texts, *odd)), prompts=prompts, inputs=inputs)


def _flat(shape: RowShape, rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return [flat(row, shape.inside) for row in rows] if shape.inside else rows


def _with_gold(shape: RowShape, rows: Sequence[Mapping[str, Any]]) -> FileColumns:
    """Find the column of the gold: the one in the file, or ``answer``, which the shape makes."""
    source = shape.answer
    if source is None:
        is_made = shape.messages is not None or shape.right is not None or shape.gold == "marked"
        return FileColumns(shape, "answer" if is_made else None, None)
    if shape.options or shape.parsed or shape.unknown or source not in rows[0]:  # a path leads into a column
        return FileColumns(shape, "answer", source)
    shape = replace(shape, answer=None)
    if any(isinstance(row[source], bool) for row in rows):
        shape = replace(shape, texts=(*shape.texts, source))
    return FileColumns(shape, source, source)


def _with_question(found: FileColumns, rows: Sequence[Mapping[str, Any]]) -> FileColumns:
    """Write the columns of the question, or the text that the shape makes of them."""
    shape, parts = found.shape, found.shape.question
    if shape.right is None and all(_is_written(name, rows) for name in parts):
        prompt = "\n\n".join(map(mark_of, parts))
        return replace(found, shape=replace(shape, question=()), prompts=(prompt,), inputs=parts)
    if shape.right is None and len(parts) == 1:
        shape = replace(shape, question=(), texts=(*shape.texts, *parts))
        return replace(found, shape=shape, prompts=(mark_of(parts[0]),), inputs=parts)
    return replace(found, prompts=(mark_of("question"),), inputs=("question",))


def _with_options(found: FileColumns, rows: Sequence[Mapping[str, Any]]) -> FileColumns:
    """Write the options below the question: their columns if each has a letter, or the lines that the shape makes."""
    shape = found.shape
    if not shape.options:
        return found
    [question] = found.prompts
    if not _are_lettered(shape, rows):
        prompt = f"{question}\n{mark_of('options')}"
        return replace(found, prompts=(prompt,), inputs=(*found.inputs, "options"))
    lines = [f"{letter}. {mark_of(name)}" for letter, name in zip(LETTERS, shape.options, strict=False)]
    return replace(
        found,
        shape=replace(shape, options=(), answer=None),
        answer=found.source,
        prompts=("\n".join([question, *lines]),),
        inputs=(*found.inputs, *shape.options),
        letters=LETTERS[: len(lines)],
    )


def _are_lettered(shape: RowShape, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether each option has a column with a plain value in every row, and the answer is a letter."""
    if isinstance(shape.options, str) or shape.right is not None or shape.gold != "letter" or shape.unknown:
        return False
    letters = LETTERS[: len(shape.options)]
    golds = [] if shape.answer is None else [str(row.get(shape.answer) or letters[0]).upper() for row in rows]
    return (
        all(gold in tuple(letters) for gold in golds)
        and all(_is_written(name, rows) for name in shape.options)
        and not any(option.label for row in rows for option in shape.options_of(row))
    )


def _is_written(name: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a template writes every value of a column as people do, and there is one in every row."""
    return all(
        isinstance(value := row.get(name), str | int | float) and not isinstance(value, bool) and not is_missing(value)
        for row in rows
    )


def _refuse_mixed(inputs: Sequence[str], rows: Sequence[Mapping[str, Any]], path: str) -> None:
    """Raise an error for a row whose question is a list or an object, unlike that of the first row."""
    for name in inputs:
        is_nested = [isinstance(row.get(name), list | Mapping) for row in rows if row.get(name) is not None]
        if len(set(is_nested)) > 1:
            number = next(
                n for n, row in enumerate(rows) if isinstance(row.get(name), list | Mapping) is not is_nested[0]
            )
            what = f"{name!r} holds {rows[number].get(name)!r:.60}, unlike the rows before"
            fix = "write the same kind of value in every row, or name another column with --prompt"
            raise DataError(what, where=f"{path}, row {number}", fix=fix)


def _no_question(path: str, rows: Sequence[Mapping[str, Any]]) -> ConfigError:
    """Return the error for a file whose question is not known."""
    columns = list(rows[0])
    known = names_in(rows[0])
    fix = f'--prompt "…{mark_of("column")}…" with: {listed(known)}'
    named = [name for name in columns if plain_name(name) in QUESTIONS]
    if named:
        value = next((value for row in rows if not is_missing(value := row.get(named[0]))), None)
        if value is None:
            return ConfigError(f"the column {named[0]!r} of {path} is empty", where="--data", fix=fix)
        what = f"the column {named[0]!r} of {path} holds {value!r:.60}, which no prompt can write"
        return ConfigError(what, where="--data", fix=fix)
    if len(columns) == 1:
        what = f"{path} has only the column {columns[0]!r}, whose values are no questions"
        return ConfigError(what, where="--data", fix=fix)
    what = f"no column of {path} has a known name for the question, such as 'question' or '问题'"
    return ConfigError(what, where="--data", fix=fix)


def _refuse_data_as_names(shape: RowShape, path: str) -> None:
    """Raise an error for a file whose first line is a row: a name asks nothing, unless another names the answer."""
    question = shape.question[-1]
    names_answer = shape.answer is not None and len(shape.answer) > 1 and plain_name(shape.answer) in ANSWERS
    if question.rstrip().endswith(("?", "？")) and len(question.split()) > 3 and not names_answer:
        what = f"{path} has no names of columns: its first line is {question!r:.60}"
        fix = "write the names above it, such as question,A,B,C,D,answer; if these are names, add --prompt"
        raise ConfigError(what, where="--data", fix=fix)


def _refuse_unread_options(path: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise an error for options that no form knows: a question without its options is another question."""
    for name in rows[0]:
        values = [value for row in rows if not is_missing(value := row.get(name))]
        if plain_name(name) not in OPTION_LISTS or plain_name(name) in ANSWERS or not values:
            continue
        if any(isinstance(value, list | Mapping) or len(str(value).splitlines()) > 1 for value in values):
            what = f"the options in {name!r} of {path} have no known form, or no column names the right one of them"
            fix = f"--answer with the column of the right option, or --prompt with others: {listed(rows[0])}"
            raise ConfigError(what, where="--data", fix=fix)


_MARK: Final = late(r"\{\{\s*(?P<double>[^{}\n]+?)\s*\}\}|\{\s*(?P<single>[^{}\n]+?)\s*\}")
_NAME: Final = late(r"[^\W\d]\w*")


class WrittenPrompts(Struct, frozen=True):
    """Prompts of a user, as templates have them.

    Attributes:
        texts: each is a variant of the question.
        columns: those in any of the texts: all variants have the same inputs, and so the same ids.
    """

    texts: Sequence[str]
    columns: Sequence[str]


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


def written_prompts(prompts: Sequence[str], path: str, columns: Sequence[str]) -> WrittenPrompts:
    """Return the prompts of the user as templates have them.

    Args:
        prompts: with ``{column}`` or ``{{column}}``.
        path: of the file, for errors.
        columns: of the file.

    Raises:
        ConfigError: a prompt names a column that is not there, or none.
    """
    written = [_written(text, path, columns) for text in prompts]
    return WrittenPrompts([text for text, _ in written], list(dict.fromkeys(chain(*(used for _, used in written)))))


def _written(text: str, path: str, columns: Sequence[str]) -> tuple[str, list[str]]:
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
