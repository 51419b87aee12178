"""What the columns of a file mean: `SHAPES`, a table of the forms in which people have questions, options and answers.

Each form has an example row, where it comes from, and what finds it by the names of the columns and by their values.
What is found is a `RowShape`, which the reader of the file takes. The reference shows this table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.data.row_options import GoldOfOptions, right_places
from ais_prompt.data.row_shape import RowShape, flat
from ais_prompt.data.row_values import PASSAGES, chat_of, parsed, split_chat
from ais_prompt.errors import DataError
from ais_prompt.utils import is_missing, late

QUESTIONS: Final = (
    *("question", "question_stem", "question_text", "problem", "problem_text", "problem_statement", "prompt", "query"),
    *("user_input", "user_message"),
    *("user_query", "input", "instruction", "goal", "stem", "statement", "claim", "utterance", "sentence", "review"),
    *("ctx", "text", "content", "hypothesis", "q", "user", "task", "tweet", "comment", "headline", "inputs"),
    *("original_text", "message", "body", "startphrase"),
    *("问题", "题目", "提问", "题干", "试题", "输入", "指令", "文本", "句子", "评论", "内容", "用户输入"),
)
ANSWERS: Final = (
    *("answer", "gold", "target", "expected", "reference", "label_text", "label_desc", "label_des", "label_name"),
    *("category_name", "label", "ground_truth", "final_answer", "answer_number", "solution", "ideal", "output", "ans"),
    *("golden", "answers", "gold_answer", "correct_answer", "expected_answer", "reference_answer", "expected_output"),
    *("answerkey", "answer_key", "answer_idx", "answer_index", "correct_option", "correct_choice", "correct_index"),
    *("correct", "gold_label", "gold_index", "gold_idx", "correct_answer_num", "gt_answer", "cop", "right_answer"),
    *("ground_truths", "groundtruth", "targets", "references", "expected_response", "response", "completion", "labels"),
    *("class", "sentiment", "intent", "emotion", "a", "best_answer", "value", "__expected", "golden_answers"),
    *("possible_answers", "mc_answer", "assistant", "final_decision"),
    *("答案", "标准答案", "参考答案", "正确答案", "正确选项", "回答", "输出", "标签", "情感", "结果", "解答"),
)
CONTEXTS: Final = (
    *("context", "passage", "document", "article", "paragraph", "story", "background", "evidence", "support"),
    *("contexts", "retrieved_contexts", "reference_contexts", "dialogue", "dialog", "theory", "premise", "instruction"),
    *("narrative", "patient_note", "puzzle", "flores_passage", "rule_content", "body", "sentence", "input"),
    *("system_prompt", "system_message", "system"),
    *("上下文", "材料", "文章", "段落", "背景", "指令"),
)
BESIDE: Final = ("pre_text", "table", "table_text", "post_text")
"""Columns that the question is about beside its context, in this order."""
OF_QUESTIONS: Final = late(r"(?:^|_)(?:question|problem|prompt|query|utterance)s?(?:_|$)|问题|题目|题干|提问")
OF_ANSWERS: Final = late(r"(?:^|_)(?:answer|gold|target|expected|label)s?(?:_|$)|答案|标签")
"""Words in the names of columns that have more words: ``question_text``, ``标准答案文本``."""
PAIRS: Final = (
    ("premise", "hypothesis"),
    ("premises", "conclusion"),
    ("word", "sentence1", "sentence2"),
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("text1", "text2"),
    ("前提", "假设"),
)
NO_CONTENT: Final = (
    *("id", "index", "idx", "no", "", "category", "source", "level", "type", "subject", "topic", "difficulty", "split"),
    *("uid", "uuid", "qid", "question_id", "task_id", "sample_id", "meta", "metadata", "tags", "explanation", "url"),
    *("cluster", "dataset", "language", "lang", "chosen", "rejected", "checklist", "rubric"),
    *("编号", "序号", "类别", "来源", "难度", "学科", "解析"),
)
"""Names of columns, the likeliest first, in small letters and with ``_`` for blanks."""
OPTION_LISTS: Final = (
    *("choices", "options", "candidates", "endings", "alternatives", "answer_choices", "answer_options", "option"),
    *("choice", "mc1_targets", "target_scores", "multiple_choice_targets", "answers", "选项", "候选", "备选"),
)
RIGHT: Final = ("correct_answer", "right_answer", "correct", "正确答案")
WRONG_LIST: Final = ("incorrect_answers", "wrong_answers", "distractors", "错误答案", "干扰项")
INSIDE: Final = (
    *("vars", "inputs", "outputs", "input", "question", "example", "fields", "item", "data", "row", "doc"),
    "reward_model",
)
"""Columns whose objects hold the columns, in datasets of tests and traces."""
_WRONG: Final = late(r"(?:incorrect|wrong|distractor|错误答案|干扰项)s?_?(?:answer|option|choice)?s?_?\d{0,2}")
_LETTERED: Final = late(r"(?:option|choice|opt|op|answer|ans|选项)?_?([a-j])")
_NUMBERED: Final = late(r"(option|choice|opt|op|ending|sol|candidate|answer|ans|选项|mc|mc_answer|holding)_?(\d)")

ROWS_LOOKED_AT: Final = 1_000
"""Rows that decide what columns mean."""

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


def plain_name(column: str) -> str:
    """Return a name as the tables have it."""
    return re.sub(r"[\s-]+", "_", column.strip()).lower()


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
    named = [name for name in objects if plain_name(name) in INSIDE]
    holds: Mapping[str, Sequence[str]] = {
        "outputs": ANSWERS,
        "reward_model": ANSWERS,
        "question": (*QUESTIONS, *OPTION_LISTS),
    }
    found = [name for name in named if _keys(look, name) & set(holds.get(plain_name(name), _keys(look, name)))]
    return {"inside": tuple(found)} if found else None


def _keys(look: Look, name: str) -> set[str]:
    return {plain_name(key) for value in look.values(name) for key in parsed(value)}


# --- chats ---------------------------------------------------------------------------------------------------------


def _chat(look: Look) -> Found | None:
    chats = (name for name in look.names if name != look.answer and look.holds(name, partial(_is_chat, name), ENOUGH))
    name = next(chats, None)
    return None if name is None else {"messages": name}


# --- options -------------------------------------------------------------------------------------------------------


def _listed(look: Look) -> Found | None:
    for name in look.all(OPTION_LISTS):
        found = _with_gold(look, replace(look.shape, options=name)) if name != look.answer else None
        if found and (name not in ANSWERS or "answer" in found):  # a list of answers alone is no list of options
            return found
    return None


def _marked(look: Look) -> Found | None:
    for name in look.all(OPTION_LISTS):
        shape = replace(look.shape, options=name, gold="marked")
        if all(_fits(row, shape) for row in look.rows):
            return {"options": name, "gold": "marked"}
    return None


def _lettered(look: Look) -> Found | None:
    found = {match[1]: name for name in look.names if (match := _LETTERED.fullmatch(plain_name(name)))}
    letters = [letter for letter, expected in zip(sorted(found), "abcdefghij", strict=False) if letter == expected]
    return _with_gold(look, replace(look.shape, options=tuple(found[letter] for letter in letters)))


def _numbered(look: Look) -> Found | None:
    families: dict[str, dict[int, str]] = {}
    for name in look.names:
        if match := _NUMBERED.fullmatch(plain_name(name)):
            families.setdefault(match[1], {})[int(match[2])] = name
    for numbers in families.values():
        first = min(numbers)
        if first <= 1 and sorted(numbers) == list(range(first, first + len(numbers))):
            columns = tuple(numbers[number] for number in sorted(numbers))
            if found := _with_gold(look, replace(look.shape, options=columns), counted_from=first):
                return found
    return None


def _right_and_wrong(look: Look) -> Found | None:
    right = look.first(RIGHT)
    if right is None or not look.holds(right, is_text):
        return None
    wrong: str | tuple[str, ...] | None = look.first(WRONG_LIST)
    if wrong is None:
        wrong = tuple(name for name in look.names if _WRONG.fullmatch(plain_name(name)) and name != right)
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
    free = [name for name in look.names if plain_name(name) not in (*QUESTIONS, *CONTEXTS, *NO_CONTENT)]
    named = [look.answer] if look.answer else dict.fromkeys([*look.all(ANSWERS), *free])
    forms = sorted(_FORMS, key=lambda form: counted_from == 1 and form == "from 0")
    best, share = None, 0.0
    for name in named:
        for form in forms if name not in of_options else ():
            found = _share(look, replace(shape, answer=name, gold=form))
            if found > share and (found == 1 or plain_name(name) in ANSWERS or name == look.answer):
                best, share = (name, form), found
    if best is not None and share >= ENOUGH:
        return {"options": shape.options, "answer": best[0], "gold": best[1]}
    # Columns A and B may be anything; without a column of answers only their names say that they are options.
    answers = any(look.values(name) for name in look.all(ANSWERS) if name not in of_options)
    return None if look.answer or answers else {"options": shape.options}


def _share(look: Look, shape: RowShape) -> float:
    """Return in which share of the rows that have a value in a column it names an option."""
    assert shape.answer is not None
    known = [row for row in look.rows if not is_missing(row.get(shape.answer))]
    if shape.gold.startswith("from") and plain_name(shape.answer) not in (*ANSWERS, look.answer):
        return 0.0  # any column of small numbers would do
    named = [right_places(shape.options_of(row), row[shape.answer], shape.gold) is not None for row in known]
    return sum(named) / len(named) if named else 0.0


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
    if name is None:
        return None
    lists = [one for one in look.all(PASSAGES) if look.holds(one, lambda value: isinstance(value, list | Mapping))]
    contexts = (one for one in (*look.all(CONTEXTS), *lists) if one not in (name, look.shape.answer, look.answer))
    beside = [one for one in look.all(BESIDE) if one not in (name, look.shape.answer, look.answer)]
    return {"question": tuple(filter(None, (next(contexts, None), *beside, name)))}


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
    return unknown[0] if unknown and len(others) <= 2 else None


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
    return None if name is None else {"answer": name}


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
        return next(plain, named[0])
    others = [name for name in free if plain_name(name) not in NO_CONTENT and not _counts_rows(look, name)]
    for some in (others, [name for name in others if OF_ANSWERS.search(plain_name(name))]):
        if len(some) == 1:
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
    found: list[Shape] = []
    for shape in SHAPES:
        if any(one.part == shape.part for one in found) or _is_known(shape.part, look):
            continue
        keys = shape.find(look)
        if keys is None:
            continue
        found.append(shape)
        look = replace(look, shape=replace(look.shape, **keys))
        if shape.part == "columns":
            look = replace(look, rows=[flat(row, look.shape.inside) for row in look.rows])
    return look.shape, found


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
