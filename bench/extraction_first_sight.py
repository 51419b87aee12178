"""Recall and false reads on texts that were written before any rule had been tried on them.

    python -m bench.extraction_first_sight [--peer OPENCOMPASS_WHEEL] [--missed] [--solutions FILE]

``tests/phrasings/first_sight`` holds whole answers, half with a result, marked by « », and half without one:
reasoning that breaks off, refusals, questions, plans, premises, lists of options. The sets were written one
after the other, each before the rules were improved by it. The figures in the docs are those of that moment;
this prints what the rules make of the sets now.

``--solutions`` names ``example_model_solutions.jsonl`` of github.com/openai/grade-school-math (Cobbe et al. 2021). Its
solutions end in "A: 18". Without that line they are answers without a marker; cut at a word, they have no answer.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple
from unicodedata import normalize

from ais_prompt.registry import POSTPROCESSORS
from bench.extraction import CORPUS, Function, peer_functions, run, same_maths, same_number

FOLDER: Final = CORPUS / "first_sight"
MODELS: Final = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")
_GOLD: Final = re.compile("«(.*?)»", re.DOTALL)


def same_option(found: Any, gold: str) -> bool:
    """Return whether both are one letter, whatever its width and size."""
    return str(found) == normalize("NFKC", gold).upper()


class Family(NamedTuple):
    """What is extracted.

    Attributes:
        corpus: the file of its texts.
        function: the postprocessor.
        means_same: whether an extracted text is the gold.
        options: arguments of both functions.
    """

    corpus: str
    function: str
    means_same: Callable[[Any, str], bool]
    options: dict[str, str]


FAMILIES: Final = (
    Family("options", "first_option_postprocess", same_option, {"options": "ABCD"}),
    Family("options", "last_option_postprocess", same_option, {"options": "ABCD"}),
    Family("numbers", "gsm8k_postprocess", same_number, {}),
    Family("maths", "math_postprocess_v2", same_maths, {}),
)


class Measured(NamedTuple):
    """What a function makes of a set.

    Attributes:
        lost: texts with a result that is not read, or misread, each with what was read.
        read: texts without a result from which something is read.
        n: texts with a result; there are as many without.
    """

    lost: list[tuple[str, Any]]
    read: list[tuple[str, Any]]
    n: int


def sets(corpus: str) -> tuple[str, ...]:
    """Return the names of the sets of a corpus."""
    return tuple(tomllib.loads((FOLDER / f"{corpus}.toml").read_text("utf-8")))


def texts(corpus: str, name: str, language: str) -> Iterator[tuple[str, str | None]]:
    """Yield the texts of a set, each with its gold, None for those without a result."""
    both = tomllib.loads((FOLDER / f"{corpus}.toml").read_text("utf-8"))[name][language]
    for text in both["answers"]:
        gold = _GOLD.search(text)
        yield _GOLD.sub(r"\1", text), gold[1] if gold else ""
    yield from ((text, None) for text in both["nothing"])


def measure(family: Family, function: Function, name: str, language: str) -> Measured:
    """Run a function on a set."""
    every = [
        (text, gold, run(partial(function, **family.options), text))
        for text, gold in texts(family.corpus, name, language)
    ]
    answers = [(text, gold, found) for text, gold, found in every if gold is not None]
    return Measured(
        [(text, found) for text, gold, found in answers if not family.means_same(found, gold)],
        [(text, found) for text, gold, found in every if gold is None and found not in (None, "", "NULL")],
        len(answers),
    )


def solutions(file: Path) -> tuple[list[tuple[str, str]], list[str]]:
    """Return solutions without their last line, each with its number, and beginnings of solutions.

    One of the four models is drawn for each question, and a word, not the first eight nor the last six.
    """
    draw = random.Random(7)
    complete, cut = [], []
    for line in file.read_text("utf-8").splitlines():
        solution = json.loads(line)[draw.choice(MODELS)]["solution"]
        steps, _, number = solution.rpartition("\nA: ")
        steps = re.sub("<<.*?>>", "", steps)
        blanks = [blank.start() for blank in re.finditer(" ", steps)][8:-6]
        if steps and number:
            complete.append((steps, number.strip()))
            cut += [steps[: draw.choice(blanks)].rstrip()] if blanks else []
    return complete, cut


def _print_solutions(file: Path, function: Function, owner: str) -> None:
    complete, cut = solutions(file)
    right = sum(same_number(run(function, text), number) for text, number in complete)
    read = sum(run(function, text) not in (None, "", "NULL") for text in cut)
    print(f"{owner:12} {right} of {len(complete)} solutions without a marker, reads {read} of {len(cut)} beginnings")


def main() -> None:
    """Print a line for each family, language and set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", type=Path, help="wheel of OpenCompass 0.5.4, of which the same functions are run")
    parser.add_argument("--missed", action="store_true", help="print every text that is read wrongly")
    parser.add_argument("--solutions", type=Path, help="example_model_solutions.jsonl; print these figures only")
    args = parser.parse_args()
    peers = peer_functions(args.peer) if args.peer else {}
    if args.solutions:
        for owner, functions in (
            ("ours", {"gsm8k_postprocess": POSTPROCESSORS.get("gsm8k_postprocess")}),
            ("OpenCompass", peers),
        ):
            if functions:
                _print_solutions(args.solutions, functions["gsm8k_postprocess"], owner)
        return
    print(f"{'postprocessor':28}{'set':18}{'n':>4}{'recall':>9}{'false reads':>13}   OpenCompass")
    for family in FAMILIES:
        for name, language in ((name, language) for name in sets(family.corpus) for language in ("en", "zh")):
            ours = measure(family, POSTPROCESSORS.get(family.function), name, language)
            theirs = measure(family, peers[family.function], name, language) if peers else None
            shown = f"{_recall(ours):>9}{_read(ours):>13}" + (
                f"{_recall(theirs):>9}{_read(theirs):>9}" if theirs else ""
            )
            print(f"{family.function:28}{f'{name}, {language}':18}{ours.n:>4}{shown}")
            if args.missed:
                print(*(f"    {text!r} gives {found!r}" for text, found in [*ours.lost, *ours.read]), sep="\n")


def _recall(measured: Measured) -> str:
    return f"{100 * (measured.n - len(measured.lost)) / measured.n:.0f} %"


def _read(measured: Measured) -> str:
    return f"{100 * len(measured.read) / measured.n:.0f} %"


if __name__ == "__main__":
    main()
