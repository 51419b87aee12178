"""Read the results of τ-bench, a list of trials in JSON, and of τ²-bench.

Those of τ²-bench are one JSON file, or ``results.json`` beside a folder of simulations. Simulations that ended by an
error of the infrastructure are left out of the metrics there, and are failures here.

Sources: ``tau_bench/types.py`` and ``tau_bench/run.py`` of https://github.com/sierra-research/tau-bench (MIT), 2024 to
2026. pass^k is that of Yao et al. 2024, "τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains".
``tau2/data_model/simulation.py``, ``tau2/data_model/message.py`` and ``tau2/metrics/agent_metrics.py`` of
https://github.com/sierra-research/tau2-bench (MIT), version 1.0.1 of 2026.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.extensions.logs.log_files import LogFile, mapping, of_files
from ais_prompt.extensions.logs.record import completion_of, decoding_of, number_of, numbers_of, text_and_reasoning
from ais_prompt.metrics import pass_hat_k
from ais_prompt.types import ChatMessage, Completion, LoggedAnswer, LoggedTask, ModelCall, ToolCall, total_usage
from ais_prompt.utils import CALL, RESULT

_RIGHT: Final = 1 - 1e-6
"""Least reward of a success; the largest is 1."""

_NOT_RUN: Final = "infrastructure_error"
_LAST: Final = 300
"""Most characters of a message of an error that is no conversation."""


class SeenTurn(Struct, frozen=True):
    """One message of a conversation that the agent sees.

    Attributes:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        text: of the message; empty if there is none.
        calls: id and call of each tool that the message calls.
        call_id: of the call whose result this is, for the role ``tool``.
        answer: of the model; None for a message that no model wrote, such as a greeting.
        cost: of the request; None if unknown.
    """

    role: str
    text: str
    calls: tuple[tuple[str, ToolCall], ...] = ()
    call_id: str = ""
    answer: Completion | None = None
    cost: float | None = None


def requests_in(turns: Iterable[SeenTurn], model: str) -> tuple[ModelCall, ...]:
    """Return a request for each answer of the model, with all messages before it.

    Args:
        turns: in order.
        model: its name.
    """
    found: list[ModelCall] = []
    messages: list[Mapping[str, Any]] = []
    shared = 0
    for turn in turns:
        if turn.answer is not None:
            found.append(ModelCall(shared, tuple(messages[shared:]), None, turn.answer, named=model, cost=turn.cost))
            shared = len(messages)
        messages.append({"role": turn.role, "content": _content(turn)})
    return tuple(found)


def _content(turn: SeenTurn) -> str | list[dict[str, Any]]:
    if turn.call_id:
        return [{"type": RESULT, "id": turn.call_id, "text": turn.text}]
    if not turn.calls:
        return turn.text
    said = [{"type": "text", "text": turn.text}] if turn.text else []
    called = [{"type": CALL, "id": name, "name": one.name, "arguments": one.arguments} for name, one in turn.calls]
    return [*said, *called]


def _task(file: LogFile) -> LoggedTask:
    trials = by_task(file.value)
    number = len({trial.get("trial") for one in trials.values() for trial in one})
    return LoggedTask(
        tool="τ-bench",
        model="unknown",
        dataset="tau-bench",
        answers=lambda: (_answer(one) for same in trials.values() for one in same),
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
    completion = completion_of(last_text(turns) if turns else None, error=mapping(trial, "info").get("error"))
    return LoggedAnswer(
        id=str(trial["task_id"]),
        completion=replace(completion, trajectory=requests_in(turns, "")),
        gold="\n".join([*calls_as_text(task.get("actions"), "kwargs"), *map(str, task.get("outputs") or ())]) or None,
        question=str(task.get("instruction") or ""),
        prompt=first_prompt(turns),
        values=numbers_of({"reward": trial.get("reward")}),
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


def _recognizes_tau2(file: LogFile) -> bool:
    # The tasks come before the simulations, and may be longer than what is looked at of a file.
    return file.has("info", "tasks") and bool(mapping(file.value, "info", "agent_info"))


def _tau2_task(file: LogFile) -> LoggedTask:
    results, info = mapping(file.value), mapping(file.value, "info")
    simulations = results.get("simulations") or ()
    folder = file.path.parent / "simulations"
    if not simulations and folder.is_dir():  # they are files of their own
        simulations = [mapping(one.value) for one in file.log.files_at(folder)]
    found = by_task(simulations)
    tasks = {str(one["id"]): one for one in results["tasks"]}
    trials = {name: found[name] for name in {**tasks, **found} if name in found}  # in the order of the tasks
    agent = mapping(info, "agent_info")
    model = str(agent.get("llm") or agent.get("implementation") or "unknown")
    decoding = decoding_of(agent.get("llm_args"))
    counts = [number for one in trials.values() if (number := sum(map(_was_run, one)))]
    has_ticks = any(one.get("ticks") for one in simulations)
    return LoggedTask(
        tool="τ²-bench",
        model=model,
        dataset=str(mapping(info, "environment_info").get("domain_name") or "unknown"),
        answers=lambda: (
            _tau2_answer(name, one, tasks.get(name, {}), model, decoding)
            for name, same in trials.items()
            for one in same
        ),
        where=str(file.path),
        version=str(info.get("git_commit") or ""),
        scorer="reward",
        further=passes(min([info.get("num_trials") or 1, *counts])),
        asked={"user": mapping(info, "user_info").get("llm"), "max_steps": info.get("max_steps")},
        notes=(
            _metrics(simulations),
            "the log has no system prompts: requests are shown without them",
            *(("calls are read without their speech, so they have no steps",) if has_ticks else ()),
        ),
    )


def _was_run(simulation: Mapping[str, Any]) -> bool:
    return simulation.get("termination_reason") != _NOT_RUN


def _metrics(simulations: Sequence[Mapping[str, Any]]) -> str:
    """Return what τ²-bench reports further, each number as its ``compute_metrics`` has it."""
    run = [one for one in simulations if _was_run(one)]
    rewards = [value for one in run if (value := number_of(mapping(one, "reward_info").get("reward"))) is not None]
    costs = [cost for one in run if (cost := number_of(one.get("agent_cost"))) is not None]
    checks = [check for one in run for check in mapping(one, "reward_info").get("action_checks") or ()]
    matches = [bool(check["db_match"]) for one in run if (check := mapping(one, "reward_info", "db_check"))]
    parts = [f"average reward {fmean(rewards):.4f} over {len(rewards):,} simulations"] if rewards else []
    parts += [f"agent cost {fmean(costs):.4f}"] if costs else []
    for kind in ("read", "write"):
        same = [bool(check.get("action_match")) for check in checks if check.get("tool_type") == kind]
        parts += [f"{kind} actions {sum(same):,}/{len(same):,}"] if same else []
    parts += [f"database {sum(matches):,}/{len(matches):,}"] if matches else []
    ends = Counter(str(one.get("termination_reason")) for one in simulations)
    return "; ".join([*parts, "ended by " + ", ".join(f"{name} {number:,}" for name, number in ends.most_common())])


def _tau2_answer(
    name: str, simulation: Mapping[str, Any], task: Mapping[str, Any], model: str, decoding: Mapping[str, Any]
) -> LoggedAnswer:
    turns = [turn for one in simulation.get("messages") or () if (turn := _tau2_turn(one))]
    ended = str(simulation.get("termination_reason"))
    why = f"{ended}: {str(mapping(simulation, 'info').get('error') or '')[:_LAST]}"
    completion = completion_of(last_text(turns), error=None if _was_run(simulation) else why)
    steps = requests_in(turns, model)
    criteria = mapping(task, "evaluation_criteria")
    expected = [
        *calls_as_text(criteria.get("actions"), "arguments"),
        *map(str, criteria.get("communicate_info") or ()),
        *map(str, criteria.get("nl_assertions") or ()),
    ]
    return LoggedAnswer(
        id=name,
        completion=replace(
            completion,
            seconds=number_of(simulation.get("duration")) or 0.0,
            usage=total_usage(steps),
            trajectory=steps,
        ),
        gold="\n".join(expected) or None,
        question=_question(task),
        prompt=first_prompt(turns),
        values=numbers_of({"reward": mapping(simulation, "reward_info").get("reward")}) if _was_run(simulation) else {},
        reason=ended,
        decoding=decoding,
    )


def _question(task: Mapping[str, Any]) -> str:
    """Return what the user is after, or the ticket of an agent without a user."""
    wanted = mapping(task, "user_scenario").get("instructions")
    parts = wanted if isinstance(wanted, Mapping) else {"ticket": wanted or task.get("ticket")}
    lines = [value for key, value in parts.items() if key != "domain"]
    return "\n".join(str(line) for line in lines if line)


def _tau2_turn(message: Mapping[str, Any]) -> SeenTurn | None:
    """Return a message; None if the agent does not see it: calls of the user, and their results."""
    role, text = str(message["role"]), str(message.get("content") or "")
    if role == "tool":
        return SeenTurn(role, text, call_id=str(message["id"])) if message.get("requestor") != "user" else None
    calls = message.get("tool_calls") or ()
    if role != "assistant":
        return None if calls else SeenTurn(role, text)
    named = tuple((str(one["id"]), _call(one)) for one in calls)
    usage = mapping(message, "usage")
    if not calls and not usage and not message.get("raw_data"):  # the greeting, which no model wrote
        return SeenTurn(role, text)
    counts = {"input_tokens": usage.get("prompt_tokens"), "output_tokens": usage.get("completion_tokens")}
    answer = answer_of(text, named, counts, message.get("generation_time_seconds"))
    return SeenTurn(role, text, named, answer=answer, cost=number_of(message.get("cost")))


def _call(call: Mapping[str, Any]) -> ToolCall:
    return ToolCall(str(call["name"]), json.dumps(call["arguments"], ensure_ascii=False))


TAU_FORMAT: Final = of_files(
    "τ-bench", lambda file: file.has("task_id", "reward", "info", "traj"), lambda files: map(_task, files)
)
TAU2_FORMAT: Final = of_files("τ²-bench", _recognizes_tau2, lambda files: map(_tau2_task, files))
