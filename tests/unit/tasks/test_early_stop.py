"""Stopping early never changes what a gate says in the end."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.config.parse_gates import parse_gate
from ais_prompt.tasks.early_stop import GateWatch
from ais_prompt.types import Completion, Failure, Gate, Prediction
from tests.parts import task_spec

TASK = task_spec(Path("rows.jsonl"))
GATES = ["accuracy >= 60%", "accuracy > 0.6", "accuracy < 0.5", "failed <= 2", "failed <= 10%", "unparsed <= 1"]


def prediction(number: int, answer: str | None) -> Prediction:
    completion = Completion(failure=Failure("timeout", "")) if answer is None else Completion(answer, "stop")
    return Prediction(f"s{number}", number, "?", answer, "1", (completion,))


def holds(gate: Gate, answers: list[str | None]) -> bool:
    """What the gate says of these answers and no others."""
    counts = {"failed": answers.count(None), "unparsed": answers.count("")}
    if gate.name in counts:
        return gate.holds(100 * counts[gate.name] / len(answers) if gate.percent else counts[gate.name])
    known = [answer for answer in answers if answer is not None]
    return bool(known) and gate.holds((100 if gate.percent else 1) * known.count("1") / len(known))


@given(st.lists(st.sampled_from(["1", "1", "2", "", None]), min_size=1, max_size=40), st.sampled_from(GATES))
def test_a_decided_gate_says_in_the_end_what_it_said(answers: list[str | None], text: str) -> None:
    gate = parse_gate(text, "here")
    watch = GateWatch([gate], TASK, len(answers))
    for number, answer in enumerate(answers):
        watch.see(prediction(number, answer))
        if watch.decided:
            assert holds(gate, answers[: number + 1]) == holds(gate, answers)
            break


def test_it_stops_as_soon_as_nothing_can_change() -> None:
    watch = GateWatch([parse_gate("accuracy >= 80%", "here")], TASK, 100)
    for number in range(20):
        watch.see(prediction(number, "2"))
        assert not watch.decided
    watch.see(prediction(20, "2"))
    assert watch.decided


def test_gates_of_others_and_of_other_metrics_decide_nothing() -> None:
    for text in ("other: accuracy >= 80%", "bleu >= 3"):
        watch = GateWatch([parse_gate(text, "here")], TASK, 2)
        watch.see(prediction(0, "2"))
        assert not watch.decided
