"""What the columns of a file mean: `SHAPES`, a table of the forms in which people have questions, options and answers.

Each form has an example row, where it comes from, and what finds it by the names of the columns and by their values.
What is found is a `RowShape`, which the reader of the file takes. The reference shows this table.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.data.column_names import (
    ANSWER_WORDS,
    ANSWERS,
    BESIDE,
    CONTEXTS,
    INSIDE,
    INSTRUCTIONS,
    NO_CONTENT,
    OF_ANSWERS,
    OF_NUMBERS,
    OF_QUESTIONS,
    OF_WRONG,
    OPTION_LISTS,
    OPTION_WORDS,
    PAIRS,
    QUESTIONS,
    RIGHT,
    SYSTEM,
    WRONG_LIST,
    plain_name,
)
from ais_prompt.data.row_options import GoldOfOptions, right_places
from ais_prompt.data.row_shape import RowShape, flat
from ais_prompt.data.row_values import PASSAGES, chat_of, parsed, split_chat
from ais_prompt.errors import DataError
from ais_prompt.utils import is_missing, late

ROWS_LOOKED_AT: Final = 1_000
"""Rows that decide what columns mean."""

UNKNOWN: Final = frozenset(("-1", "-", "?"))
"""Answers that say that there is none, in sets of which the answers are kept back."""

ENOUGH: Final = 0.5
"""Share of the rows that have the form of a file; the first of the others is refused by its number."""

Part: TypeAlias = Literal["columns", "chat", "options", "question", "answer"]
Found: TypeAlias = Mapping[str, Any]


class Look(Struct, frozen=True):
    """What is seen of a file.

    Attributes:
        rows: its rows, or the first of them; at least one.
        shape: what has been found so far.
        answer: the column that the user names as the answer; None if none is named.
        asked: the columns in the prompt of the user; None if the prompt is guessed.
        most: number of all rows, where ``rows`` are those that fit; 0 if they are all.
    """

    rows: Sequence[Mapping[str, Any]]
    shape: RowShape = RowShape()
    answer: str | None = None
    asked: Sequence[str] | None = None
    most: int = 0

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.rows[0])

    def values(self, name: str) -> list[Any]:
        """Return the values of a column that are there."""
        return [value for row in self.rows if not is_missing(value := row.get(name))]

    def first(self, known: Sequence[str], among: Iterable[str] | None = None) -> str | None:
        """Return the column with the likeliest of some names."""
        return next(self.all(known, among), None)

    def all(self, known: Sequence[str], among: Iterable[str] | None = None) -> Iterator[str]:
        """Yield the columns with any of some names, the likeliest first."""
        of = {plain_name(name): name for name in reversed(list(self.names if among is None else among))}
        return (of[name] for name in known if name in of)

    def holds(self, name: str, test: Callable[[Any], bool], share: float = 1) -> bool:
        """Return whether the values of a column that are there pass a test, or a share of them, and any is there."""
        values = self.values(name)
        return bool(values) and sum(map(test, values)) >= share * len(values)


class Shape(Struct, frozen=True):
    """A form in which people have rows.

    Attributes:
        name: in a word or two.
        about: what it is.
        part: what it is about. Of each part the first form that fits counts.
        example: a row.
        source: datasets or tools that write it.
        find: returns the keys of `RowShape` that read it; None if the file has another form.
    """

    name: str
    about: str
    part: Part
    example: Mapping[str, Any]
    source: str
    find: Callable[[Look], Found | None]


def is_text(value: Any) -> bool:
    """Return whether a prompt can write a value as it is."""
    return isinstance(value, str | int | float)


def _is_chat(name: str, value: Any) -> bool:
    try:  # most values are texts, which are not
        return isinstance(parsed(value), list | tuple) and bool(chat_of(name, value))
    except DataError:
        return False


# --- columns -------------------------------------------------------------------------------------------------------


def _inside(look: Look) -> Found | None:
    objects = [name for name in look.names if look.holds(name, lambda value: isinstance(parsed(value), Mapping))]
    answers = ("output", "expected", "expectations", "expected_output", "reference_outputs")
    holds: Mapping[str, Sequence[str]] = {
        **dict.fromkeys(("outputs", "reward_model"), ANSWERS),
        **dict.fromkeys(answers, tuple(name for name in ANSWERS if name != "label" and OF_ANSWERS.search(name))),
        **dict.fromkeys(("question", "题目", "问题"), (*QUESTIONS, *OPTION_LISTS)),
        **dict.fromkeys(("body", "request"), ("messages",)),
    }

    asked = {*(look.asked or ()), look.answer} - set(look.names)

    def is_opened(name: str) -> bool:
        keys = _keys(look, name)
        if any(key in asked for value in look.values(name) for key in parsed(value)):
            return True
        if plain_name(name) in INSIDE:
            return bool(keys & set(holds.get(plain_name(name), keys)))
        return bool(keys & {"question", "query", "问题"}) and bool(keys & {"answer", "答案"})

    found = [name for name in objects if name != look.answer and is_opened(name)]
    return {"inside": tuple(found)} if found else None


def _keys(look: Look, name: str) -> set[str]:
    return {plain_name(key) for value in look.values(name) for key in parsed(value)}


# --- chats ---------------------------------------------------------------------------------------------------------


def _chat(look: Look) -> Found | None:
    chats = (name for name in look.names if name != look.answer and look.holds(name, partial(_is_chat, name), ENOUGH))
    name = next(chats, None)
    if name is None:
        return None
    system = look.first(SYSTEM)
    return {"messages": name} if system in (None, name) else {"messages": name, "system": system}


# --- options -------------------------------------------------------------------------------------------------------


def _listed(look: Look) -> Found | None:
    for name in look.all(OPTION_LISTS):
        found = _with_gold(look, replace(look.shape, options=name)) if name != look.answer else None
        # A list of answers alone is no list of options.
        of_answers = plain_name(found.get("answer", "")) in ANSWERS if found else False
        if found and (plain_name(name) not in ANSWERS or of_answers or found.get("gold", "text") != "text"):
            return found
    return None


def _marked(look: Look) -> Found | None:
    for name in look.all(OPTION_LISTS):
        shape = replace(look.shape, options=name, gold="marked")
        if all(_fits(row, shape) for row in look.rows):
            return {"options": name, "gold": "marked"}
    return None


def _lettered(look: Look) -> Found | None:
    alphabets = ("abcdefghij", "абвгде", "أبجده", "甲乙丙丁戊")
    return next(filter(None, (_family(look, marks) for marks in alphabets)), None)


def _numbered(look: Look) -> Found | None:
    numbers = ("0123456789", "123456789", "一二三四五六七八九")
    return next(filter(None, (_family(look, marks) for marks in numbers)), None)


_NO_OPTIONS: Final = late(
    r".*(?:hint|step|sentence|sent|turn|context|passage|doc|evidence|paragraph|tag|note|question|q)"
)


def _family(look: Look, marks: str) -> Found | None:
    """Return options whose columns differ in one letter or number, in order from the first.

    Columns of another word than those of options need an answer that names one of them.
    """
    families: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for name in look.names:
        plain = plain_name(name)
        for mark, word in ((plain[-1:], plain[:-1]), (plain[:1], plain[1:])):
            if mark and mark in marks:
                families[word.strip("_")].setdefault(mark, name)
    for word, members in sorted(families.items(), key=lambda family: family[0] not in OPTION_WORDS):
        columns = tuple(
            members[mark]
            for mark, expected in zip(sorted(members, key=marks.find), marks, strict=False)
            if mark == expected
        )
        known = word in OPTION_WORDS
        if len(columns) < (2 if known else 3) or (
            not known and (_NO_OPTIONS.fullmatch(word) or not _are_texts(look, columns))
        ):
            continue
        found = _with_gold(look, replace(look.shape, options=columns), counted_from=int(marks[0] == "1"))
        # Numbered answers may all be right, unless a column says which of them is.
        others = any(name not in columns for name in look.all(ANSWERS))
        if found and ("answer" in found or (known and (others or word not in ANSWER_WORDS))):
            return found
    return None


def _are_texts(look: Look, columns: Sequence[str]) -> bool:
    return all(
        look.holds(name, lambda value: isinstance(value, str) and not value.strip().isdecimal()) for name in columns
    )


def _right_and_wrong(look: Look) -> Found | None:
    right = look.first(RIGHT)
    if right is None or not look.holds(right, is_text):
        return None
    wrong: str | tuple[str, ...] | None = look.first(WRONG_LIST)
    if wrong is None:
        wrong = tuple(name for name in look.names if OF_WRONG.fullmatch(plain_name(name)) and name != right)
    if not any(look.holds(name, is_text) for name in look.names if name not in (right, wrong) and name not in wrong):
        return None  # a text and its correction
    shape = replace(look.shape, options=wrong, right=right)
    fits = bool(wrong) and all(_fits(row, shape) for row in look.rows)
    return {"options": wrong, "right": right} if fits else None


_FORMS: Final[tuple[GoldOfOptions, ...]] = ("label", "letter", "text", "from 0", "from 1")


def _with_gold(look: Look, shape: RowShape, counted_from: int = 0) -> Found | None:
    """Return options with the column that names the right one, and how; without a column if there are no answers.

    Args:
        look: the file.
        shape: has the options.
        counted_from: the first number of the options, if both readings of a number fit.
    """
    if len(shape.options) < 2:
        return None
    look = replace(look, rows=[row for row in look.rows if _fits(row, shape)], most=look.most or len(look.rows))
    if len(look.rows) < ENOUGH * look.most:
        return None
    of_options = {shape.options} if isinstance(shape.options, str) else set(shape.options)
    no_gold = (*QUESTIONS, *CONTEXTS, *INSTRUCTIONS, *NO_CONTENT)
    free = [name for name in look.names if plain_name(name) not in no_gold]
    named = [look.answer] if look.answer else dict.fromkeys([*look.all(ANSWERS), *free])
    forms = sorted(_FORMS, key=lambda form: counted_from == 1 and form == "from 0")
    best, share = None, 0.0
    for name in named:
        for form in forms if name not in of_options else ():
            found = _share(look, replace(shape, answer=name, gold=form))
            if found > share and (found == 1 or plain_name(name) in ANSWERS or name == look.answer):
                best, share = (name, form), found
    if best is not None and share >= ENOUGH:
        return {
            "options": shape.options,
            "answer": best[0],
            "gold": best[1],
            **_unknown(replace(look, shape=shape), best[0]),
        }
    # Columns A and B may be anything; without a column of answers only their names say that they are options.
    answers = any(_known(look, name) for name in look.all(ANSWERS) if name not in of_options)
    return None if look.answer or answers else {"options": shape.options}


def _share(look: Look, shape: RowShape) -> float:
    """Return in which share of the rows that have a value in a column it names an option."""
    assert shape.answer is not None
    known = [row for row in look.rows if not is_missing(gold := row.get(shape.answer)) and str(gold) not in UNKNOWN]
    name = plain_name(shape.answer)
    if shape.gold.startswith("from") and name not in (*ANSWERS, look.answer) and not OF_NUMBERS.fullmatch(name):
        return 0.0  # any column of small numbers would do
    named = [right_places(shape.options_of(row), row[shape.answer], shape.gold) is not None for row in known]
    return sum(named) / len(named) if named else 0.0


def _known(look: Look, name: str) -> list[Any]:
    """Return the values of a column that are there and do not say that none is known."""
    return [value for value in look.values(name) if str(value) not in UNKNOWN]


def _unknown(look: Look, name: str) -> Found:
    """Return the key for answers that say that there is none: -1 beside numbers, - and ? beside words.

    The others name options, or are few: labels.
    """
    found = {str(value) for value in look.values(name)} & UNKNOWN
    others = [str(value) for value in _known(look, name)]
    signs = any(not other.isdecimal() and not re.search(r"[^\W\d]", other) for other in others)  # "+", "-2"
    if signs or not (look.shape.options or 2 * len(set(others)) <= len(others)):
        return {}
    is_number = [other.isdecimal() for other in others]
    said = tuple(one for one in sorted(found) if (all(is_number) if one == "-1" else not any(is_number)))
    return {"unknown": said} if said else {}


def _fits(row: Mapping[str, Any], shape: RowShape) -> bool:
    try:
        return bool(shape.row(row))
    except DataError:
        return False


# --- questions -----------------------------------------------------------------------------------------------------


def _pair(look: Look) -> Found | None:
    for pair in PAIRS:
        found = [look.first((name,)) for name in pair]
        if None not in found:
            return {"question": tuple(found)}
    return None


def _question(look: Look) -> Found | None:
    name = _question_column(look)
    if name is None and look.shape.options:  # they go on where the context ends
        name = look.first(CONTEXTS)
    if name is None:
        return None
    lists = [one for one in look.all(PASSAGES) if look.holds(one, lambda value: isinstance(value, list | Mapping))]
    taken = (name, look.shape.answer, look.answer)
    above, contexts, beside = (
        [one for one in some if one not in taken]
        for some in (look.all(INSTRUCTIONS), (*look.all(CONTEXTS), *lists), look.all(BESIDE))
    )
    # A text that holds the question is another form of it, often with the answer.
    contexts = [one for one in contexts if _is_content(look, one) and not _holds(look, one, (*above, name))]
    return {"question": tuple(dict.fromkeys((*above, *contexts[:1], *beside, name)))}


_TWO_WORDS: Final = late(r"[^\W\d_]{2,}\W+[^\W\d_]{2,}")


def _is_content(look: Look, name: str) -> bool:
    """Return whether a column holds texts, and no numbers of passages alone."""
    return look.holds(name, lambda value: isinstance(value, str) or bool(_TWO_WORDS.search(str(value))))


def _holds(look: Look, context: str, others: Sequence[str]) -> bool:
    """Return whether the texts of a column hold those of any of the others that are more than a few words."""
    rows = [(str(row.get(context)), [str(row.get(other) or "").strip() for other in others]) for row in look.rows]
    return sum(any(len(said) > 15 and said in text for said in some) for text, some in rows) > ENOUGH * len(rows)


def _question_column(look: Look) -> str | None:
    """Return the column of the question: by its name, else the only one, or the only one that asks."""
    taken = {look.answer, look.shape.answer, look.shape.right, look.shape.options, *look.shape.options}
    free = [name for name in look.names if name not in taken]
    texts = [name for name in free if look.holds(name, is_text, ENOUGH)]
    if named := next(look.all(QUESTIONS, texts), None):
        return named
    others = [name for name in texts if plain_name(name) not in NO_CONTENT]
    worded = [name for name in others if OF_QUESTIONS.search(plain_name(name))]
    if len(worded) == 1:
        return worded[0]
    asking = [name for name in others if look.holds(name, lambda value: str(value).rstrip().endswith(("?", "？")))]
    if len(asking) == 1:
        return asking[0]
    if any(OF_QUESTIONS.search(plain_name(name)) for name in free if name not in texts):  # a list of them, as in CoQA
        return None
    words = [name for name in others if look.holds(name, lambda value: isinstance(value, str), ENOUGH)]
    unknown = [name for name in words if plain_name(name) not in ANSWERS]
    if unknown and len(others) <= 2:
        return unknown[0]
    return look.first(("source", "src", "source_text", "incorrect"), texts) if look.first(ANSWERS, free) else None


# --- answers -------------------------------------------------------------------------------------------------------


def _asserted(look: Look) -> Found | None:
    name = look.first(("assert", "asserts", "assertions"))
    if name is None:
        return None
    equal = ("equals", "contains", "icontains", "iequals", "is-json")
    is_equal = look.holds(
        name,
        lambda value: (
            isinstance(value, list)
            and len(value) == 1
            and isinstance(value[0], Mapping)
            and value[0].get("type", "equals") in equal
            and "value" in value[0]
        ),
    )
    return {"answer": f"{name}.0.value"} if is_equal else None


def _parsed(look: Look) -> Found | None:
    name = _answer_column(look)
    if name is None or not look.holds(name, lambda value: isinstance(value, str) and parsed(value) is not value):
        return None
    # "[0, 2]" may be an interval or a point, "[[a]]" is how a prompt wants it; answers that all count are seldom such.
    written = look.holds(name, lambda value: all(isinstance(one, int | float | list) for one in parsed(value)))
    return None if written else {"answer": name, "parsed": True}


def _answer(look: Look) -> Found | None:
    name = _answer_column(look)
    return None if name is None else {"answer": name, **_unknown(look, name)}


def _answer_column(look: Look) -> str | None:
    """Return the column of the answer: the named one, one of a known name, or the only other one."""
    if look.answer is not None:
        return look.answer
    shape = look.shape
    of_options = (shape.options,) if isinstance(shape.options, str) else shape.options
    taken = {*shape.question, *of_options, shape.messages, *(look.asked or ())}
    free = [name for name in look.names if name not in taken and look.values(name)]
    # A prompt with several columns may hold that of the answer, which is masked: "{question} = {answer}".
    among = [*free, *look.asked] if look.asked and len(look.asked) > 1 else free
    named = [*look.all(ANSWERS, among)]
    if named:
        # An object without answers is none: the ``target`` of WSC is what is asked about.
        known = {"text", "value", "spans", "aliases", "answer", "answers"}
        plain = (
            name
            for name in named
            if not look.holds(name, lambda value: isinstance(value, Mapping) and not value.keys() & known)
        )
        best = next(plain, named[0])
        # The name of a label says more than its number.
        worded = [f"{plain_name(best)}_{word}" for word in ("text", "name")]
        return best if look.answer else look.first(worded, among) or best
    others = [name for name in free if plain_name(name) not in NO_CONTENT and not _counts_rows(look, name)]
    for some in (others, [name for name in others if OF_ANSWERS.search(plain_name(name))]):
        if len(some) == 1 and (len(look.rows) == 1 or len({str(value) for value in look.values(some[0])}) > 1):
            return some[0]
    rest = [name for name in free if plain_name(name) in ("category", "type", "topic", "subject", "类别", "学科")]
    varies = len(rest) == 1 and len({str(value) for value in look.values(rest[0])}) > 1
    return rest[0] if varies and not others else None


def _counts_rows(look: Look, name: str) -> bool:
    """Return whether a column numbers the rows."""
    texts = [str(row.get(name)) for row in look.rows]
    numbers = [int(text) for text in texts if text.isdecimal()]
    return len(numbers) == len(texts) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


_TURNS: Final = [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]
SHAPES: Final = (
    Shape(
        "objects",
        "the columns are keys of an object",
        "columns",
        {"vars": {"question": "2 + 2?", "expected": "4"}},
        "promptfoo, LangSmith (`inputs`, `outputs`), verl (`reward_model`)",
        _inside,
    ),
    Shape(
        "chat",
        "chat turns; the last one, of the assistant, is the answer and is not sent",
        "chat",
        {"messages": _TURNS},
        "fine-tuning files of OpenAI, ShareGPT (`conversations`), OpenAI evals (`input`, `ideal`), LiveBench (`turns`)",
        _chat,
    ),
    Shape(
        "lettered options",
        "a column for each option, named by its letter",
        "options",
        {"question": "2 + 2?", "A": "3", "B": "4", "answer": "B"},
        "CMMLU, C-Eval, MedMCQA (`opa`, `cop`)",
        _lettered,
    ),
    Shape(
        "numbered options",
        "a column for each option, named by its number",
        "options",
        {"goal": "Dry a cup", "sol1": "a towel", "sol2": "water", "label": 0},
        "PIQA, WinoGrande, SWAG (`ending0`), SIQA",
        _numbered,
    ),
    Shape(
        "marked options",
        "options of which the right one is marked",
        "options",
        {"question": "2 + 2?", "options": [{"text": "3", "correct": False}, {"text": "4", "correct": True}]},
        "TruthfulQA (`mc1_targets`), BIG-bench (`target_scores`), quiz tools",
        _marked,
    ),
    Shape(
        "listed options",
        "options in a list, as texts and labels, or in one text; the answer is a letter, label, text or number",
        "options",
        {"question": "2 + 2?", "choices": ["3", "4"], "answer": 1},
        "MMLU, ARC (`{text, label}`), CommonsenseQA, MedQA (`{A: …}`), HellaSwag (`endings`), RACE",
        _listed,
    ),
    Shape(
        "right and wrong options",
        "the right option and the wrong ones; they are shuffled",
        "options",
        {"question": "2 + 2?", "correct_answer": "4", "distractor1": "3", "distractor2": "5"},
        "SciQ, GPQA (`Incorrect Answer 1`), Open Trivia DB (`incorrect_answers`)",
        _right_and_wrong,
    ),
    Shape(
        "two texts",
        "two texts, of which something is asked",
        "question",
        {"premise": "It rains.", "hypothesis": "It is wet.", "label": "entailment"},
        "SNLI, MNLI, MRPC, QQP",
        _pair,
    ),
    Shape(
        "question",
        "a question, below its context if there is one",
        "question",
        {"context": "Ann is 4.", "question": "How old is Ann?", "answer": "4"},
        "SQuAD, BoolQ (`passage`), Alpaca (`instruction`, `input`), ragas (`retrieved_contexts`), HotpotQA, MuSiQue",
        _question,
    ),
    Shape(
        "assertion",
        "the value that an assertion compares with",
        "answer",
        {"question": "2 + 2?", "assert": [{"type": "equals", "value": "4"}]},
        "promptfoo",
        _asserted,
    ),
    Shape(
        "JSON in a text",
        "a list or an object of answers, as a text",
        "answer",
        {"question": "2 + 2?", "answer": '["4", "four"]'},
        "CSV files of pandas",
        _parsed,
    ),
    Shape(
        "answer",
        "a column with the answer",
        "answer",
        {"question": "2 + 2?", "target": "4"},
        "most files",
        _answer,
    ),
)
"""The table; of each part the first form that fits counts."""


def find_shape(
    rows: Sequence[Mapping[str, Any]], *, answer: str | None = None, asked: Sequence[str] | None = None
) -> tuple[RowShape, list[Shape]]:
    """Return what rows mean, and the forms that said so.

    Args:
        rows: of a file, the first of them or all.
        answer: the column that the user names as the answer.
        asked: the columns in the prompt that the user wrote; None if the question is to be found.
    """
    look = Look(rows[:ROWS_LOOKED_AT], answer=answer, asked=asked)
    inside: tuple[str, ...] = ()
    found: list[Shape] = []
    for shape in SHAPES:
        if any(one.part == shape.part for one in found) or _is_known(shape.part, look):
            continue
        keys = shape.find(look)
        if keys is None:
            continue
        found.append(shape)
        if shape.part == "columns":  # what is looked for next is found in rows that are flat already
            inside = keys["inside"]
            look = replace(look, rows=[flat(row, inside) for row in look.rows])
        else:
            look = replace(look, shape=replace(look.shape, **keys))
    return replace(look.shape, inside=inside), found


def _is_known(part: Part, look: Look) -> bool:
    """Return whether what was found so far leaves nothing to find for a part."""
    shape = look.shape
    if part == "chat":
        return look.asked is not None
    if part == "question":
        return look.asked is not None or shape.messages is not None
    if part == "answer":
        if shape.options or shape.answer is not None:
            return True
        name = shape.messages
        if name is not None and look.answer is None:  # chats may end with the answer
            chats = [chat_of(name, value) for value in look.values(name) if _is_chat(name, value)]
            return all(split_chat(chat)[1] is not None for chat in chats)
    return False
