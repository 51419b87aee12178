"""Scores of what an agent did, needed and left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import ConfigError, DataError, PartError
from ais_prompt.evaluators import AnswerBatch, less_is_better
from ais_prompt.extensions.agents.trajectory import AskedStep, called_tools, trajectory_of
from ais_prompt.extensions.agents.trajectory_scores import StateEvaluator, TrajectoryEvaluator
from ais_prompt.types import ChatMessage, Completion, Decoding, LeftFile, Price, ToolCall, Usage
from ais_prompt.utils import call_messages
from tests.support.cli import run_cli

SEARCH = ToolCall("search", '{"word":"a","most":2}')
BOOK = ToolCall("book", '{"city":"Paris"}')
PAY = ToolCall("pay", "no json")


def completion(*calls: ToolCall, files: tuple[LeftFile, ...] = ()) -> Completion:
    """An agent that makes one call a step, and then answers."""
    prompt = [ChatMessage("user", "go")]
    steps = []
    for turn, call in enumerate(calls):
        steps.append(AskedStep(tuple(prompt), Decoding(9), Completion(tool_calls=(call,), usage=Usage(10, 5))))
        prompt += call_messages("", [call], [f"result {turn}"], turn)
    steps.append(AskedStep(tuple(prompt), Decoding(9), Completion("done", usage=Usage(10, 5))))
    return Completion("done", "stop", seconds=2.0, trajectory=trajectory_of(steps, Price(1.0, 2.0)), files=files)


def batch(*completions: Completion, rows: list[dict[str, Any]] | None = None) -> AnswerBatch:
    answers = [one.text for one in completions]
    return AnswerBatch(
        answers, None, answers, lambda: rows or [{}] * len(answers), completions=[[c] for c in completions]
    )


def verdict(evaluator: Any, *calls: ToolCall) -> float:
    return float(evaluator.score_all(batch(completion(*calls))).metrics["trajectory"])


def test_calls_are_found_with_their_results() -> None:
    found = called_tools(completion(SEARCH, PAY).trajectory)
    assert found == [("search", {"word": "a", "most": 2}, "result 0", 0), ("pay", "no json", "result 1", 1)]


@pytest.mark.parametrize(
    ("arguments", "calls", "value"),
    [
        ({"tools": ["search", "book"]}, [BOOK, PAY, SEARCH], 1),
        ({"tools": ["search", "search"]}, [SEARCH], 0),
        ({"tools": ["search", "book"]}, [BOOK], 0),
        ({"tools": ["search", "book"], "order": "any"}, [BOOK], 1),
        ({"tools": ["search", "book"], "order": "any"}, [PAY], 0),
        ({"tools": [], "order": "any"}, [PAY], 1),
        ({"tools": ["search", "book"], "order": "in_order"}, [SEARCH, PAY, BOOK], 1),
        ({"tools": ["search", "book"], "order": "in_order"}, [BOOK, SEARCH], 0),
        ({"tools": ["search", "book"], "order": "exactly"}, [SEARCH, BOOK], 1),
        ({"tools": ["search", "book"], "order": "exactly"}, [SEARCH, BOOK, PAY], 0),
        ({"tools": [], "order": "exactly"}, [], 1),
        ({"tools": [{"name": "search", "arguments": {"most": 2.0}}]}, [SEARCH], 1),
        ({"tools": [{"name": "search", "arguments": {"most": "2"}}]}, [SEARCH], 0),
        ({"tools": [{"name": "search", "arguments": {"most": True}}]}, [ToolCall("search", '{"most":1}')], 0),
        ({"tools": [{"name": "pay", "arguments": {"sum": 1}}]}, [PAY], 0),
        ({"tools": [{"name": "book", "schema": {"required": ["city"]}}]}, [BOOK], 1),
        ({"tools": [{"name": "book", "schema": {"required": ["day"]}}]}, [BOOK], 0),
        # The first expectation fits both calls, and must leave the second one its only call.
        ({"tools": ["search", {"name": "search", "arguments": {"word": "a"}}]}, [SEARCH, ToolCall("search", "{}")], 1),
        ({"forbidden": ["pay"]}, [SEARCH], 1),
        ({"forbidden": ["pay"]}, [SEARCH, PAY], 0),
        ({"max_steps": 2}, [SEARCH], 1),
        ({"max_steps": 1}, [SEARCH], 0),
        ({"max_cost": 39e-6}, [SEARCH], 0),
        ({"max_cost": 41e-6}, [SEARCH], 1),
    ],
)
def test_a_trajectory_is_right_or_wrong(arguments: dict[str, Any], calls: list[ToolCall], value: float) -> None:
    assert verdict(TrajectoryEvaluator(**arguments), *calls) == value


def test_what_a_sample_needed_is_counted_and_less_is_better() -> None:
    evaluator = TrajectoryEvaluator()
    found = evaluator.score_all(batch(completion(SEARCH), completion()))
    assert found.each["steps"] == [2, 1]
    assert found.metrics == {
        "trajectory": 1.0,
        "steps": 1.5,
        "tool_calls": 0.5,
        "total_tokens": 22.5,
        "cost": pytest.approx(30e-6),
        "seconds": 2.0,
    }
    assert [less_is_better(evaluator, metric) for metric in evaluator.metrics] == [False, *[True] * 5]


def test_expected_calls_come_from_a_column() -> None:
    evaluator = TrajectoryEvaluator(tools="calls", order="exactly")
    rows = [{"calls": '[{"name": "search"}]'}, {"calls": ["book"]}, {"calls": None}]
    found = evaluator.score_all(batch(completion(SEARCH), completion(SEARCH), completion(), rows=rows))
    assert found.each["trajectory"] == [1, 0, 1]
    for value, words in ((7, "holds no list"), ("x", "is no list"), ([7], "no expected call")):
        with pytest.raises(DataError, match=words):
            evaluator.score_all(batch(completion(), rows=[{"calls": value}]))
    with pytest.raises(DataError, match="there is no column 'calls'"):
        evaluator.score_all(batch(completion(), rows=[{}]))


def test_what_is_no_expectation_is_one_clear_error() -> None:
    with pytest.raises(ConfigError, match="no order 'some'"):
        TrajectoryEvaluator(order="some")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="no expected call of a tool"):
        TrajectoryEvaluator(tools=[{"tool": "a"}])


def test_the_state_is_scored_by_a_function() -> None:
    seen: list[Any] = []

    def check(left: dict[str, Any], row: dict[str, Any]) -> Any:
        seen.append((left, row))
        return row["value"]

    files = (LeftFile("a.txt", 1, text="x"), LeftFile("b", 1, base64="/w=="), LeftFile("c", 9))
    rows = [{"value": True}, {"value": {"state": 0, "parts": 3}}]
    found = StateEvaluator(check).score_all(batch(completion(SEARCH, files=files), completion(), rows=rows))
    assert found.each == {"state": [1.0, 0.0]}
    left, _ = seen[0]
    assert left["files"] == {"a.txt": "x", "b": b"\xff", "c": None}
    assert left["tools"] == [{"name": "search", "arguments": {"word": "a", "most": 2}, "result": "result 0", "step": 0}]
    with pytest.raises(DataError, match="no number"):
        StateEvaluator(check).score_all(batch(completion(), rows=[{"value": "high"}]))
    with pytest.raises(PartError, match="KeyError"):
        StateEvaluator(check).score_all(batch(completion()))


@pytest.mark.thorough
@pytest.mark.process
def test_trajectories_are_scored_beside_answers_and_over_repeats(tmp_path: Path) -> None:
    """Two evaluators of one dataset, each question asked three times, and pass^k of both."""
    (tmp_path / "config.py").write_text(CONFIG, "utf-8")
    (tmp_path / "own.py").write_text("def add(a: int) -> int:\n    return a + 1\n", "utf-8")
    rows = [{"question": "one", "answer": "2"}, {"question": "nil", "answer": "2"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    done = run_cli("run", "config.py", "-w", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    [path] = tmp_path.glob("out/**/results/model/tasks.json")
    text = path.read_text("utf-8")
    for metric in ("trajectory", "accuracy", "steps", "pass^2"):
        assert f'"{metric}' in text, metric


CONFIG = """
answers = {r'(?s)one.*2': '2', 'one': dict(tool_calls=[dict(name='add', arguments=dict(a=1))]), 'nil': '2'}
models = [dict(type='ScriptedModel', abbr='model', answers=answers)]
datasets = [dict(type='LocalDataset', abbr='tasks', path='rows.jsonl', k=[1, 2], n=3,
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'),
        inferencer=dict(type='ToolLoopInferencer', tools=['own:add'], n=3)),
    eval_cfg=dict(evaluator=[dict(type='TrajectoryEvaluator', tools=['add']), dict(type='AccEvaluator')]))]
"""
