"""Mathematics, reasoning with an exact answer, programs, and the plain datasets."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

from ais_prompt.data import Row
from ais_prompt.extensions.benchmarks.layouts.file_layout import (
    CIRCLE,
    Call,
    Layout,
    by_ending,
    columns,
    each,
    file,
    flat,
    folder,
    hub,
    json_items,
    json_whole,
    renamed,
    tabbed_lines,
)

_BOTH: Final = ("train", "test")


def _aime(value: Row) -> Row:
    return {**value, "question": value["origin_prompt"], "answer": value["gold_answer"]}


def _math(value: Any) -> Row:
    return {"problem": value["problem"], "solution": _last_box(value["solution"])}


def _last_box(text: str) -> str | None:
    r"""Return what the last ``\boxed{}`` of a solution holds; None if it does not close."""
    start = text.rfind("\\boxed{")
    depth = 0
    for brace in re.finditer("[{}]", text[start:] if start >= 0 else ""):
        depth += 1 if brace.group() == "{" else -1
        if not depth:
            return text[start + len("\\boxed{") : start + brace.start()]
    return None


def _repeated(values: Iterator[Row], call: Call) -> Iterable[Row]:
    return (value for value in values for _ in range(call.arguments["num_repeats"]))


def _mathbench(values: Iterator[Any], call: Call) -> Iterable[Row]:
    is_cloze = "cloze" in call.arguments["name"]
    for number, value in enumerate(values):
        if not is_cloze and call.arguments["with_circular"]:
            yield from _in_all_orders(number, value)
            continue
        question = value["question"].strip()
        question = question if is_cloze else f"{question}\n{_lettered(value['options'])}"
        yield {"question": question, "answer": value["answer"].strip()}


def _circular_by_name(values: Iterator[Any], call: Call) -> Iterable[Row]:
    """Make the rows that the argument ``name`` says: cloze questions, four orders of the options, or one."""
    name = call.arguments["name"]
    for number, value in enumerate(values):
        if "cloze" in name:
            yield {"question": value["question"].strip(), "answer": value["answer"].strip()}
        elif "circular" in name:
            yield from _in_all_orders(number, value)
        else:
            yield {**value, "question": f"{value['question'].strip()}\n{_lettered(value['options'])}"}


def _in_all_orders(number: int, value: Any) -> Iterable[Row]:
    for order in CIRCLE:
        options = [value["options"]["ABCD".index(letter)] for letter in order]
        gold = f"{number}--{'ABCD'[order.index(value['answer'])]}--{order}"
        text = f"{value['question'].strip()}\n{_lettered(options)}"
        yield {**value, "question": text, "options": options, "answer": gold}


def _live_stem(values: Iterator[Any], call: Call) -> Iterable[Row]:
    rows = []
    for value in values:
        question = "\n".join([value["question"], *value["options"]])
        rows.append({"question": question, "answer": value["answer"]})
    if number := call.arguments["num_examples"]:
        return random.Random(0).sample(rows, number)
    return rows * int(call.arguments["n_repeats"])


def _lettered(options: Iterable[str]) -> str:
    return "".join(f"{letter}. {option}\n" for letter, option in zip("ABCDEFGH", options, strict=False))


def _programs(shots: int, questions: int, test: Callable[[Row], Row]) -> Callable[[Iterator[Row], Call], Iterable[Row]]:
    """Return the mapping of a file whose first rows are the shots, and the following ones the questions."""

    def rows(values: Iterator[Row], call: Call) -> Iterable[Row]:
        if call.split == "train":
            return map(test, islice(values, shots))
        tested = [test(value) for value in islice(values, shots, shots + questions)]
        return tested * int(call.arguments["num_repeats"])

    return rows


def _mbpp(value: Row) -> Row:
    tests = "\n".join(value["test_list"])
    return {**value, "test_list": tests, "test_case": value["test_list"], "test_list_2": tests}


def _mbpp_v2(value: Row) -> Row:
    row = _mbpp(value)
    tests = row.pop("test_list_2")
    return {**row, "test_column": {"test_list_2": tests, "task_id": value["task_id"]}}


def _mbpp_sanitized(value: Row) -> Row:
    tests = "\n".join(value["test_list"])
    row = {**{name: item for name, item in value.items() if name != "prompt"}, "test_list": tests}
    column = {"test_list_2": tests, "task_id": value["task_id"]}
    return {**row, "text": value["prompt"], "test_list_2": tests, "test_column": column}


def _mbpp_plus(values: Iterator[Row], call: Call) -> Iterable[Row]:
    for value in values:
        row = _mbpp(value)
        column = {"test_list_2": row["test_list_2"], "task_id": value["task_id"]}
        for _ in range(call.arguments["num_repeats"]):
            yield {**row, "test_column": column}


def _agieval(value: Any) -> Row:
    label = value["label"] or value["answer"]
    joined = "".join(map(str, label)) if isinstance(label, list) else label
    return {
        "question": (value["passage"] or "") + value["question"],
        "options": "\n".join(value["options"] or ()),
        "label": None if joined is None else str(joined),
    }


LAYOUTS: Final = {
    "AGIEvalDataset_v2": Layout({"test": "{name}.jsonl"}, each(_agieval), defaults={"setting_name": "zero-shot"}),
    "Aime2024Dataset": file(each(_aime)),
    "Aime2025Dataset": file(),
    "Aime2026Dataset": file(),
    "BBHDataset": Layout({"test": "{name}.json"}, flat(lambda value: value["examples"]), json_whole),
    "BeyondAIMEDataset": hub(each(lambda value: renamed(value, "problem", "question")), split="test"),
    "CMOFibDataset": file(each(_aime)),
    "CompassBenchObjectiveV1_3": Layout({}, _circular_by_name, alone=("test",)),
    "CustomDataset": Layout(
        {"test": "{file_name}"}, each(dict), by_ending, alone=("test",), defaults={"meta_path": ""}
    ),
    "GSMHardDataset": file(each(lambda value: {"question": value["input"], "answer": str(value["target"])})),
    "GSM8KDataset": folder(train="train.jsonl", test="test.jsonl"),
    "HFDataset": hub(),
    "HumanevalDataset": file(_repeated, num_repeats=1),
    "JsonlDataset": file(),
    "LiveStemBenchDataset": Layout(
        dict.fromkeys(_BOTH, "{version}.json"),
        _live_stem,
        json_items,
        defaults={"version": "livestembench-20241227", "num_examples": None, "n_repeats": 1},
    ),
    "MATHDataset": Layout(
        dict.fromkeys(_BOTH, "{file_name}"), each(_math), json_items, alone=_BOTH, defaults={"file_name": "math.json"}
    ),
    "MBPPDataset": Layout({}, _programs(10, 500, _mbpp), alone=_BOTH, defaults={"num_repeats": 1}),
    "MBPPDatasetV2": Layout({}, _programs(10, 500, _mbpp_v2), alone=_BOTH, defaults={"num_repeats": 1}),
    "MBPPPlusDataset": file(_mbpp_plus, num_repeats=1),
    "MGSMSDataset": file(columns("question answer"), read=tabbed_lines),
    "MathBenchDataset": Layout({"test": "{name}.jsonl"}, _mathbench, defaults={"with_circular": True}),
    "OlymMATHDataset": hub(loaded=lambda arguments: {"name": arguments["subset"]}, subset=None),
    "SVAMPDataset": file(
        each(lambda value: {"question": f"{value['Body']} {value['Question']}", "answer": str(int(value["Answer"]))})
    ),
    "SanitizedMBPPDataset": Layout({}, _programs(7, 257, _mbpp_sanitized), alone=_BOTH, defaults={"num_repeats": 1}),
    "WikiBenchDataset": Layout({"test": "{filename}"}, _circular_by_name, defaults={"name": ""}),
}
"""Name of the class → its layout."""
