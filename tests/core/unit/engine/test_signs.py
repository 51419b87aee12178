"""Answers that show that a server did not do what it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.engine import FEWEST, Signs
from ais_prompt.plan import Task
from ais_prompt.types import Completion, Decoding, Failure, PartSpec, Request, TaskSpec, ToolCall, Usage
from tests.support.parts import task_spec, write_rows

CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}]
STORY = "Once upon a time, there was a model."


def task(folder: Path, **inferencer: Any) -> Task:
    spec = task_spec(write_rows(folder / "rows.jsonl", [{"question": "1+1=?", "answer": "2"}]))
    if inferencer:
        part = PartSpec("ToolCallInferencer", {"tools": TOOLS, **inferencer}, "infer")
        dataset = replace(spec.dataset, infer=replace(spec.dataset.infer, inferencer=part))
        spec = TaskSpec(spec.model, dataset)
    return Task.of(spec)


def notes(task: Task, answers: Sequence[Completion | str], decoding: Decoding, repeats: int = 1) -> list[str]:
    """What is said after these answers, ``repeats`` of them for each prompt."""
    signs = Signs(task)
    for number, answer in enumerate(answers):
        completion = Completion(answer, "stop") if isinstance(answer, str) else answer
        signs.see(Request(str(number), f"prompt {number // repeats}", decoding, repeat=number % repeats), completion)
    return list(signs.notes())


def test_calls_in_the_text_name_the_parser(tmp_path: Path) -> None:
    decoding = Decoding(8, extra={"tools": TOOLS})
    [note] = notes(task(tmp_path, tool_choice="auto"), [CALL] * FEWEST, decoding)
    assert f"{FEWEST} of {FEWEST} answers have tool calls in their text" in note
    assert "parser='hermes'" in note
    assert notes(task(tmp_path, parser="hermes"), [CALL] * FEWEST, decoding) == []
    assert notes(task(tmp_path, tool_choice="auto"), ["I add them."] * 9, decoding) == []
    assert notes(task(tmp_path, tool_choice="auto"), [CALL] * (FEWEST - 1), decoding) == []


def test_a_tool_choice_that_is_ignored(tmp_path: Path) -> None:
    made = task(tmp_path, tool_choice="required")
    function = {"type": "function", "function": {"name": "add"}}
    called = Completion("", "tool_calls", tool_calls=(ToolCall("add", "{}"),))
    for choice in ("required", function):
        decoding = Decoding(8, extra={"tools": TOOLS, "tool_choice": choice})
        [note] = notes(made, ["I add them."] * 6 + [called], decoding)
        assert note.startswith("6 of 7 answers call no tool, though tool_choice demands one")
        assert len(notes(made, ["I add them."], decoding)) == 1
        assert notes(made, [called] * 9, decoding) == []
        assert notes(made, [Completion("I ad", "length")] * 9, decoding) == []
        assert [note for note in notes(made, [CALL] * 9, decoding) if "tool_choice" in note] == []
    for choice in ("auto", "none"):
        assert notes(made, ["I add them."] * 9, Decoding(8, extra={"tools": TOOLS, "tool_choice": choice})) == []
    assert notes(made, ["I add them."] * 9, Decoding(8, extra={"tools": TOOLS})) == []


def test_a_response_format_that_is_ignored(tmp_path: Path) -> None:
    decoding = Decoding(8, extra={"response_format": {"type": "json_object"}})
    [note] = notes(task(tmp_path), ["Paris."] * 6 + ['{"a": 1}'], decoding)
    assert "6 of 7 complete answers are no JSON" in note
    assert notes(task(tmp_path), ['{"a": 1}'] * 9, decoding) == []
    assert notes(task(tmp_path), [Completion('{"a"', "length")] * 9, decoding) == [], "a cut answer is no sign"
    assert notes(task(tmp_path), ["Paris."] * 9, Decoding(8, extra={"response_format": {"type": "text"}})) == []


@pytest.mark.parametrize(
    ("answers", "temperature", "noted"),
    [
        ([STORY] * 12, 0.8, True),
        ([STORY, STORY + "!"] * 6, 0.8, False),
        ([STORY] * 12, 0.0, False),
        (["B"] * 12, 1, False),
    ],
)
def test_repeats_that_are_all_equal(tmp_path: Path, answers: list[str], temperature: float, noted: bool) -> None:
    found = notes(task(tmp_path), answers, Decoding(8, temperature=temperature), repeats=2)
    assert ["all 6 repeated answers equal" in note for note in found] == [True] * noted


@pytest.mark.parametrize(("more", "noted"), [(0, False), (1, True), (2, False)])
def test_a_second_bos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: int, noted: bool) -> None:
    asked = task(tmp_path)
    monkeypatch.setattr(asked.model, "max_seq_len", 100, raising=False)
    monkeypatch.setattr(asked.model, "count_tokens", lambda prompt: len(prompt.split()), raising=False)
    answers = [Completion("2", "stop", Usage(2 + more, 1))] * FEWEST
    assert ["second BOS" in note for note in notes(asked, answers, Decoding(8))] == [True] * noted


def test_failures_are_no_sign(tmp_path: Path) -> None:
    failed = [Completion(failure=Failure("timeout", "none"))] * 9
    assert notes(task(tmp_path), failed, Decoding(8, temperature=1.0), repeats=3) == []


def test_thoughts_in_an_unknown_form_are_named(tmp_path: Path) -> None:
    [note] = notes(task(tmp_path), ["<my_thoughts>A</my_thoughts>B", "B"], Decoding(8))
    assert note.startswith(
        "1 answer with thoughts, scored with them: the text begins with '<my_thoughts>'; set think_tags"
    )
    assert notes(task(tmp_path), ["B, I think", "<b>B</b>"], Decoding(8)) == []


def test_a_stop_text_that_ends_thoughts_is_named(tmp_path: Path) -> None:
    stopped = Completion("", "stop", reasoning="First I look.", unclosed=True)
    separated = Completion("", "stop", reasoning="First I look.")
    cut = Completion("", "length", reasoning="First I look.", unclosed=True)
    [note] = notes(task(tmp_path), [stopped, separated, cut, "B"], Decoding(8, stop=("\n\n",)))
    assert note.startswith(
        "2 answers ended inside of a thought, probably at a stop text of stopping_criteria ['\\n\\n']"
    )
    assert notes(task(tmp_path), [stopped], Decoding(8)) == [], "without stop texts the model itself ended there"
