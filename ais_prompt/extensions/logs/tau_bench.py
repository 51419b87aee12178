"""Read the results of τ-bench: a list of trials in JSON.

Source: ``tau_bench/types.py`` and ``tau_bench/run.py`` of https://github.com/sierra-research/tau-bench (MIT), 2024 to
2026. pass^k is that of Yao et al. 2024, "τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.extensions.logs.agent_requests import SeenTurn, requests_in
from ais_prompt.extensions.logs.log_files import LogFile, mapping, of_files
from ais_prompt.extensions.logs.record import completion_of, number_of, text_and_reasoning
from ais_prompt.metrics import pass_hat_k
from ais_prompt.types import ChatMessage, Completion, LoggedAnswer, LoggedTask, ToolCall

_RIGHT: Final = 1 - 1e-6
"""Least reward of a success; the largest is 1."""


def _recognizes(file: LogFile) -> bool:
    return file.has("task_id", "reward", "info", "traj")


def _read(files: Sequence[LogFile]) -> Iterator[LoggedTask]:
    for file in files:
        trials = by_task(file.value)
        number = len({trial.get("trial") for one in trials.values() for trial in one})
        yield LoggedTask(
            tool="τ-bench",
            model="unknown",
            dataset="tau-bench",
            answers=lambda trials=trials: (_answer(one) for same in trials.values() for one in same),  # type: ignore[misc]
            where=str(file.path),
            scorer="reward",
            further=passes(number),
            notes=("the log does not name the model and the domain",),
        )


def by_task(trials: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the trials of each task in their order; the tasks are in the order of their first trial."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for one in trials:
        found.setdefault(str(one["task_id"]), []).append(one)
    return {name: sorted(same, key=lambda one: one.get("trial") or 0) for name, same in found.items()}


def passes(most: int) -> dict[str, Callable[[Sequence[float]], float]]:
    """Return pass^k as a function of the rewards of a task, for each k from 2; pass^1 is the mean."""
    return {f"pass^{k}": partial(_passes, k) for k in range(2, most + 1)}


def _passes(k: int, rewards: Sequence[float]) -> float:
    return pass_hat_k(len(rewards), sum(reward >= _RIGHT for reward in rewards), k)


def calls_as_text(actions: Any, arguments: str) -> list[str]:
    """Return a line for each expected call.

    Args:
        actions: of a task.
        arguments: the key that their arguments have.
    """
    found = [one for one in actions or () if isinstance(one, Mapping)]
    return [f"{one.get('name')} {json.dumps(one.get(arguments), ensure_ascii=False)}" for one in found]


def last_text(turns: Sequence[SeenTurn]) -> str:
    """Return the last text of the agent; empty if it wrote none."""
    return next((one.text for one in reversed(turns) if one.role == "assistant" and one.text), "")


def first_prompt(turns: Sequence[SeenTurn]) -> tuple[ChatMessage, ...]:
    """Return the messages before the first answer of the model."""
    first = next((place for place, one in enumerate(turns) if one.answer is not None), 0)
    return tuple(ChatMessage(one.role, one.text) for one in turns[:first])


def _answer(trial: Mapping[str, Any]) -> LoggedAnswer:
    task = mapping(trial, "info", "task")
    turns = [_turn(one) for one in trial.get("traj") or ()]
    reward = number_of(trial.get("reward"))
    completion = completion_of(last_text(turns) if turns else None, error=mapping(trial, "info").get("error"))
    return LoggedAnswer(
        id=str(trial["task_id"]),
        completion=replace(completion, trajectory=requests_in(turns, "")),
        gold="\n".join([*calls_as_text(task.get("actions"), "kwargs"), *map(str, task.get("outputs") or ())]) or None,
        question=str(task.get("instruction") or ""),
        prompt=first_prompt(turns),
        values={} if reward is None else {"reward": reward},
    )


def _turn(message: Mapping[str, Any]) -> SeenTurn:
    text, _ = text_and_reasoning(message.get("content"))
    role = str(message["role"])
    if role == "tool":
        return SeenTurn(role, text, call_id=str(message.get("tool_call_id") or message.get("name")))
    if role != "assistant":
        return SeenTurn(role, text)
    functions = [(str(one.get("id")), mapping(one, "function")) for one in message.get("tool_calls") or ()]
    calls = tuple((name, ToolCall(str(one.get("name")), str(one.get("arguments")))) for name, one in functions)
    return SeenTurn(role, text, calls, answer=answer_of(text, calls))


def answer_of(text: str, calls: Sequence[tuple[str, ToolCall]], usage: Any = None, seconds: Any = None) -> Completion:
    """Return an answer of the model: a text, or calls of tools."""
    completion = completion_of(text, "tool_calls" if calls else "stop", usage=usage, seconds=seconds)
    return replace(completion, tool_calls=tuple(call for _, call in calls))


FORMAT: Final = of_files("τ-bench", _recognizes, _read)
