"""From rows as people have them to columns that a template can write: `RowShape`.

A template writes texts. Rows have more: options as a list or as texts with labels, a right answer as the number of an
option, a chat whose last turn is the answer, an object whose keys are the columns, an empty cell. `LocalDataset` takes
what such a row means as ``shape``, and each row becomes plain columns::

    shape=dict(options="choices", answer="answer", gold="from 0")

    {"question": "2 + 2?", "choices": ["3", "4"], "answer": 1}
    {"question": "2 + 2?", "choices": ["3", "4"], "answer": "B", "options": "A. 3\\nB. 4", "A": "3", "B": "4", …}

`ais_prompt.data.data_shapes` finds the shape of a file; an extension may name one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

import msgspec
from msgspec import Struct

from ais_prompt.data.row_options import (
    GoldOfOptions,
    Option,
    letters_of,
    option_columns,
    options_in,
    right_places,
    shuffled,
    without_labels,
)
from ais_prompt.data.row_values import chat_of, parsed, split_chat, text_of, value_at
from ais_prompt.data.table import Table
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.utils import listed


class RowShape(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the columns of a row mean. Each part that is named adds or changes columns; all others stay.

    Attributes:
        inside: columns of objects, whose keys become columns.
        names: column of numbers → the name of each, from 0; other numbers become null.
        texts: columns that become texts: nothing for null, ``true`` and ``false`` as in JSON, a line for each entry of
            a list; passages of retrieval, which are objects, become paragraphs below their titles.
        question: columns that become one text, ``question``, with a blank line between them; empty ones are left out.
        options: the column of the options, or one column for each. They become ``options`` (a line each, ``A. text``)
            and the columns ``A``, ``B``, ….
        right: with ``options``: the column with the text of the right option, which is none of ``options``. All are
            shuffled, in an order that depends on the question only.
        messages: a column of chat turns, which become ``messages`` with role and content. A last turn of the assistant
            becomes ``answer`` and is left out.
        system: with ``messages``: the column of what the system says first.
        answer: the column of the gold answer, or a path into one, such as ``assert.0.value``; it becomes ``answer``.
            With ``options`` that is the letter of the right one, or several: ``AC``.
        gold: how ``answer`` names an option.
        unknown: what ``answer`` holds where the answer is not known, such as -1; it becomes empty.
        parsed: whether ``answer`` is JSON in a text, such as a list in a cell of a CSV.
        shown: a column of golds that are lists or objects; ``shown_answer`` is the first as a text, for examples.
    """

    inside: tuple[str, ...] = ()
    names: Mapping[str, tuple[str, ...]] = {}
    texts: tuple[str, ...] = ()
    question: tuple[str, ...] = ()
    options: str | tuple[str, ...] = ()
    right: str | None = None
    messages: str | None = None
    system: str | None = None
    answer: str | None = None
    gold: GoldOfOptions = "letter"
    unknown: tuple[str, ...] = ()
    parsed: bool = False
    shown: str | None = None

    def missing(self, names: Sequence[str]) -> list[str]:
        """Return the columns that it needs and that are not among these names."""
        options = (self.options,) if isinstance(self.options, str) else self.options
        named = [*options, *filter(None, (self.right, self.messages, self.system)), *self.texts, *self.question]
        return [name for name in self.inside or named if name not in names]  # what is inside is not seen here

    def row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row with the columns that this shape makes.

        Raises:
            DataError: a value is of another shape; it names the column.
        """
        made = named_numbers(flat(row, self.inside), self.names)
        for name in self.texts:
            made[name] = text_of(name, made.get(name))
        if self.options:
            made |= self._options(made)
        elif self.answer is not None:
            gold = self._gold(made)
            made["answer"] = parsed(gold) if self.parsed else gold
        if self.messages is not None:
            turns, gold = split_chat(chat_of(self.messages, made.get(self.messages)))
            if self.system is not None and (said := text_of(self.system, made.get(self.system))):
                turns = [{"role": "system", "content": said}, *turns]
            made |= {"messages": turns} if gold is None else {"messages": turns, "answer": gold}
        if self.question:
            made["question"] = "\n\n".join(filter(None, (text_of(name, made.get(name)) for name in self.question)))
        if self.shown is not None:
            made["shown_answer"] = _shown(made.get(self.shown))
        return made

    def rows(self, rows: Iterable[Mapping[str, Any]], where: str) -> Iterator[dict[str, Any]]:
        """Yield rows with the columns that this shape makes.

        Raises:
            DataError: a row is of another shape; it names the row, from 0, of ``where``.
        """
        for number, row in enumerate(rows):
            try:
                yield self.row(row)
            except DataError as error:
                error.where = error.where or f"{where}, row {number}"
                raise

    def options_of(self, row: Mapping[str, Any]) -> list[Option]:
        """Return the options of a row that has been made flat.

        Raises:
            DataError: there are none of a known form.
        """
        if isinstance(self.options, str):
            found = options_in(self.options, row.get(self.options), least=2 - (self.right is not None))
            if self.right is None:
                return found
            texts = [option.text for option in found]
        else:
            texts = [text_of(name, row.get(name)).strip() for name in self.options]
        if self.right is None:
            labels = [name if len(name) == 1 and not name.isascii() else "" for name in self.options]
            return without_labels([Option(*one) for one in zip(labels, texts, strict=True)])
        every = [
            Option("", text_of(self.right, row.get(self.right)).strip(), True),
            *(Option("", text, False) for text in texts),
        ]
        asked = self.question or [name for name in sorted(row) if name not in (*self.options, self.right)]
        return shuffled(every, "\n".join(str(row.get(name)).strip() for name in asked))

    def _options(self, row: Mapping[str, Any]) -> dict[str, Any]:
        options = self.options_of(row)
        letters = letters_of(options)
        made = option_columns(dict(zip(letters, (option.text for option in options), strict=True)))
        if self.answer is None and self.right is None and self.gold != "marked":
            return made
        gold = self._gold(row)
        if self.answer is not None and (gold is None or not str(gold).strip()):
            return {**made, "answer": ""}  # it has no score, and the others have
        places = right_places(options, gold, "marked" if self.right is not None else self.gold)
        if places is None:
            if not any(option.text for option in options):
                raise DataError(
                    "the row has no options", fix="put the questions without options into a file of their own"
                )
            what = f"{self.answer or self.options!r} names none of the options: {gold!r:.60}"
            raise DataError(what, fix=f"check the row; the options are {listed(option.text for option in options)}")
        return {**made, "answer": "".join(sorted(letters[place] for place in places))}

    def _gold(self, row: Mapping[str, Any]) -> Any:
        gold = None if self.answer is None else value_at(row, self.answer)
        return None if self.unknown and str(gold) in self.unknown else gold


def parse_shape(values: Any) -> RowShape:
    """Return the shape that a config describes.

    Raises:
        ConfigError: a key is unknown, or a value of the wrong type.
    """
    try:
        return msgspec.convert(values, RowShape)
    except msgspec.ValidationError as error:
        fix = f"its keys: {', '.join(RowShape.__struct_fields__)}; gold is one of {', '.join(get_args(GoldOfOptions))}"
        raise ConfigError(f"shape cannot be used: {str(error).replace('`', chr(39))}", fix=fix) from None


def shaped(table: Table, shape: RowShape) -> Table:
    """Return a table with its rows in a shape.

    Raises:
        DataError: it lacks a column, or a row is of another shape; it names the row.
    """
    where = listed(table.origins)
    if missing := shape.missing(table.columns):
        what = f"shape names the column {missing[0]!r}, which is not there"
        raise DataError(what, where=where, fix=f"columns: {listed(table.columns)}")
    return Table.of_rows(shape.rows(table, where), table.origins)


def flat(row: Mapping[str, Any], inside: Sequence[str]) -> dict[str, Any]:
    """Return a row with the keys of its objects as columns; a column of the row itself counts first.

    Raises:
        DataError: a value is no object.
    """
    made = {name: value for name, value in row.items() if name not in inside}
    for name in inside:
        value = parsed(row.get(name))
        if not isinstance(value, Mapping):
            what = f"{name!r} is no object but {value!r:.60}"
            raise DataError(what, fix="write an object with the same keys in each row")
        made = {**{key: one for key, one in value.items() if key not in made}, **made}
    return made


def named_numbers(row: Mapping[str, Any], names: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return a row with names in place of numbers; null for a number without one."""
    made = dict(row)
    for column, labels in names.items():
        number = row.get(column)
        if isinstance(number, int) and not isinstance(number, bool):
            made[column] = labels[number] if 0 <= number < len(labels) else None
    return made


def _shown(gold: Any) -> str:
    """Return the first of several right answers, or an object as JSON."""
    if isinstance(gold, Mapping):
        known = next((gold[key] for key in ("text", "value") if key in gold), None)
        return json.dumps(gold, ensure_ascii=False) if known is None else _shown(known)
    if isinstance(gold, list | tuple) and gold and not isinstance(gold[0], Mapping | list | tuple):
        return text_of("", gold[0])
    return json.dumps(gold, ensure_ascii=False) if isinstance(gold, list | tuple) else text_of("", gold)
