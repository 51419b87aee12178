"""Describe a file with questions as a dataset (``--data FILE``): columns and scoring are guessed from its rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from ais_prompt.config.paths import resolve_data_path
from ais_prompt.errors import ConfigError
from ais_prompt.postprocess.numbers import to_decimal
from ais_prompt.prompts.prompt_list import mark_of
from ais_prompt.readers.formats import guessed_csv_form
from ais_prompt.readers.local import LocalDataset
from ais_prompt.utils.text import counted, listed

QUESTIONS: Final = (
    *("question", "prompt", "query", "problem", "input", "instruction", "text"),
    *("问题", "题目", "提问", "题干", "输入", "指令"),
)
ANSWERS: Final = (
    *("answer", "gold", "target", "expected", "reference", "label", "ground_truth", "solution", "ideal", "output"),
    *("gold_answer", "correct_answer", "expected_answer", "reference_answer", "expected_output"),
    *("答案", "标准答案", "参考答案", "正确答案", "回答", "输出"),
)
CONTEXTS: Final = ("context", "passage", "document", "instruction", "上下文", "材料", "文章", "指令")
_LISTS: Final = ("choices", "options", "选项")
_NO_CONTENT: Final = ("id", "index", "idx", "no", "", "category", "source", "level", "编号", "序号", "类别", "来源")
"""Names of columns, the likeliest first, in small letters and with ``_`` for blanks."""
NONE: Final = "none"
"""In place of a postprocessor: the whole answer is scored."""
_OPTION: Final = re.compile(r"(?:option|choice|选项)?_?([a-z])")
_MARK: Final = re.compile(r"\{\{\s*(?P<double>[^{}\n]+?)\s*\}\}|\{\s*(?P<single>[^{}\n]+?)\s*\}")
_NAME: Final = re.compile(r"[^\W\d]\w*")
_ROWS: Final = 200
"""Rows that decide what the gold answers are."""
_ICE: Final = "</E>"
_INSTRUCTION: Final = {
    False: "Answer with the letter of the right option.",
    True: "请回答正确选项的字母。",
}
"""Whether the columns have Chinese names → what follows the options."""


AnswerKind: TypeAlias = Literal["letter", "number", "text", "exact"]
SCORING: Final[Mapping[AnswerKind, tuple[str | None, Mapping[str, Any]]]] = {
    "letter": ("first_option_postprocess", {"type": "AccEvaluator"}),
    "number": ("gsm8k_postprocess", {"type": "Gsm8kEvaluator"}),
    "text": (None, {"type": "ContainedAnswerEvaluator", "first_line": False}),
    "exact": (None, {"type": "AccEvaluator"}),
}
"""What gold answers are → postprocessor and evaluator."""
_WORDS: Final[Mapping[AnswerKind, str]] = {
    "letter": "a letter",
    "number": "a number",
    "text": "a text that is in the model's answer",
    "exact": "a text that equals the model's answer",
}


class DataFile(Struct, frozen=True):
    """A file with questions, and what is said of it; None where it is to be guessed.

    Attributes:
        path: JSONL, JSON, CSV, TSV or Parquet, or a folder with a file for each split.
        prompt: the question, with ``{column}`` or ``{{column}}``. ``{{other}}`` is sent as ``{other}``.
        answer: the column of the gold answer.
        postprocessor: name or dotted path; `NONE` for none.
        evaluator: name or dotted path.
        few_shot: examples in front of each question.
        kind: what gold answers are: the letter of an option, a number, a text that an answer contains or equals.
    """

    path: str
    prompt: str | None = None
    answer: str | None = None
    postprocessor: str | None = None
    evaluator: str | None = None
    few_shot: int = 0
    kind: AnswerKind | None = None


class Description(NamedTuple):
    """What a file means.

    Attributes:
        dataset: its config.
        sentence: what was guessed.
        kind: what the gold answers are; None without any.
    """

    dataset: dict[str, Any]
    sentence: str
    kind: AnswerKind | None


def describe_file(data: DataFile) -> Description:
    """Return the dataset that a file means.

    Raises:
        ConfigError: a column that is named is not there, or that of the question is not known; it lists the columns.
        DataError: the file cannot be read.
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
    return found._replace(sentence=f"{data.path}: {counted(len(table), 'row')}; {found.sentence}")


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
        ConfigError: as `describe_file`.
    """
    options = _options(columns)
    prompt, asked_for = _written(data, columns) if data.prompt else _guessed(data, columns, options)
    answer = _answer(data.answer, columns, asked_for)
    inputs = [column for column in asked_for if column != answer]
    found = [] if answer is None else [row.get(answer) for row in islice(rows, _ROWS)]
    golds = [gold for value in found if value is not None and (gold := str(value).strip())]
    kind = data.kind or _kind(golds, options) if golds else None
    scoring = {} if kind is None else _scoring(kind, golds, options, data)
    turns = [{"role": "HUMAN", "prompt": prompt}]
    if answer is not None:
        turns.append({"role": "BOT", "prompt": mark_of(answer)})
    infer: dict[str, Any] = {"prompt_template": {"type": "PromptTemplate", "template": {"round": turns}}}
    if data.few_shot:
        if answer is None:
            raise ConfigError(
                f"--few-shot needs the column of the answer, and {data.path} has none of a known name",
                fix=f"--answer with one of: {listed(columns)}",
            )
        infer = {
            "ice_template": infer["prompt_template"],
            "prompt_template": {
                "type": "PromptTemplate",
                "template": {"begin": _ICE, "round": turns},
                "ice_token": _ICE,
            },
            "retriever": {"type": "RandomRetriever", "ice_num": data.few_shot, "exclude_self": True},
        }
    dataset = {
        "abbr": Path(data.path).name.partition(".")[0] or "data",
        **source,
        "reader_cfg": {"input_columns": inputs, "output_column": answer},
        "infer_cfg": {**infer, "inferencer": {"type": "GenInferencer"}},
        **({"eval_cfg": scoring} if scoring else {}),
    }
    asked = f"the question is {listed(map(mark_of, inputs))}"
    if kind is None or answer is None:
        return Description(
            dataset, f"{asked}; no column has a known name for the answer, so nothing is scored: --answer COLUMN", None
        )
    parts = [scoring[key]["type"] for key in ("pred_postprocessor", "evaluator") if key in scoring]
    return Description(dataset, f"{asked}, the answer {mark_of(answer)} is {_WORDS[kind]} ({', '.join(parts)})", kind)


def _guessed(data: DataFile, columns: Sequence[str], options: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return a prompt of the columns with known names, and these columns."""
    question = _first(QUESTIONS, columns)
    others = [column for column in columns if _plain(column) not in _NO_CONTENT]
    if question is None and len(others) <= 2:
        question = next((column for column in others if column not in (data.answer, _first(ANSWERS, columns))), None)
    lists = _first(_LISTS, columns)
    if question is None or (lists and not options):
        what = f"no column of {data.path} has a known name for the question, such as 'question' or '问题'"
        if question is not None:
            what = f"the options of {data.path} are together in {lists!r}; each needs a column of its own: A, B, C, …"
        fix = f'--prompt "…{mark_of("column")}…" with: {listed(columns)}'
        raise ConfigError(what, where="--data", fix=fix)
    above = [column for column in [_first(CONTEXTS, columns)] if column not in (None, question)]
    lines = [*(mark_of(column) + "\n" for column in above if column), mark_of(question)]
    lines += [f"{letter}. {mark_of(column)}" for letter, column in options.items()]
    lines += [_INSTRUCTION[not question.isascii()]] if options else []
    return "\n".join(lines), [*filter(None, above), question, *options.values()]


