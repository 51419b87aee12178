"""What the postprocessors of options make of real answers: those of code-davinci-002 to BIG-Bench Hard.

    python -m bench.extraction_real FOLDER [--peer OPENCOMPASS_WHEEL]

The folder holds ``<task>.davinci_{cot,direct}.jsonl`` with the published answers. The published accuracies count an
answer only if it names exactly one option: what follows "answer is", or a first line. So *recall* is the share of these
answers whose option is found. All others name none or several ("(A) or (B)", "none of the above", loops that never
end); what is read there is a *false read*, even where it meets the gold by chance.

Source: Suzgun et al. 2022, "Challenging BIG-Bench Tasks and Whether Chain-of-Thought Can Solve Them".
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ais_prompt.registry import POSTPROCESSORS
from bench.extraction import peer_functions

NAMES = ("first_option_postprocess", "last_option_postprocess")
_ONE_OPTION = re.compile(r"\(([A-R])\)")


class Answer(NamedTuple):
    """A real answer.

    Attributes:
        task: as in the name of its file, with the way of prompting.
        text: all that the model wrote.
        option: the one that it names in the form of the published accuracies; None if it names none or several.
        gold: the right one; None in tasks whose answers are no options.
        letters: the options of the task.
    """

    task: str
    text: str
    option: str | None
    gold: str | None
    letters: str


class Reading(NamedTuple):
    """How often a function is right.

    Attributes:
        found, named: how many of the options that are named it finds, and how many are named.
        read, without: how many answers it reads an option from though they name none, and how many there are.
        lucky: how many of ``read`` meet the gold.
    """

    found: int
    named: int
    read: int
    without: int
    lucky: int


def answers(folder: Path) -> Iterator[Answer]:
    """All answers of a folder, task by task."""
    for file in sorted(folder.glob("*.davinci_*.jsonl")):
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        golds = [_ONE_OPTION.fullmatch(row["target"]) for row in rows]
        last = max((gold[1] for gold in golds if gold), default="A")
        letters = "ABCDEFGHIJKLMNOPQR"[: max(4, ord(last) - ord("A") + 1)]
        for row, gold in zip(rows, golds, strict=True):
            text = row["prediction"]
            stated = text.rpartition("answer is ")[2] if "answer is " in text else text.strip().partition("\n")[0]
            option = _ONE_OPTION.fullmatch(stated.strip().rstrip("."))
            yield Answer(file.stem, text, option[1] if option else None, gold[1] if gold else None, letters)


def measure(function: Callable[..., Any], every: list[Answer]) -> Reading:
    """Run a function on all answers."""
    found = [(one, function(one.text, options=one.letters) or None) for one in every]
    named = [(one, text) for one, text in found if one.option]
    read = [(one, text) for one, text in found if not one.option and text]
    return Reading(
        sum(text == one.option for one, text in named),
        len(named),
        len(read),
        len(found) - len(named),
        sum(text == one.gold for one, text in read),
    )


def main() -> None:
    """Print a line for each function."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--peer", type=Path, help="wheel of OpenCompass 0.5.4, of which the same functions are run")
    args = parser.parse_args()
    every = list(answers(args.folder))
    peers = peer_functions(args.peer) if args.peer else {}
    for name in NAMES:
        for owner, functions in (("ours", {name: POSTPROCESSORS.get(name)}), ("OpenCompass", peers)):
            if name in functions:
                got = measure(functions[name], every)
                print(
                    f"{name:26}{owner:12} finds {got.found} of {got.named}; reads {got.read} of {got.without} without "
                    f"an option, {got.lucky} right by chance"
                )


if __name__ == "__main__":
    main()
