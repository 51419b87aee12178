"""Read the results of τ²-bench: one JSON file, or ``results.json`` beside a folder of simulations.

Source: ``tau2/data_model/simulation.py``, ``tau2/data_model/message.py`` and ``tau2/metrics/agent_metrics.py`` of
https://github.com/sierra-research/tau2-bench (MIT), version 1.0.1 of 2026. Simulations that ended by an error of the
infrastructure are left out of the metrics there, and are failures here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.extensions.logs.agent_requests import SeenTurn, requests_in
from ais_prompt.extensions.logs.log_files import LogFile, mapping, of_files
from ais_prompt.extensions.logs.record import completion_of, decoding_of, number_of
from ais_prompt.extensions.logs.tau_bench import (
    answer_of,
    by_task,
    calls_as_text,
    first_prompt,
    last_text,
    passes,
)
from ais_prompt.types import LoggedAnswer, LoggedTask, ToolCall, total_usage

_NOT_RUN: Final = "infrastructure_error"
_LAST: Final = 300
"""Most characters of a message of an error that is no conversation."""


def _recognizes(file: LogFile) -> bool:
    # The tasks come before the simulations, and may be longer than what is looked at of a file.
    return file.has("info", "tasks") and bool(mapping(file.value, "info", "agent_info"))


def _read(files: Sequence[LogFile]) -> Iterator[LoggedTask]:
    for file in files:
        results, info = mapping(file.value), mapping(file.value, "info")
        simulations = [*(results.get("simulations") or ()), *_beside(file, results)]
        found = by_task(simulations)
        tasks = {str(one["id"]): one for one in results["tasks"]}
        trials = {name: found[name] for name in {**tasks, **found} if name in found}  # in the order of the tasks
        agent = mapping(info, "agent_info")
        model = str(agent.get("llm") or agent.get("implementation") or "unknown")
        counts = [number for one in trials.values() if (number := sum(map(_was_run, one)))]
        has_ticks = any(one.get("ticks") for one in simulations)
        yield LoggedTask(
            tool="τ²-bench",
            model=model,
            dataset=str(mapping(info, "environment_info").get("domain_name") or "unknown"),
            answers=partial(_answers, trials, tasks, model, decoding_of(agent.get("llm_args"))),
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


def _beside(file: LogFile, results: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the simulations that are files of their own."""
    folder = file.path.parent / "simulations"
    if not results.get("simulations") and folder.is_dir():
        for one in file.log.files_at(folder):
            yield mapping(one.value)


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


def _answers(
    trials: Mapping[str, Sequence[Mapping[str, Any]]],
    tasks: Mapping[str, Mapping[str, Any]],
    model: str,
    decoding: Mapping[str, Any],
) -> Iterator[LoggedAnswer]:
    for name, same in trials.items():
        for one in same:
            yield _answer(name, one, tasks.get(name, {}), model, decoding)


def _answer(
    name: str, simulation: Mapping[str, Any], task: Mapping[str, Any], model: str, decoding: Mapping[str, Any]
) -> LoggedAnswer:
    turns = [turn for one in simulation.get("messages") or () if (turn := _turn(one))]
    reward = number_of(mapping(simulation, "reward_info").get("reward"))
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
        values={} if reward is None or not _was_run(simulation) else {"reward": reward},
        reason=ended,
        decoding=decoding,
    )


def _question(task: Mapping[str, Any]) -> str:
    """Return what the user is after, or the ticket of an agent without a user."""
    wanted = mapping(task, "user_scenario").get("instructions")
    parts = wanted if isinstance(wanted, Mapping) else {"ticket": wanted or task.get("ticket")}
    lines = [value for key, value in parts.items() if key != "domain"]
    return "\n".join(str(line) for line in lines if line)


def _turn(message: Mapping[str, Any]) -> SeenTurn | None:
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


FORMAT: Final = of_files("τ²-bench", _recognizes, _read)
