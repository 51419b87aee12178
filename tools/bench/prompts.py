"""How many prompts a second are rendered: template, in-context examples and meta template, from rows to text.

    python -m tools.bench.prompts            # one core, no model and no file is opened

First 5 shots, the same for every row or drawn anew for each; then how the time grows with the shots, and with the
columns. Each line stands beside a straightforward implementation of the rules (`tools.bench.per_row`), run in the same
process on the same rows, after both were seen to give the same prompts. Processor time, the best of several rounds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from time import process_time
from typing import Any, Final

from ais_prompt.chat import make_chat_format
from ais_prompt.prompts import PromptBuilder, PromptTemplate
from ais_prompt.types import Sample
from tools.bench import per_row

ROUND: Final[list[dict[str, str]]] = [
    {"role": "HUMAN", "prompt": "Question: {question}\nLet's think step by step."},
    {"role": "BOT", "prompt": "Answer: {answer}"},
]
ICE_TEMPLATE: Final[dict[str, Any]] = {"round": ROUND}
TEMPLATE: Final[dict[str, Any]] = {
    "begin": [{"role": "SYSTEM", "prompt": "Solve the following questions."}, "</E>"],
    "round": ROUND,
}
META: Final[dict[str, Any]] = {
    "begin": "<s>",
    "round": [
        {"role": "HUMAN", "begin": "[HUMAN]: ", "end": "\n"},
        {"role": "BOT", "begin": "[BOT]: ", "end": "\n", "generate": True},
    ],
    "reserved_roles": [{"role": "SYSTEM", "begin": "[SYSTEM]: ", "end": "\n"}],
}
WORDS: Final = ["the", "train", "leaves", "with", "forty", "boxes", "of", "apples", "and", "nine", "people", "each"]


@dataclass(frozen=True)
class Case:
    """What is rendered: rows, each with its shots."""

    rows: Sequence[Sample]
    shots: Sequence[Sequence[Sample]]


def make_case(rows: int, shots: int, columns: int, *, fixed: bool) -> Case:
    """Rows with a question of 45 words (as in GSM8K), an answer, and further columns that no template names."""
    random = Random(0)
    train = [_sample(random, number, columns) for number in range(200)]
    chosen = [train[:shots] if fixed else random.sample(train, shots) for _ in range(rows)]
    return Case([_sample(random, 200 + number, columns) for number in range(rows)], chosen)


def _sample(random: Random, number: int, columns: int) -> Sample:
    fields = {"question": " ".join(random.choices(WORDS, k=45)), "answer": str(random.randrange(1000))}
    fields |= {f"column{index}": random.choice(WORDS) for index in range(columns - len(fields))}
    return Sample(f"{number:012x}", number, fields, fields["answer"])


def ours(case: Case) -> list[str]:
    """The prompts, as a run renders them."""
    builder = PromptBuilder(PromptTemplate(ICE_TEMPLATE), PromptTemplate(TEMPLATE, "</E>"), output_column="answer")
    chat = make_chat_format("text", META, lambda: None)
    pairs = zip(case.rows, case.shots, strict=True)
    return [str(chat.render(builder.generation(row, shots), "gen")) for row, shots in pairs]


def base(case: Case) -> list[str]:
    """The prompts, every row from the start."""
    return [
        per_row.render(TEMPLATE, ICE_TEMPLATE, META, row.fields, [shot.fields for shot in shots], "answer")
        for row, shots in zip(case.rows, case.shots, strict=True)
    ]


def per_second(render: Callable[[Case], list[str]], case: Case, rounds: int) -> float:
    """Prompts per second of processor time, in the best round."""
    best = float("inf")
    for _ in range(rounds):
        start = process_time()
        render(case)
        best = min(best, process_time() - start)
    return len(case.rows) / best


def report(title: str, case: Case, rounds: int) -> None:
    """Measure a case and print its line."""
    if ours(case) != base(case):
        raise SystemExit(f"{title}: the two implementations do not give the same prompts")
    speed, other = per_second(ours, case, rounds), per_second(base, case, rounds)
    own_figures = f"{title:<28} {speed:>9,.0f} /s {1e6 / speed:>8.1f} µs"
    print(f"{own_figures}   row by row {other:>9,.0f} /s   ratio {speed / other:>6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for fixed, name in ((True, "the same shots for all"), (False, "shots drawn for each row")):
        report(name, make_case(options.rows, 5, 2, fixed=fixed), options.rounds)
    for shots in (0, 5, 10, 20, 40):
        for fixed in (True, False):
            title = f"{shots} shots, {'the same' if fixed else 'drawn'}"
            report(title, make_case(options.rows, shots, 2, fixed=fixed), options.rounds)
    for columns in (2, 8, 32, 128):
        report(f"5 shots, {columns} columns", make_case(options.rows, 5, columns, fixed=True), options.rounds)


if __name__ == "__main__":
    main()
