"""Multiple choice: about situations, such as HellaSwag and PIQA, and about knowledge, such as MMLU and GPQA."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from ais_prompt.data import Row
from ais_prompt.extensions.benchmarks.layouts.file_layout import (
    CIRCLE,
    Call,
    Layout,
    Rows,
    columns,
    csv_records,
    csv_rows,
    each,
    file,
    folder,
    hub,
    json_items,
    jsonl_with_labels,
    letters,
    renamed,
)


def _hellaswag(value: Any, *, cuts: int, lettered: bool) -> Row:
    label = "ABCD"[value["gold"]] if lettered else value["gold"]
    return {"ctx": value["query"].split(": ", cuts)[-1], **letters(value["choices"][:4]), "label": label}


_HELLASWAG_LETTERS: Final = each(lambda value: _hellaswag(value, cuts=1, lettered=True))


def _piqa(value: Row) -> Row:
    return {name: item for name, item in value.items() if name != "id"}


def _piqa_v2(value: Row) -> Row:
    row = _piqa(value)
    label = row.pop("label")
    return {**row, "answer": "AB"[label] if label >= 0 else "NULL"}


def _piqa_v3(value: Row) -> Row:
    row = _piqa(value)
    row["goal"] = row["goal"][0].upper() + row["goal"][1:]
    first_letter = str.upper if row["goal"].endswith(("?", ".")) else str.lower
    return {**row, **{name: first_letter(row[name][0]) + row[name][1:] for name in ("sol1", "sol2")}}


def _siqa_v2(value: Row) -> Row:
    answers = {letter: value[f"answer{letter}"] for letter in "ABC"}
    candidates = [[f"{letter}. {answer}", letter, answer] for letter, answer in answers.items()]
    row = {name: item for name, item in value.items() if name != "label"}
    labels = {"candidates": candidates, "label": value["label"] - 1}
    return {**row, "all_labels": labels, "label": " ABC"[value["label"]]}


def _siqa_v3(value: Row) -> Row:
    answers = {letter: value[f"answer{letter}"] for letter in "ABC"}
    others = {name: item for name, item in value.items() if name not in ("label", "answerA", "answerB", "answerC")}
    return {**others, **answers, "answer": "ABC"[value["label"] - 1]}


def _winogrande(value: Any, *, lettered: bool = False) -> Row:
    sentence, answer = value["sentence"], value["answer"]
    if lettered:
        answer = " AB"[int(answer)] if answer else "NULL"
    return {
        "prompt": sentence,
        "only_option1": value["option1"],
        "only_option2": value["option2"],
        "opt1": sentence.replace("_", value["option1"]),
        "opt2": sentence.replace("_", value["option2"]),
        "answer": answer,
        "cont": sentence.split("_")[1],
    }


_WINOGRANDE_LETTERS: Final = each(lambda value: _winogrande(value, lettered=True))


def _winograd(value: Row) -> Row:
    kept = {name: item for name, item in value.items() if name not in ("text", "options", "source")}
    return {**kept, "prompt": value["text"], "opt1": value["options"][0], "opt2": value["options"][1]}


def _story(value: Row, *, lettered: bool = False) -> Row:
    context = " ".join(value[f"input_sentence_{number}"] for number in range(1, 5))
    answer = {"answer_right_ending": " AB"[value["answer_right_ending"]]} if lettered else {}
    return {**value, "context": context, **answer}


def _stories(rows: Rows) -> Layout:
    return Layout({"test": ("{lang}_train.jsonl", "{lang}_eval.jsonl")}, rows)


def _labelled(rows: Rows) -> Layout:
    return folder(rows, read=jsonl_with_labels, train="train.jsonl", validation="dev.jsonl")


LAYOUTS: Final = {
    "COPADatasetV2": file(each(lambda value: {**value, "label": "AB"[value["label"]]})),
    "CrowspairsDataset": hub(each(lambda value: {**value, "label": 0})),
    "CrowspairsDatasetCN": file(each(lambda value: {**value, "label": "A"})),
    "CrowspairsDatasetV2": hub(each(lambda value: {**value, "label": "A"})),
    "HellaswagDataset": file(each(lambda value: _hellaswag(value, cuts=2, lettered=False))),
    "HellaswagDataset_V2": file(_HELLASWAG_LETTERS),
    "HellaswagDataset_V3": file(
        each(lambda value: {"query": value["query"], **letters(value["choices"][:4]), "gold": value["gold"]})
    ),
    "HellaswagDatasetwithICE": folder(
        _HELLASWAG_LETTERS, train="hellaswag_train_sampled25.jsonl", val="hellaswag.jsonl"
    ),
    "PIQADataset": _labelled(each(_piqa)),
    "PIQADatasetV2": _labelled(each(_piqa_v2)),
    "PIQADatasetV3": _labelled(each(_piqa_v3)),
    "SiqaDatasetV3": _labelled(each(_siqa_v3)),
    "StoryClozeDataset": _stories(each(_story)),
    "StoryClozeDatasetV2": _stories(each(lambda value: _story(value, lettered=True))),
    "WinogradDataset": hub(each(_winograd)),
    "WinograndeDataset": folder(each(_winogrande), test="dev.jsonl"),
    "WinograndeDatasetV2": folder(_WINOGRANDE_LETTERS, test="dev.jsonl"),
    "WinograndeDatasetV3": folder(_WINOGRANDE_LETTERS, train_xs="train_xs.jsonl", dev="dev.jsonl"),
    "siqaDataset": _labelled(each(dict)),
    "siqaDataset_V2": _labelled(each(_siqa_v2)),
}
"""Name of the class → its layout."""


_MMLU: Final = columns("input A B C D target")
_NUMBERED: Final = columns("_ question A B C D answer", skip_header=True)
_OPTIONS: Final = "ABCDEFGHIJKLMNOP"


def _arc(value: Any) -> Row | None:
    question = value["question"]
    if len(question["choices"]) != 4:
        return None
    labels = [choice["label"] for choice in question["choices"]]
    texts = {f"text{letter}": text for letter, text in letters([one["text"] for one in question["choices"]]).items()}
    return {"question": question["stem"], "answerKey": "ABCD"[labels.index(value["answerKey"])], **texts}


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
        order = CIRCLE[number % 4]
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


def _rbench(value: Any) -> Row:
    options = {f"RBench_Option_{letter}": value[letter] for letter in "ABCDEF"}
    return {"RBench_Question_Input": value["question"], **options, "target": value["answer"]}


def _mmmlu(value: Row) -> Row:
    subject = value["Subject"].replace("_", " ")
    return {"input": value["Question"], **{k: value[k] for k in "ABCD"}, "target": value["Answer"], "subject": subject}


def _exam(rows: Rows, ending: str = "") -> Layout:
    """Return the layout of a folder for each split with a CSV file for each subject."""
    files = {split: f"{split}/{{name}}{ending.format(split)}.csv" for split in ("dev", "test")}
    return Layout(files, rows, csv_records)


KNOWLEDGE: Final = {
    "ARCDataset": Layout({"Dev": "{name}-Dev.jsonl", "Test": "{name}-Test.jsonl"}, each(_arc), alone=("test",)),
    "CEvalDataset": Layout(
        {split: f"{split}/{{name}}_{split}.csv" for split in ("dev", "val", "test")},
        each(lambda value: {**value, **{name: value.get(name, "") for name in ("explanation", "answer")}}),
        csv_rows,
    ),
    "CMMLUDataset": _exam(_NUMBERED),
    "ChemBenchDataset": Layout(
        {split: f"{split}/{{name}}_benchmark.json" for split in ("dev", "test")},
        each(
            lambda value: {
                "input": value["question"],
                **{letter: value[letter] for letter in "ABCD"},
                "target": value["answer"],
            }
        ),
        json_items,
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
    "MMMLUDataset": hub(
        each(_mmmlu), loaded=lambda arguments: {"name": arguments["name"].split("_")[1].replace("-", "_")}
    ),
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
