"""Multiple choice about situations: HellaSwag, PIQA, Social IQa, WinoGrande, COPA, StoryCloze."""

from __future__ import annotations

from typing import Any, Final

from ais_prompt.extensions.benchmarks.layouts.files import jsonl_with_labels
from ais_prompt.extensions.benchmarks.layouts.layout import Layout, Rows, each, file, folder, hub, letters
from ais_prompt.readers.table import Row


def _hellaswag(value: Any, *, cuts: int, lettered: bool) -> Row:
    label = "ABCD"[value["gold"]] if lettered else value["gold"]
    return {"ctx": value["query"].split(": ", cuts)[-1], **letters(value["choices"][:4]), "label": label}


def _hellaswag_v3(value: Any) -> Row:
    return {"query": value["query"], **letters(value["choices"][:4]), "gold": value["gold"]}


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
    "HellaswagDataset_V3": file(each(_hellaswag_v3)),
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
