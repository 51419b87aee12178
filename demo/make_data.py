"""Writes the demo datasets: small arithmetic in four forms, train rows for the shots and held-out test rows.

    python -m demo.make_data                 # into configs/data/demo

    addition   {"question": "23+45=?", "answer": "68"}
    chat       {"question": "What is 23 plus 45?", "answer": "68"}
    choice     {"question": "23+45=?", "A": "68", "B": "58", "C": "67", "D": "57", "answer": "A"}
    dialogue   {"question": ["1+1=?", "and 3 more?"], "answer": ["2", "5"]}

Every run writes the same bytes. What may stand in a test file is decided by `demo_arithmetic.is_held_out`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from demo.arithmetic import (
    LABELS,
    as_follow_up,
    draw_dialogue,
    draw_options,
    draw_problem,
    in_signs,
    in_words,
)

DATA_DIR = Path(__file__).parents[1] / "configs" / "data" / "demo"
SEED = 2024
ROWS = {"train": 64, "test": 200}

Row = dict[str, str] | dict[str, list[str]]


def addition_row(rng: Random, number: int, *, held_out: bool) -> Row:  # noqa: ARG001
    problem = draw_problem(rng, held_out=held_out)
    return {"question": in_signs(problem), "answer": str(problem.answer)}


def chat_row(rng: Random, number: int, *, held_out: bool) -> Row:  # noqa: ARG001
    problem = draw_problem(rng, held_out=held_out)
    return {"question": in_words(problem, rng), "answer": str(problem.answer)}


def choice_row(rng: Random, number: int, *, held_out: bool) -> Row:
    """The right answer takes the labels in turn, so that each is right equally often."""
    problem = draw_problem(rng, held_out=held_out)
    gold = LABELS[number % len(LABELS)]
    return {"question": in_signs(problem), **draw_options(problem, gold, rng), "answer": gold}


def dialogue_row(rng: Random, number: int, *, held_out: bool) -> Row:
    """Two, three and four turns alternate."""
    first, *later = draw_dialogue(rng, turns=2 + number % 3, held_out=held_out)
    questions = [in_signs(first), *(as_follow_up(step, rng) for step in later)]
    return {"question": questions, "answer": [str(step.answer) for step in (first, *later)]}


DATA_SETS: dict[str, Callable[..., Row]] = {
    "addition": addition_row,
    "chat": chat_row,
    "choice": choice_row,
    "dialogue": dialogue_row,
}


def rows(name: str, split: str) -> Iterator[Row]:
    """The rows of one file: as many as `ROWS` says, no question twice."""
    rng = Random(f"{SEED} {name} {split}")
    seen: set[str] = set()
    while len(seen) < ROWS[split]:
        row = DATA_SETS[name](rng, len(seen), held_out=split == "test")
        if str(row["question"]) not in seen:
            seen.add(str(row["question"]))
            yield row


def write_all(folder: Path) -> None:
    """Writes `<name>/<split>.jsonl` for all datasets below `folder`."""
    for name in DATA_SETS:
        for split in ROWS:
            path = folder / name / f"{split}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes("".join(json.dumps(row) + "\n" for row in rows(name, split)).encode())


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the demo datasets.")
    parser.add_argument("--output", type=Path, default=DATA_DIR, help="folder to write to (default: %(default)s)")
    folder = parser.parse_args().output
    write_all(folder)
    print(f"Wrote {len(DATA_SETS)} datasets to {folder}")


if __name__ == "__main__":
    main()
