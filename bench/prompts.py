"""How many prompts a second are rendered: template, in-context examples and meta template, from rows to text.

    python -m bench.prompts            # one core, no model and no file is opened

First 5 shots, the same for every row or drawn anew for each from 200 training rows: as the text that a language model
continues, as messages, and as label prompts from a label table. Then shots from so many rows that most are shown only
once: nothing can be kept of them. Last how the time grows with the shots, and with the columns. Each line also
shows a straightforward implementation of the rules (`bench.per_row`), run by turns with ours in one process on
the same rows, after both were seen to give the same prompts. Processor time, the best of several rounds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from time import process_time
from typing import Any, Final

from ais_prompt.prompts import PromptBuilder, PromptTemplate
from ais_prompt.prompts.chat_formats import make_chat_format
from ais_prompt.types import Prompt, Sample, prompt_to_json
from bench import per_row

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
LABELS: Final = ("yes", "no")
TABLE: Final[dict[str, Any]] = {
    label: {**TEMPLATE, "round": [ROUND[0], {"role": "BOT", "prompt": f"Answer: {label}"}]} for label in LABELS
}
WORDS: Final = ["the", "train", "leaves", "with", "forty", "boxes", "of", "apples", "and", "nine", "people", "each"]


@dataclass(frozen=True)
class Case:
    """What is rendered: rows, each with its shots.

    Attributes:
        style: ``text`` or ``messages`` to generate from, or ``labels``: a text for each label.
    """

    rows: Sequence[Sample]
    shots: Sequence[Sequence[Sample]]
    style: str = "text"


def make_case(rows: int, shots: int, columns: int, *, fixed: bool, style: str = "text", train_rows: int = 200) -> Case:
    """Rows with a question of 45 words (as in GSM8K), an answer, and further columns that no template names."""
    random = Random(0)
    train = [_sample(random, number, columns) for number in range(train_rows)]
    chosen = [train[:shots] if fixed else random.sample(train, shots) for _ in range(rows)]
    return Case([_sample(random, train_rows + number, columns) for number in range(rows)], chosen, style)


def _sample(random: Random, number: int, columns: int) -> Sample:
    fields = {"question": " ".join(random.choices(WORDS, k=45)), "answer": str(random.randrange(1000))}
    fields |= {f"column{index}": random.choice(WORDS) for index in range(columns - len(fields))}
    return Sample(f"{number:012x}", number, fields, fields["answer"])


def ours(case: Case) -> list[Prompt]:
    """The prompts, as a run renders them."""
    template = PromptTemplate(TABLE if case.style == "labels" else TEMPLATE, "</E>")
    builder = PromptBuilder(PromptTemplate(ICE_TEMPLATE), template, output_column="answer")
    pairs = zip(case.rows, case.shots, strict=True)
    if case.style == "messages":
        chat = make_chat_format("messages", None, lambda: None)
    else:
        chat = make_chat_format("text", META, lambda: None)
    if case.style == "labels":
        return [chat.render(builder.labelled(row, shots, label), "ppl") for row, shots in pairs for label in LABELS]
    return [chat.render(builder.generation(row, shots), "gen") for row, shots in pairs]


def base(case: Case) -> list[Any]:
    """The prompts as JSON values, every row from the start."""
    prompts: list[Any] = []
    for row, shots in zip(case.rows, case.shots, strict=True):
        examples = [shot.fields for shot in shots]
        if case.style == "labels":
            asked = [per_row.Question(TABLE[label], ICE_TEMPLATE, row.fields, examples, False) for label in LABELS]
        else:
            asked = [per_row.Question(TEMPLATE, ICE_TEMPLATE, {**row.fields, "answer": ""}, examples, True)]
        prompts += [per_row.messages(one) if case.style == "messages" else per_row.text(one, META) for one in asked]
    return prompts


def seconds(render: Callable[[Case], list[Any]], case: Case) -> float:
    """Processor time for one prompt."""
    start = process_time()
    count = len(render(case))
    return (process_time() - start) / count


def report(title: str, case: Case, rounds: int) -> None:
    """Measure a case and print its line."""
    if [prompt_to_json(prompt) for prompt in ours(case)] != base(case):
        raise SystemExit(f"{title}: the two implementations do not give the same prompts")
    # By turns, so that a machine that is busy for a while slows both.
    pairs = [(seconds(ours, case), seconds(base, case)) for _ in range(rounds)]
    own, other = map(min, zip(*pairs, strict=True))
    own_figures = f"{title:<28} {1 / own:>9,.0f} /s {1e6 * own:>8.1f} µs"
    print(f"{own_figures}   row by row {1 / other:>9,.0f} /s   ratio {other / own:>6.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    kinds = ((True, "the same"), (False, "drawn"))
    for style in ("text", "messages", "labels"):
        for fixed, name in kinds:
            case = make_case(options.rows, 5, 2, fixed=fixed, style=style)
            report(f"{style}, 5 shots, {name}", case, options.rounds)
    for style in ("text", "messages"):
        case = make_case(options.rows, 5, 2, fixed=False, style=style, train_rows=20 * options.rows)
        report(f"{style}, 5 shots, once", case, options.rounds)
    for shots in (0, 5, 10, 20, 40):
        for fixed, name in kinds:
            report(f"{shots} shots, {name}", make_case(options.rows, shots, 2, fixed=fixed), options.rounds)
    for columns in (2, 8, 32, 128):
        report(f"5 shots, {columns} columns", make_case(options.rows, 5, columns, fixed=True), options.rounds)


if __name__ == "__main__":
    main()
