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

import ast
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct

from ais_prompt.data.table import Table
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.utils import late, listed, parse_written, text_digest

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LEAST_LETTERS: Final = 5
"""Options that have a column in any case; those that are not there are empty."""

GoldOfOptions: TypeAlias = Literal["label", "letter", "text", "from 0", "from 1", "marked"]
"""How the right option is given: by its label in the data, its letter, its text, its number, or a mark beside it."""

ROLES: Final[Mapping[str, str]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "question": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "chatgpt": "assistant",
    "ai": "assistant",
    "answer": "assistant",
}
"""Role of a turn, as datasets write it → role of the API."""
ROLE_KEYS: Final = ("role", "from", "speaker")
CONTENT_KEYS: Final = ("content", "value", "text")
TEXT_KEYS: Final = ("text", "content", "value", "option", "choice", "answer", "sentence")
LABEL_KEYS: Final = ("label", "labels", "key", "id", "letter", "name", "option")
MARK_KEYS: Final = ("correct", "is_correct", "iscorrect", "right", "is_right", "is_answer")
"""Keys of an option: its text, its label, and whether it is right."""
_LISTS: Final = ("text", "texts", "choices", "options", "content")
"""Keys of an object of lists: ``{"text": [...], "label": [...]}``."""


class Option(Struct, frozen=True):
    """One option of a question.

    Attributes:
        label: in the data, such as ``A`` or ``1``; empty without one.
        text: what it says.
        right: whether the data mark it as right; None if they do not say.
    """

    label: str
    text: str
    right: bool | None = None


