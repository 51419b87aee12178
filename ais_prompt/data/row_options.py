"""The options of a question, in the forms in which rows have them, and which of them a gold answer names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from ais_prompt.data.column_names import plain_name
from ais_prompt.data.row_values import parsed, plain, text_of
from ais_prompt.errors import DataError
from ais_prompt.utils import late, text_digest

LETTERS: Final = ascii_uppercase
LEAST_LETTERS: Final = 5
"""Options that have a column in any case; those that are not there are empty."""

GoldOfOptions: TypeAlias = Literal["label", "letter", "text", "from 0", "from 1", "marked"]
"""How the right option is given: by its label in the data, its letter, its text, its number, or a mark beside it."""

TEXT_KEYS: Final = (
    *("text", "content", "value", "option", "choice", "answer", "sentence", "atext", "a_text", "answer_text"),
    *("option_text", "choice_text", "ao_val", "内容"),
)
LABEL_KEYS: Final = ("label", "labels", "key", "id", "letter", "name", "option", "aid", "选项")
MARK_KEYS: Final = ("correct", "is_correct", "iscorrect", "right", "is_right", "is_answer")
"""Keys of an option: its text, its label, and whether it is right; as `plain_name` has them."""
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


_LABELLED: Final = late(r"\s*[(\[]?(?P<label>[A-Z]|\d{1,2})\s*[)\].:、．]\s*(?P<text>\S.*?)\s*", re.DOTALL)
_LETTERED: Final = late(
    r"\s*[(\[（【]?(?P<label>[A-ZＡ-Ｚ])(?:\s*[)\].:：、．）】]\s*|\s+)(?P<text>\S.*?)\s*", re.DOTALL
)
_LABEL_IN_TEXT: Final = late(r"(?:\A|(?<=\s))[(\[]?(?P<label>[A-Z])[)\].:、．]\s*(?=\S)")
_CLOSE_LABEL: Final = late(r"(?:\A|(?<=[^A-Za-z0-9]))[(\[（【]?(?P<label>[A-ZＡ-Ｚ])[)\].:：、．）】]\s*(?=\S)")
"""As in Chinese texts, also without a blank in front of it: ``A.巴黎B.东京``."""
_SMALL_LABEL_IN_TEXT: Final = late(r"(?:\A|(?<=\s))\(?(?P<label>[a-z])\s?\)\s*(?=\S)")
"""As in MathQA: ``a ) 38 , b ) 27``."""
_SEPARATORS: Final = ("\n", "|", ";", "；", " / ", "、", ",", "，")


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
    return without_labels(found)


def without_labels(options: Sequence[Option]) -> list[Option]:
    """Return options whose texts begin with A, B, … with these as their labels: "A) red" and "B) blue"."""
    labelled = [label for one in options if not one.label and (label := _LETTERED.fullmatch(one.text))]
    if options and [_narrow(label["label"]) for label in labelled] == list(LETTERS[: len(options)]):
        return [Option(_narrow(label["label"]), label["text"]) for label in labelled]
    return list(options)


def _narrow(text: str) -> str:
    """Return a text without letters of full width."""
    return unicodedata.normalize("NFKC", text)


def _options_in(value: Any) -> list[Option] | None:
    if isinstance(value, Mapping):
        keys = {plain_name(str(key)): key for key in value}
        texts = next((value[keys[key]] for key in _LISTS if key in keys and _is_list(value[keys[key]])), None)
        if texts is None:
            labelled = {str(key): one for key, one in value.items() if one is not None}
            if not _are_plain(labelled.values()):
                return None
            # {"a text": 1, "another": 0} marks the right one; in {"A": 1, "B": 0} these are the options.
            if set(labelled.values()) == {0, 1} and any(len(key) > 1 for key in labelled):
                return [Option("", key.strip(), bool(right)) for key, right in labelled.items()]
            return [Option(key, str(one)) for key, one in labelled.items()]
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
    keys = {plain_name(str(key)): key for key in value}
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
    for label in (_LABEL_IN_TEXT, _SMALL_LABEL_IN_TEXT, _CLOSE_LABEL):
        labels = list(label.finditer(text))
        if len(labels) < 2 or [_narrow(one["label"]).upper() for one in labels] != list(LETTERS[: len(labels)]):
            continue
        ends = [*(one.start() for one in labels[1:]), len(text)]
        texts = [text[one.end() : end].strip(" \n\t,;；，、") for one, end in zip(labels, ends, strict=True)]
        return [Option(_narrow(one["label"]), part) for one, part in zip(labels, texts, strict=True)]
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
    r"\W*(?:(?:the\s+)?(?:correct\s+|right\s+)?(?:option|choice|answer)[\s_]*(?:is\s*)?|选项?|答案[是为]?)?\W*"
    r"([A-Za-z])(?:\W*|[)\].:、．]\s*\S.*|\)\s+.*|选项|項)",
    re.IGNORECASE | re.DOTALL,
)
_AND: Final = r"(?:\s*(?:[,;、/&+|.-]|\b(?:and|und|et|y|e|ja|и)\b|和|及|与)\s*)"
_SEVERAL: Final = late(rf"\W*[A-Z](?:(?:{_AND}|\s+)?[A-Z])+\W*")
_SEVERAL_NUMBERS: Final = late(rf"\s*\d+(?:{_AND}\d+)+\s*")
_NUMBER: Final = late(r"(?:option|choice|answer|选项)[\s_]*(\d{1,2})", re.IGNORECASE)


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
    if isinstance(gold, str):
        gold = _narrow(gold)
        several = [gold]
        if form == "letter" and _SEVERAL.fullmatch(gold):
            several = re.findall("[A-Z]", gold)
        elif form.startswith("from") and _SEVERAL_NUMBERS.fullmatch(gold):
            several = re.findall(r"\d+", gold)
        elif form == "text" and _place(options, gold, form) is None:
            several = re.split(r"\s*[、,;|/\n]\s*", gold)
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
    named = _NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    try:
        number = float(named[1] if named else value)
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else None


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
