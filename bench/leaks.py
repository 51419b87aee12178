"""Which part of the search for leaks finds which planted leak, and what it says of data without a planted leak.

    python -m bench.leaks FOLDER...

The folders are those of `bench.check_warnings`. Each leak is planted into every fifth of 200 rows of each dataset that
it fits. A part earns its lines if it finds leaks that no other part finds. The longest choice and the place of the
right one are no parts: they found what is planted here (14 and 8 of 16), and nothing in 41 published datasets.
"""

from __future__ import annotations

import argparse
import base64
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import ais_prompt
from ais_prompt.errors import AisPromptError
from bench.check_warnings import Row, datasets

ROWS: Final = 200
EVERY: Final = 5
PARTS: Final = {
    "the prompt tells the answer": "proof",
    "are among the rows": "equal copies",
    "with words or punctuation changed, among": "near copies",
    "repeat an earlier": "repeats",
    "the template itself": "written",
    "retriever compares": "retriever",
    "the gold occurs in": "gold in column",
    "of all golds": "most frequent gold",
    "the right choice is the only": "choice in column",
    "is empty": "broken rows",
    "wrong encoding": "broken rows",
    "golds are the same": "broken rows",
    "no possible answer": "broken rows",
}
"""Words of a message → the part that gives it."""


class Setting:
    """A dataset without a leak: its first rows are asked, as many others are examples. Leaks change it."""

    def __init__(self, rows: Sequence[Row]) -> None:
        half = min(ROWS, len(rows) // 2)
        self.test, self.train = ([{**row} for row in part] for part in (rows[:half], rows[half : 2 * half]))
        self.leaking = self.test[::EVERY]
        self.columns = [column for column in rows[0] if column != "answer" and any(row.get(column) for row in rows)]
        self.before, self.compared, self.gold_columns = "", ["question"], list[str]()

    def config(self, folder: str) -> dict[str, Any]:
        """Return the dataset as a config, with its files in a folder."""
        for split, rows in (("test", self.test), ("train", self.train)):
            lines = (json.dumps({**dict.fromkeys(self.columns, ""), **row}) + "\n" for row in rows)
            (Path(folder) / f"{split}.jsonl").write_text("".join(lines), "utf-8")
        example = "\n".join([self.before + "Question:", *(f"{{{one}}}" for one in self.columns), "Answer: {answer}"])
        shown = {"type": "PromptTemplate", "template": f"</E>{example}", "ice_token": "</E>"}
        compared = {"ice_num": 1, "input_columns": self.compared, "allow_overlap": True}
        return {
            "type": "LocalDataset",
            "path": folder,
            "reader_cfg": {
                "input_columns": [one for one in self.columns if one not in self.gold_columns],
                "output_column": "answer",
                "gold_columns": self.gold_columns,
            },
            "infer_cfg": {
                "ice_template": {"type": "PromptTemplate", "template": example},
                "prompt_template": shown,
                "retriever": {"type": "BM25Retriever", **compared},
                "inferencer": {"type": "GenInferencer"},
            },
            "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
        }

    def parts(self) -> set[str]:
        """Return the parts that say something."""
        return {part for what in self._findings() for words, part in PARTS.items() if words in what}

    def _findings(self) -> Iterator[str]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = ais_prompt.check({"models": [{"type": "ScriptedModel"}], "datasets": [self.config(folder)]})
                yield from (warning.what for warning in found.warnings)
            except AisPromptError as error:
                yield str(error)


def in_column(setting: Setting) -> None:
    setting.columns.append("source")
    for row in setting.leaking:
        row["source"] = f"key: {row['answer']}"


def in_gold_column(setting: Setting) -> None:
    in_column(setting)
    setting.gold_columns = ["source"]


def in_question(write: Callable[[Row], str]) -> Callable[[Setting], None]:
    def plant(setting: Setting) -> None:
        for row in setting.leaking:
            row["question"] += f" {write(row)}"

    return plant


def in_template(setting: Setting) -> None:
    row = setting.leaking[len(setting.leaking) // 2]
    shown = "\n".join(str(row.get(column, "")) for column in setting.columns)
    setting.before = f"{shown}\nAnswer: {row['answer']}\n\n".replace("{", "").replace("}", "")


def reworded(row: Row) -> dict[str, Any]:
    words = row["question"].split()
    middle = len(words) // 2
    return {**row, "question": " ".join(["Indeed,", *words[:middle], "really", *words[middle:]])}


def as_examples(change: Callable[[Row], dict[str, Any]]) -> Callable[[Setting], None]:
    def plant(setting: Setting) -> None:
        setting.train[: len(setting.leaking)] = map(change, setting.leaking)

    return plant


def repeated(setting: Setting) -> None:
    for row, other in zip(setting.leaking[::2], setting.leaking[1::2], strict=False):
        row.update(reworded(other))


def compared_by_gold(setting: Setting) -> None:
    setting.compared = ["question", "answer"]


def longest(setting: Setting) -> None:
    for row in setting.leaking:
        row[row["answer"]] += ", which is what the text says and means"


def first(setting: Setting) -> None:
    for row in setting.leaking:
        row["A"], row[row["answer"]] = row[row["answer"]], row["A"]
        row["answer"] = "A"


LEAKS: Final[dict[str, Callable[[Setting], None]]] = {
    "gold in a gold column": in_gold_column,
    "gold in a column": in_column,
    "hint in the question": in_question(lambda row: f"(Hint: it is {row['answer']})"),
    "gold backwards": in_question(lambda row: row["answer"][::-1]),
    "gold in base64": in_question(lambda row: base64.b64encode(row["answer"].encode()).decode()),
    "gold in hexadecimal": in_question(lambda row: row["answer"].encode().hex()),
    "a test row in the template": in_template,
    "equal rows as examples": as_examples(dict),
    "near copies as examples": as_examples(reworded),
    "repeats": repeated,
    "retriever reads golds": compared_by_gold,
}
OF_CHOICES: Final[dict[str, Callable[[Setting], None]]] = {
    "right choice in the question": in_question(lambda row: row[row["answer"]].removeprefix(f"({row['answer']})")),
    "right choice longest": longest,
    "right choice first": first,
}


def main() -> None:
    """Print which part finds what."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    sets = [(name, rows) for folder in parser.parse_args().folders for name, rows in datasets(folder)]
    clean = {name: Setting(rows).parts() for name, rows in sets}
    print(f"without a planted leak, {len(sets)} datasets:")
    for part, count in Counter(part for found in clean.values() for part in found).most_common():
        print(f"    {part} {count}: {', '.join(name for name, found in clean.items() if part in found)}")
    for leak, plant in (LEAKS | OF_CHOICES).items():
        found: Counter[str] = Counter()
        fitting = [(name, rows) for name, rows in sets if leak in LEAKS or has_choices(rows)]
        missed = 0
        for name, rows in fitting:
            setting = Setting(rows)
            plant(setting)
            new = setting.parts() - clean[name]
            found.update(new)
            missed += not new
        shown = ", ".join(f"{part} {count}" for part, count in found.most_common())
        print(f"{leak}, {len(fitting)} datasets: {shown or 'nothing'}; missed {missed}", flush=True)


def has_choices(rows: Sequence[Row]) -> bool:
    """Return whether the choices are in columns named by letters, and the gold is one of them."""
    return all(row["answer"] in set("ABCDE") and row.get(row["answer"]) for row in rows)


if __name__ == "__main__":
    main()
