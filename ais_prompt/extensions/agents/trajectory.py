"""Trajectories: the requests of an agent in the form in which they are stored, and the calls of tools in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from ais_prompt.types import (
    Completion,
    Decoding,
    Failure,
    ModelCall,
    Price,
    Prompt,
    Usage,
    decoding_to_json,
    prompt_to_json,
    requests_of,
)
from ais_prompt.utils import CALL, RESULT, parse_written


class AskedStep(Struct, frozen=True):
    """One request to a model, whole.

    Attributes:
        prompt, decoding: as sent.
        completion: its answer; None if the sample ended before.
        began: seconds from the start of the sample.
        api, named: as in `ModelCall`.
    """

    prompt: Prompt
    decoding: Decoding
    completion: Completion | None
    began: float = 0.0
    api: str = ""
    named: str = ""


def trajectory_of(steps: Iterable[AskedStep], price: Price | None) -> tuple[ModelCall, ...]:
    """Return requests as they are stored: messages and options that repeat those of the one before are left out."""
    found: list[ModelCall] = []
    before: Sequence[Mapping[str, Any]] = ()
    last: Mapping[str, Any] | None = None
    for step in steps:
        prompt = prompt_to_json(step.prompt)
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        pairs = enumerate(zip(messages, before, strict=False))
        shared = next((place for place, (ours, theirs) in pairs if ours != theirs), min(len(messages), len(before)))
        values = decoding_to_json(step.decoding)
        extra = values.pop("extra")
        fields = {**{name: value for name, value in values.items() if value not in (None, (), [])}, **extra}
        answer = step.completion or Completion(failure=Failure("cancelled", "the sample ended before the answer came"))
        kept = None if fields == last else fields
        rest = tuple(messages[shared:])
        found.append(
            ModelCall(shared, rest, kept, answer, step.began, step.api, step.named, cost_of(answer.usage, price))
        )
        before, last = messages, fields
    return tuple(found)


def cost_of(usage: Usage, price: Price | None) -> float | None:
    """Return the cost of a request; None without a price."""
    if price is None:
        return None
    return price.cost(usage.prompt_tokens or 0, usage.completion_tokens or 0, usage)


class CalledTool(NamedTuple):
    """A call of a tool.

    Attributes:
        name: of the tool.
        arguments: as a JSON value; the text itself if it is no JSON.
        result: what the agent told the model of it; None if it told nothing.
        step: number of the request whose answer has the call, from 0.
    """

    name: str
    arguments: Any
    result: str | None
    step: int


def called_tools(trajectory: Sequence[ModelCall]) -> list[CalledTool]:
    """Return the calls of tools that the model asked for, in order, with the results that later requests show.

    A call is found in the answers. Its result is found in the request after it, in which the call has the id that the
    proxy gave it.
    """
    found = []
    requests = requests_of(trajectory)
    for place, call in enumerate(trajectory):
        wanted = [(one.name, one.arguments) for one in call.completion.tool_calls]
        results = _results(requests[place][0], [messages for messages, _ in requests[place + 1 :]], wanted)
        for (name, arguments), result in zip(wanted, results, strict=True):
            found.append(CalledTool(name, _parsed(arguments), result, place))
    return found


def _results(
    asked: Sequence[Mapping[str, Any]],
    later: Sequence[Sequence[Mapping[str, Any]]],
    wanted: Sequence[tuple[str, str]],
) -> list[str | None]:
    """Return the results of the calls of one answer: those of the first later request that goes on from it."""
    nothing: list[str | None] = [None] * len(wanted)
    if not wanted:
        return nothing
    for messages in later:
        if list(messages[: len(asked)]) != list(asked) or len(messages) <= len(asked):
            continue
        contents = [message["content"] for message in messages[len(asked) :]]
        parts = [part for content in contents if not isinstance(content, str) for part in content]
        calls = [part for part in parts if part.get("type") == CALL][: len(wanted)]
        texts = {part["id"]: str(part.get("text", "")) for part in parts if part.get("type") == RESULT}
        if [call["name"] for call in calls] == [name for name, _ in wanted]:
            return [texts.get(call["id"]) for call in calls]
    return nothing


def _parsed(arguments: str) -> Any:
    try:
        return parse_written(arguments or "{}")
    except ValueError:
        return arguments
