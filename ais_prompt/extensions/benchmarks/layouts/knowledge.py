"""Multiple choice about knowledge: MMLU, C-Eval, ARC, GPQA and others."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ais_prompt.extensions.benchmarks.layouts.files import csv_records, csv_rows, json_items
from ais_prompt.extensions.benchmarks.layouts.layout import (
    Call,
    Layout,
    Rows,
    columns,
    each,
    file,
    folder,
    hub,
    letters,
    renamed,
)
from ais_prompt.readers.table import Row

_MMLU: Final = columns("input A B C D target")
_NUMBERED: Final = columns("_ question A B C D answer", skip_header=True)
_OPTIONS: Final = "ABCDEFGHIJKLMNOP"
_CIRCLE: Final = ("ABCD", "BCDA", "CDAB", "DABC")


def _arc(value: Any) -> Row | None:
    question = value["question"]
    if len(question["choices"]) != 4:
        return None
    labels = [choice["label"] for choice in question["choices"]]
    texts = {f"text{letter}": text for letter, text in letters([one["text"] for one in question["choices"]]).items()}
    return {"question": question["stem"], "answerKey": "ABCD"[labels.index(value["answerKey"])], **texts}


def _ceval(value: Row) -> Row:
    return {**value, **{name: value.get(name, "") for name in ("explanation", "answer")}}


def _commonsense(value: Any) -> Row:
    texts = [choice["text"] for choice in value["question"]["choices"][:5]]
    return {"question": value["question"]["stem"], **letters(texts), "answerKey": value["answerKey"]}


def _commonsense_cn(value: Row) -> Row:
    kept = {name: item for name, item in value.items() if name not in ("question_concept", "id", "choices")}
    return {**kept, **letters(value["choices"]["text"][:5])}


def _open_book(value: Any, *, as_question: bool = False) -> Row:
    question = value["question"]["stem"]
    if as_question and not question.endswith("?"):
        question += " what?"
    texts = letters([choice["text"] for choice in value["question"]["choices"][:4]])
    fact = {"fact1": value["fact1"]} if "fact1" in value else {}
    return {**texts, "question_stem": question, "answerKey": value["answerKey"], **fact}


def _mmlu_pro(values: Iterator[Row], call: Call) -> Iterable[Row]:
    for value in values:
        if value["category"] != call.arguments["category"]:
            continue
        options = [
            f"{letter}. {text}\n" for letter, text in zip(_OPTIONS, value["options"], strict=False) if text != "N/A"
        ]
        right = [option for option in options if option.startswith(f"{value['answer']}. ")]
        yield {
            **value,
            "cot_content": value["cot_content"].removeprefix("A: Let's think step by step.").strip(),
            "answer_string": right[0] if right else "",
            "options_str": "".join(options).strip(),
        }


def _gpqa_questions(values: Iterator[Sequence[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the questions with their options, the right one first."""
    return ((value[7], list(value[8:12])) for value in values if value[7] != "Question")


def _gpqa(values: Iterator[Sequence[str]], call: Call) -> Iterable[Row]:  # noqa: ARG001
    for number, (question, options) in enumerate(_gpqa_questions(values), 1):
        order = _CIRCLE[number % 4]
        shown = letters([options["ABCD".index(letter)] for letter in order])
        answer = next(letter for letter, text in shown.items() if text == options[0])
        yield {"question": question, **shown, "answer": answer}


def _gpqa_simple_evals(values: Iterator[Sequence[str]], call: Call) -> Iterable[Row]:  # noqa: ARG001
    questions = list(_gpqa_questions(values))
    draw = random.Random(0)
    for question, options in questions * 4:
        order = draw.sample(range(4), 4)
        shown = [options[place] for place in order]
        answer = "ABCD"[order.index(0)]
        yield {"question": question, "answer": answer, "options": shown, "permutation": order, **letters(shown)}


def _of_category(values: Iterator[Row], call: Call) -> Iterable[Row]:
    wanted = call.arguments["category"]
    for value in values:
        if value["image"] == "" and wanted in (None, value["category"]):
            yield renamed(value, "question", "problem")


def _chembench(value: Any) -> Row:
    return {"input": value["question"], **{letter: value[letter] for letter in "ABCD"}, "target": value["answer"]}


def _rbench(value: Any) -> Row:
    options = {f"RBench_Option_{letter}": value[letter] for letter in "ABCDEF"}
    return {"RBench_Question_Input": value["question"], **options, "target": value["answer"]}


def _mmmlu(value: Row) -> Row:
    subject = value["Subject"].replace("_", " ")
    return {"input": value["Question"], **{k: value[k] for k in "ABCD"}, "target": value["Answer"], "subject": subject}


def _mmmlu_language(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the configuration on the hub: ``mmlu_AR-XY`` is AR_XY."""
    return {"name": arguments["name"].split("_")[1].replace("-", "_")}


def _exam(rows: Rows, ending: str = "") -> Layout:
    """Return the layout of a folder for each split with a CSV file for each subject."""
    files = {split: f"{split}/{{name}}{ending.format(split)}.csv" for split in ("dev", "test")}
    return Layout(files, rows, csv_records)


KNOWLEDGE: Final = {
    "ARCDataset": Layout({"Dev": "{name}-Dev.jsonl", "Test": "{name}-Test.jsonl"}, each(_arc), alone=("test",)),
    "CEvalDataset": Layout(
        {split: f"{split}/{{name}}_{split}.csv" for split in ("dev", "val", "test")}, each(_ceval), csv_rows
    ),
    "CMMLUDataset": _exam(_NUMBERED),
    "ChemBenchDataset": Layout(
        {split: f"{split}/{{name}}_benchmark.json" for split in ("dev", "test")}, each(_chembench), json_items
    ),
    "CommonsenseQADataset_CN": Layout({}, each(_commonsense_cn), alone=("train", "validation")),
    "Earth_Silver_MCQDataset": hub(split="multiple_choice", prompt_mode="zero-shot"),
    "FinanceIQDataset": _exam(_NUMBERED),
    "GPQADataset": Layout({"test": "{name}"}, _gpqa, csv_records),
    "GPQASimpleEvalDataset": Layout({"test": "{name}"}, _gpqa_simple_evals, csv_records),
    "HLEDataset": hub(_of_category, category=None),
    "KCLEDataset": file(each(lambda value: {"input": value["input"], "target": value["target"]})),
    "MMLUArabicDataset": _exam(_MMLU, "_{}"),
    "MMLUDataset": _exam(_MMLU, "_{}"),
    "MMLUProDataset": hub(_mmlu_pro, category=""),
    "MMMLUDataset": hub(each(_mmmlu), loaded=_mmmlu_language),
    "OBQADataset": file(each(_open_book), name="main"),
    "OBQADatasetV2": file(each(lambda value: _open_book(value, as_question=True)), name="main"),
    "RBenchDataset": hub(
        each(_rbench),
        loaded=lambda arguments: {"name": f"rbench-t_{arguments['subset']}", "split": "test"},
        subset="en",
    ),
    "commonsenseqaDataset": folder(
        each(_commonsense), train="train_rand_split.jsonl", validation="dev_rand_split.jsonl"
    ),
}
"""Name of the class → its layout."""