class RowShape(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the columns of a row mean. Each part that is named adds or changes columns; all others stay.

    Attributes:
        inside: columns of objects, whose keys become columns.
        texts: columns that become texts: nothing for null, ``true`` and ``false`` as in JSON, a line for each entry of
            a list.
        question: columns that become one text, ``question``, with a blank line between them; empty ones are left out.
        options: the column of the options, or one column for each. They become ``options`` (a line each, ``A. text``)
            and the columns ``A``, ``B``, ….
        right: with ``options``: the column with the text of the right option, which is none of ``options``. All are
            shuffled, in an order that depends on the question only.
        messages: a column of chat turns, which become ``messages`` with role and content. A last turn of the assistant
            becomes ``answer`` and is left out.
        answer: the column of the gold answer, or a path into one, such as ``assert.0.value``; it becomes ``answer``.
            With ``options`` that is the letter of the right one, or several: ``AC``.
        gold: how ``answer`` names an option.
        parsed: whether ``answer`` is JSON in a text, such as a list in a cell of a CSV.
        shown: a column of golds that are lists or objects; ``shown_answer`` is the first as a text, for examples.
    """

    inside: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    question: tuple[str, ...] = ()
    options: str | tuple[str, ...] = ()
    right: str | None = None
    messages: str | None = None
    answer: str | None = None
    gold: GoldOfOptions = "letter"
    parsed: bool = False
    shown: str | None = None

    def missing(self, names: Sequence[str]) -> list[str]:
        """Return the columns that it needs and that are not among these names."""
        named = [*self.inside, *((self.options,) if isinstance(self.options, str) else self.options)]
        named += [name for name in (self.right, self.messages) if name is not None]
        if not self.inside:
            named += [*self.texts, *self.question]
        return [name for name in named if name not in names]

    def row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row with the columns that this shape makes.

        Raises:
            DataError: a value is of another shape; it names the column.
        """
        made = flat(row, self.inside)
        for name in self.texts:
            made[name] = text_of(name, made.get(name))
        if self.options:
            made |= self._options(made)
        elif self.answer is not None:
            gold = value_at(made, self.answer)
            made["answer"] = parsed(gold) if self.parsed else gold
        if self.messages is not None:
            turns, gold = split_chat(chat_of(self.messages, made.get(self.messages)))
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
            return [Option("", text) for text in texts]
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
        gold = None if self.answer is None else value_at(row, self.answer)
        if self.answer is not None and (gold is None or not str(gold).strip()):
            return {**made, "answer": ""}  # it has no score, and the others have
        places = right_places(options, gold, "marked" if self.right is not None else self.gold)
        if places is None:
            what = f"{self.answer or self.options!r} names none of the options: {gold!r:.60}"
            raise DataError(what, fix=f"check the row; the options are {listed(option.text for option in options)}")
        return {**made, "answer": "".join(sorted(letters[place] for place in places))}


def option_columns(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns of options: ``options``, one a line; ``A``, ``B``, …; and ``count``, their number.

    Args:
        texts: letter → option; an empty one is not written.
    """
    letters = dict.fromkeys((*LETTERS[:LEAST_LETTERS], *texts), "")
    return {
        "options": "\n".join(f"{letter}. {text}" for letter, text in sorted(texts.items()) if text),
        **letters,
        **texts,
        "count": sum(map(bool, texts.values())),
    }


def shuffled(options: Sequence[Option], key: str) -> list[Option]:
    """Return options in an order that depends on a text only, such as the question."""
    order = sorted(range(len(options)), key=lambda place: text_digest(f"{key}\n{place}"))
    return [options[place] for place in order]


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


def _shown(gold: Any) -> str:
    """Return the first of several right answers, or an object as JSON."""
    if isinstance(gold, Mapping):
        known = next((gold[key] for key in ("text", "value") if key in gold), None)
        return json.dumps(gold, ensure_ascii=False) if known is None else _shown(known)
    if isinstance(gold, list | tuple) and gold and not isinstance(gold[0], Mapping | list | tuple):
        return text_of("", gold[0])
    return json.dumps(gold, ensure_ascii=False) if isinstance(gold, list | tuple) else text_of("", gold)


def value_at(row: Mapping[str, Any], path: str) -> Any:
    """Return the value of a column, or of a path into one: ``assert.0.value``; None where a row lacks it."""
    if path in row:
        return row[path]
    value: Any = row
    for key in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(key)
        else:
            value = parsed(value)
            value = value[int(key)] if _is_list(value) and key.isdigit() and int(key) < len(value) else None
    return value


def text_of(name: str, value: Any) -> str:
    """Return a value of a row as a prompt writes it.

    Raises:
        DataError: it is an object, or a list of other things than texts and numbers.
    """
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple) and not any(isinstance(one, Mapping | list | tuple) for one in value):
        return "\n".join(text_of(name, one) for one in value)
    if isinstance(value, Mapping | list | tuple):
        what = f"{name!r} holds {json.dumps(value, ensure_ascii=False, default=str):.80}, which no prompt can write"
        raise DataError(what, fix="write a text into the column, or name another one with --prompt")
    return str(value)


def parsed(value: Any) -> Any:
    """Return what a text holds that is a list or an object in JSON, or as Python writes it; else the value itself."""
    if not isinstance(value, str) or value.strip()[:1] not in ("[", "{"):
        return value
    try:
        return parse_written(value)
    except ValueError:
        try:
            return ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value


_LABELLED: Final = late(r"\s*[(\[]?(?P<label>[A-Z]|\d{1,2})\s*[)\].:、．]\s*(?P<text>\S.*?)\s*", re.DOTALL)
_LABEL_IN_TEXT: Final = late(r"(?:\A|(?<=\s))[(\[]?(?P<label>[A-Z])[)\].:、．]\s*(?=\S)")
_SEPARATORS: Final = ("\n", "|", ";", "；")


def options_in(name: str, value: Any, least: int = 2) -> list[Option]:
    """Return the options that one value holds.

    Args:
        name: its column.
        value: a list of texts; an object of texts and labels, or of label and text; a list of such; or one text with
            all of them, as JSON, after labels ("A. red B. blue"), in lines, or parted by ``|`` or ``;``.
        least: options that there must be.

    Raises:
        DataError: there are fewer, or they are of another form.
    """
    found = _options_in(parsed(value))
    if found is None or len(found) < least:
        what = f"{name!r} has no options of a known form: {value!r:.80}"
        raise DataError(what, fix='write a list of texts, {"text": [...], "label": [...]}, or columns A, B, C, …')
    labelled = [label for one in found if not one.label and (label := _LABELLED.fullmatch(one.text))]
    if [label["label"] for label in labelled] == list(LETTERS[: len(found)]):
        return [Option(label["label"], label["text"]) for label in labelled]
    return found


def _options_in(value: Any) -> list[Option] | None:
    if isinstance(value, Mapping):
        keys = {str(key).lower(): key for key in value}
        texts = next((value[keys[key]] for key in _LISTS if key in keys and _is_list(value[keys[key]])), None)
        if texts is None:
            labelled = {str(key): one for key, one in value.items() if one is not None}
            return [Option(key, str(one)) for key, one in labelled.items()] if _are_plain(labelled.values()) else None
        labels = next((value[keys[key]] for key in LABEL_KEYS if key in keys and _is_list(value[keys[key]])), None)
        if labels is None or len(labels) != len(texts):
            return [Option("", str(text).strip()) for text in texts]
        if set(labels) <= {0, 1} and list(labels) != [0, 1]:
            return [Option("", str(text).strip(), bool(label)) for text, label in zip(texts, labels, strict=True)]
        return [Option(str(label), str(text).strip()) for text, label in zip(texts, labels, strict=True)]
    if _is_list(value):
        if _are_plain(value):
            return [Option("", text_of("", one).strip()) for one in value]
        found = [_option(one) if isinstance(one, Mapping) else None for one in value]
        return [one for one in found if one is not None] if all(found) else None
    return _options_in_text(value) if isinstance(value, str) else None


def _option(value: Mapping[Any, Any]) -> Option | None:
    """Return the option that an object describes: its text, its label, and whether it is right."""
    keys = {str(key).lower(): key for key in value}
    if len(value) == 1 and not keys.keys() & set(TEXT_KEYS):
        [(label, text)] = value.items()
        return Option(str(label), str(text))
    text = next((value[keys[key]] for key in TEXT_KEYS if key in keys), None)
    label = next((value[keys[key]] for key in LABEL_KEYS if key in keys and value[keys[key]] is not text), None)
    right = next((value[keys[key]] for key in MARK_KEYS if key in keys), None)
    if text is None or isinstance(text, Mapping | list):
        return None
    return Option("" if label is None else str(label), str(text), None if right is None else bool(right))


def _options_in_text(text: str) -> list[Option] | None:
    labels = list(_LABEL_IN_TEXT.finditer(text))
    if len(labels) > 1 and [one["label"] for one in labels] == list(LETTERS[: len(labels)]):
        ends = [*(one.start() for one in labels[1:]), len(text)]
        texts = [text[one.end() : end].strip(" \n\t,;；，") for one, end in zip(labels, ends, strict=True)]
        return [Option(one["label"], part) for one, part in zip(labels, texts, strict=True)]
    separator = next((one for one in _SEPARATORS if one in text.strip()), None)
    return [Option("", part.strip()) for part in text.strip().split(separator)] if separator else None


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _are_plain(values: Any) -> bool:
    return not any(isinstance(one, Mapping | list | tuple) for one in values)


def letters_of(options: Sequence[Option]) -> list[str]:
    """Return the letter of each option: its label where all have letters of their own, else A, B, … in order."""
    labels = [option.label.strip("() .").upper() for option in options]
    own = all(len(label) == 1 and label in LETTERS for label in labels) and len(set(labels)) == len(labels)
    return labels if own else [LETTERS[place % len(LETTERS)] for place in range(len(options))]


_LETTER: Final = late(
    r"\W*(?:(?:the\s+)?(?:correct\s+|right\s+)?(?:option|choice|answer)\s*(?:is\s*)?|选项|答案[是为]?)?\W*([A-Za-z])(?:\W*|[)\].:、．]\s*\S.*|\)\s+.*)",
    re.IGNORECASE | re.DOTALL,
)
_SEVERAL: Final = late(r"\W*[A-Z](?:(?:\s*(?:[,;、/&+]|and|和)\s*)?[A-Z])+\W*")


def right_places(options: Sequence[Option], gold: Any, form: GoldOfOptions) -> list[int] | None:
    """Return the places of the right options, from 0; None if the gold is not of the form.

    Args:
        options: of the question; empty ones cannot be right.
        gold: as the data have it: one, or a list of several.
        form: how it names an option.
    """
    if form == "marked":
        return [place for place, option in enumerate(options) if option.right] or None
    gold = parsed(gold)
    several = list(gold) if _is_list(gold) else [gold]
    if form == "letter" and len(several) == 1 and isinstance(gold, str) and _SEVERAL.fullmatch(gold):
        several = re.findall("[A-Z]", gold)
    places = [_place(options, one, form) for one in several]
    found = [place for place in places if place is not None and options[place].text]
    return sorted(set(found)) if found and len(found) == len(several) else None


def _place(options: Sequence[Option], gold: Any, form: GoldOfOptions) -> int | None:
    """Return the place of the option that a gold names; None if it names none, or several."""
    if gold is None or isinstance(gold, Mapping | list | tuple):
        return None
    if form in ("from 0", "from 1"):
        number = _whole(gold)
        place = None if number is None else number - (form == "from 1")
        return place if place is not None and 0 <= place < len(options) else None
    if form == "text":
        wanted = plain(text_of("", gold))
        same = [place for place, option in enumerate(options) if plain(option.text) == wanted]
        label = None if same else _LABELLED.fullmatch(text_of("", gold))
        if label is not None:
            wanted = plain(label["text"])
            same = [place for place, option in enumerate(options) if plain(option.text) == wanted]
        return same[0] if len(same) == 1 else None
    if form == "label":
        wanted = plain(str(gold))
        same = [place for place, option in enumerate(options) if option.label and plain(option.label) == wanted]
        return same[0] if len(same) == 1 else None
    letter = _LETTER.fullmatch(str(gold))
    letters = letters_of(options)
    return letters.index(letter[1].upper()) if letter and letter[1].upper() in letters else None


def _whole(value: Any) -> int | None:
    """Return a whole number, which a table may have as a fraction or a text; None for all else."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else None


def plain(text: str) -> str:
    """Return a text as it is compared: without differences of case, width and white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".。")


def chat_of(name: str, value: Any) -> list[dict[str, Any]]:
    """Return the turns of a chat with the roles of the API.

    Args:
        name: its column.
        value: a list of ``{"role": …, "content": …}``, or of ``{"from": "human", "value": …}`` as ShareGPT has it; or
            the same as a text of JSON.

    Raises:
        DataError: it is of another form.
    """
    turns = parsed(value)
    found = [_turn(turn) for turn in turns] if _is_list(turns) else []
    if not found or None in found:
        what = f"{name!r} is no list of chat turns but {value!r:.80}"
        raise DataError(what, fix='write [{"role": "user", "content": "…"}, …]')
    chat = [turn for turn in found if turn is not None]
    if not any(turn["role"] == "user" for turn in chat):
        raise DataError(f"the chat in {name!r} has no turn of the user", fix="write one, or leave the row out")
    return chat


def _turn(turn: Any) -> dict[str, Any] | None:
    if not isinstance(turn, Mapping):
        return None
    role = next((turn[key] for key in ROLE_KEYS if isinstance(turn.get(key), str)), None)
    content = next((turn[key] for key in CONTENT_KEYS if isinstance(turn.get(key), str | list)), None)
    if role is None or content is None:
        return None
    kept = {key: one for key, one in turn.items() if key not in (*ROLE_KEYS, *CONTENT_KEYS) and one is not None}
    return {"role": ROLES.get(role.lower(), role), "content": content, **kept}


def split_chat(turns: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], str | None]:
    """Return the turns that are sent, and the answer that the last turn of the assistant gives; None without one."""
    if len(turns) > 1 and turns[-1]["role"] == "assistant" and isinstance(turns[-1]["content"], str):
        return list(turns[:-1]), turns[-1]["content"]
    return list(turns), None