def _answer(named: str | None, columns: Sequence[str], asked_for: Sequence[str]) -> str | None:
    """Return the column of the gold answer: the named one, one of a known name, or the only other one."""
    if named is not None and named not in columns:
        raise ConfigError(f"there is no column {named!r}", where="--answer", fix=f"columns: {listed(columns)}")
    others = [column for column in columns if column not in asked_for and _plain(column) not in _NO_CONTENT]
    only = others[0] if len(others) == 1 else None
    return named or _first(ANSWERS, columns if len(asked_for) > 1 else others) or only


def _written(data: DataFile, columns: Sequence[str]) -> tuple[str, list[str]]:
    """Return the prompt of the user as a template has it, and the columns in it."""
    text, path = data.prompt or "", data.path
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


def _kind(golds: Sequence[str], options: Mapping[str, str]) -> AnswerKind:
    if options and all(gold.upper() in options for gold in golds):
        return "letter"
    return "number" if all(to_decimal(gold) is not None for gold in golds) else "text"


def _scoring(kind: AnswerKind, golds: Sequence[str], options: Mapping[str, str], data: DataFile) -> dict[str, Any]:
    """Return the ``eval_cfg``."""
    if kind == "text" and data.postprocessor not in (None, NONE):
        kind = "exact"  # what is left of the answer is compared, not searched
    extract, evaluator = SCORING[kind]
    scoring: dict[str, Any] = {"evaluator": dict(evaluator)}
    if extract is not None:
        scoring["pred_postprocessor"] = {"type": extract}
    if kind == "letter":
        if options and list(options) != list("ABCD"):
            scoring["pred_postprocessor"]["options"] = "".join(options)
        if not all(map(str.isupper, golds)):
            scoring["evaluator"]["ignore_case"] = True
    if data.postprocessor == NONE:
        scoring.pop("pred_postprocessor", None)
    elif data.postprocessor is not None:
        scoring["pred_postprocessor"] = {"type": data.postprocessor}
    if data.evaluator is not None:
        scoring["evaluator"] = {"type": data.evaluator}
    return scoring


def _options(columns: Sequence[str]) -> dict[str, str]:
    """Return letter → column of the options: ``A``, ``option_a``, ``选项A``; empty unless there are two."""
    found = {match[1].upper(): column for column in columns if (match := _OPTION.fullmatch(_plain(column)))}
    letters = [letter for letter, expected in zip(sorted(found), "ABCDEFGHIJ", strict=False) if letter == expected]
    return {letter: found[letter] for letter in letters} if len(letters) > 1 else {}


def _first(names: Sequence[str], columns: Sequence[str]) -> str | None:
    plain = {_plain(column): column for column in reversed(columns)}
    return next((plain[name] for name in names if name in plain), None)


def _plain(column: str) -> str:
    return column.strip().lower().replace(" ", "_")
