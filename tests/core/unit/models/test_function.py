"""A function as a model, asked by a whole run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ais_prompt
from ais_prompt.models import FunctionModel, source_digest
from ais_prompt.types import Completion, Usage
from tests.support.cli import run_cli

ROWS = [{"question": f"{n}+{n}", "answer": str(2 * n)} for n in range(6)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def config(function: Any, **model: Any) -> dict[str, Any]:
    return {
        "run_name": "app",
        "models": [{"type": "FunctionModel", "abbr": "app", "function": function, **model}],
        "datasets": [
            {
                "abbr": "sums",
                "rows": ROWS,
                "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
                "infer_cfg": {
                    "prompt_template": {"type": "PromptTemplate", "template": "{question}"},
                    "inferencer": {"type": "GenInferencer"},
                },
                "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
            }
        ],
    }


def ask(function: Any, **model: Any) -> ais_prompt.Run:
    return ais_prompt.run(config(function, **model), quiet=True, report=False)


def total(text: str) -> str:
    left, right = text.split("+")
    return str(int(left) + int(right))


async def awaited(text: str) -> str:
    await asyncio.sleep(0)
    return total(text)


class Application:
    def __init__(self, extra: int) -> None:
        self.extra = extra

    def __call__(self, text: str) -> str:
        return str(int(total(text)) + self.extra)

    async def answer(self, text: str) -> str:
        return self(text)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "function": total,
    "coroutine": awaited,
    "lambda": lambda text: total(text),
    "lambda of a coroutine": lambda text: awaited(text),
    "object": Application(0),
    "method": Application(0).answer,
    "partial": partial(lambda extra, text: total(text) + extra, ""),
    "reasoning": lambda text: f"<think>{text}</think>{total(text)}",
    "completion": lambda text: Completion(total(text), "stop", Usage(3, 1)),
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_whatever_can_be_called_is_a_model(kind: str) -> None:
    [row] = ask(FUNCTIONS[kind]).rows
    assert (row.score, row.scored) == (1.0, 6)


def test_a_function_can_be_given_messages() -> None:
    def chat(messages: list[dict[str, str]]) -> str:
        assert [message["role"] for message in messages] == ["user"]
        return total(messages[0]["content"])

    [row] = ask(chat, prompt_style="messages").rows
    assert row.score == 1.0


@pytest.mark.thorough
def test_functions_are_called_side_by_side_up_to_max_concurrency() -> None:
    together = threading.Barrier(3)

    def waiting(text: str) -> str:
        together.wait(timeout=60)  # ends only if three calls are under way
        return total(text)

    [row] = ask(waiting, max_concurrency=3).rows
    assert row.score == 1.0


def test_an_exception_or_another_result_fails_the_sample_with_its_message() -> None:
    def brittle(text: str) -> Any:
        if text == "1+1":
            raise ValueError("no ones")
        if text == "2+2":
            return next(iter(()))  # StopIteration
        return None if text == "3+3" else total(text)

    run = ask(brittle)
    assert run.errors == {}
    failures = run.samples(to="arrow").column("failure").to_pylist()
    assert [failure and failure.partition(": ")[0] for failure in failures] == [
        *(None, "raised", "raised", "no_text", None, None)
    ]
    assert "ValueError: no ones" in failures[1]
    assert "returned NoneType, not a str" in failures[3]


def test_a_run_works_where_an_event_loop_is_running() -> None:
    async def cell() -> ais_prompt.Run:
        return ask(awaited)

    assert asyncio.run(cell()).rows[0].score == 1.0


def test_a_resumed_run_reuses_the_answers_of_the_same_function_only() -> None:
    asked: list[str] = []

    def answers(text: str) -> str:
        asked.append(text)
        return total(text)

    def others(text: str) -> str:
        asked.append(text)
        return "other"

    first = ask(answers)
    for function, requests in ((answers, 0), (others, 6)):
        asked.clear()
        ais_prompt.run(config(function), reuse=first.path.name, quiet=True, report=False)
        assert len(asked) == requests


def test_enclosed_values_and_versions_tell_functions_apart() -> None:
    def make(suffix: str) -> Callable[[str], str]:
        return lambda text: text + suffix

    assert source_digest(make("a")) == source_digest(make("a")) != source_digest(make("b"))
    assert source_digest(Application(0)) != source_digest(Application(1))
    assert source_digest(partial(total, text="a")) != source_digest(partial(total, text="b"))
    assert FunctionModel(make("a"), version=1).identity() == FunctionModel(make("b"), version=1).identity()
    assert FunctionModel(make("a"), version=1).identity() != FunctionModel(make("a"), version=2).identity()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("function", "code", "words"),
    [
        ("'my_app.answer'", 0, "100.0 %"),
        ("'my_app:answer'", 0, "100.0 %"),
        ("answer", 0, "100.0 %"),
        ("'my_app.anser'", 2, "did you mean my_app.answer?"),
        ("'answer'", 2, "write its dotted path"),
        ("'no_app.answer'", 2, "no module 'no_app'"),
    ],
)
def test_a_config_names_a_function_by_import_or_by_its_path(folder: Path, function: str, code: int, words: str) -> None:
    (folder / "my_app.py").write_text("def answer(text):\n    return str(eval(text))\n")
    values = "".join(f"{name} = {value!r}\n" for name, value in config("<function>").items())
    (folder / "eval.py").write_text("from my_app import answer\n" + values.replace("'<function>'", function))
    done = run_cli("run", "eval.py")
    assert (done.returncode, words in done.stdout + done.stderr) == (code, True)


def test_a_lambda_of_another_process_is_a_fault_that_says_so() -> None:
    run = ask(lambda text: text)
    assert run_cli("score", str(run.path)).returncode == 0
    again = run_cli("run", str(run.path / "config.py"))
    assert again.returncode == 2
    assert "was a function of the program that began the run" in again.stderr


def test_a_run_of_others_is_scored_and_its_function_is_not_imported(folder: Path) -> None:
    (folder / "my_app.py").write_text("def answer(text):\n    return text\n")
    values = "".join(f"{name} = {value!r}\n" for name, value in config("my_app.answer", abbr=None).items())
    (folder / "eval.py").write_text(values.replace("'abbr': None, ", ""))
    assert run_cli("run", "eval.py").returncode == 0
    [mark] = folder.rglob(".made-here")
    mark.unlink()
    (folder / "my_app.py").write_text("raise SystemExit('imported')\n")
    done = run_cli("score", str(mark.parent))
    assert (done.returncode, "answer" in done.stdout) == (0, True)
    assert "imported" not in run_cli("answers", str(mark.parent), "eval.py").stderr


HARD_ENDS: dict[str, Callable[[], BaseException]] = {
    "CancelledError": asyncio.CancelledError,
    "GeneratorExit": GeneratorExit,
    "KeyboardInterrupt": KeyboardInterrupt,
    "SystemExit": lambda: SystemExit(3),
    "StopIteration": StopIteration,
    "StopAsyncIteration": StopAsyncIteration,
    "TimeoutError": TimeoutError,
    "MemoryError": MemoryError,
    "group": lambda: BaseExceptionGroup("several", [asyncio.CancelledError(), KeyboardInterrupt()]),
}
"""What a call can end with, time limits of HTTP clients and agents included."""
TWO_FAIL = ["scored", "failed", "scored", "scored", "failed", "scored"]


async def cancels_itself(text: str) -> str:
    """Cancel the task it runs in, as a cancel scope does whose end is passed."""
    task = asyncio.current_task()
    assert task is not None
    if text in ("1+1", "4+4"):
        task.cancel()
        await asyncio.sleep(60)
    return total(text)


@pytest.mark.thorough
def test_no_sample_vanishes_whatever_a_call_raises() -> None:
    for name, made in HARD_ENDS.items():

        def function(text: str, made: Callable[[], BaseException] = made) -> str:
            if text in ("1+1", "4+4"):
                raise made()
            return total(text)

        async def coroutine(text: str, function: Callable[[str], str] = function) -> str:
            await asyncio.sleep(0)
            return function(text)

        for called in (function, coroutine):
            run = ask(called, version=name)
            assert run.samples(to="arrow").column("status").to_pylist() == TWO_FAIL, (name, called, run.errors)


def test_a_call_that_cancels_its_own_task_fails_its_sample() -> None:
    assert ask(cancels_itself).samples(to="arrow").column("status").to_pylist() == TWO_FAIL


@pytest.mark.thorough
@pytest.mark.parametrize("hangs", ["function", "coroutine"])
def test_a_call_that_hangs_has_a_limit(hangs: str) -> None:
    release = threading.Event()

    def function(text: str) -> str:
        if text == "2+2":
            release.wait()
        return total(text)

    async def coroutine(text: str) -> str:
        if text == "2+2":
            await asyncio.Event().wait()
        return total(text)

    done = ask(function if hangs == "function" else coroutine, timeout=1)
    release.set()
    failures = done.samples(to="arrow").column("failure").to_pylist()
    assert [bool(failure) for failure in failures] == [False, False, True, False, False, False]
    assert failures[2].endswith("returned nothing within 1 s")
