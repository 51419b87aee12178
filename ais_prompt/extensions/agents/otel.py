"""Trajectories as traces of OpenTelemetry, in the JSON of its protocol, with the names of its GenAI conventions.

Sources: the OpenTelemetry protocol ("OTLP/HTTP", JSON encoding), and its semantic conventions for generative AI: spans
of ``invoke_agent``, ``chat`` and ``execute_tool``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ais_prompt.extensions.agents.trajectory import called_tools
from ais_prompt.report import StoredResults, StoredSample, StoredTask
from ais_prompt.store import replacing, safe_name
from ais_prompt.types import Completion, ModelCall, requests_of
from ais_prompt.utils import digest, encode_finite

_CLIENT, _INTERNAL = 3, 1
_ERROR: Final = 2
_REASONS: Final = {"stop": "stop", "length": "length", "tool_calls": "tool_call"}


def write_traces(run: StoredResults, folder: Path) -> list[Path]:
    """Write a file of each task with trajectories: one trace for each answer.

    Raises:
        StoreError, DataError: a file cannot be read or written.
    """
    paths = []
    for task in run.tasks:
        spans = [span for sample in task.samples() for span in _spans(run, task, sample)]
        if not spans:
            continue
        resource = {"attributes": _attributes({"service.name": "aisprompt", "service.version": run.version})}
        scope = {"scope": {"name": "ais_prompt.extensions.agents"}, "spans": spans}
        paths.append(folder / f"{safe_name(task.model)}_{safe_name(task.dataset)}_traces.json")
        with replacing(paths[-1], binary=True) as stream:
            stream.write(encode_finite({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}))
    return paths


def _spans(run: StoredResults, task: StoredTask, sample: StoredSample) -> Iterator[dict[str, Any]]:
    for repeat, completion in enumerate(sample.prediction.completions):
        if completion.trajectory:
            yield from _trace(run, task, sample.prediction.sample_id, repeat, completion)


def _trace(
    run: StoredResults, task: StoredTask, sample_id: str, repeat: int, completion: Completion
) -> Iterator[dict[str, Any]]:
    """Yield the span of an answer, and those of its requests and calls. Times count from the start of the run."""
    trace = digest([run.folder.root.name, task.spec.name, sample_id, repeat], 32)
    start = int(run.started.timestamp() * 1e9)
    root = digest([trace, "root"], 16)
    facts = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": task.model,
        "gen_ai.usage.input_tokens": completion.usage.prompt_tokens,
        "gen_ai.usage.output_tokens": completion.usage.completion_tokens,
        "aisprompt.sample.id": sample_id,
        "aisprompt.dataset": task.dataset,
        "aisprompt.repeat": repeat,
    }
    yield _span(trace, root, "", f"invoke_agent {task.model}", _INTERNAL, start, completion.seconds, facts, completion)
    requests = requests_of(completion.trajectory)
    for number, (call, (messages, fields)) in enumerate(zip(completion.trajectory, requests, strict=True)):
        parent = digest([trace, number], 16)
        yield _span(
            trace,
            parent,
            root,
            f"chat {call.named or task.model_name}",
            _CLIENT,
            start + int(call.began * 1e9),
            call.completion.seconds,
            _chat(call, messages, fields),
            call.completion,
        )
    for number, called in enumerate(called_tools(completion.trajectory)):
        facts = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": called.name,
            "gen_ai.tool.call.arguments": encode_finite(called.arguments).decode().strip(),
            "gen_ai.tool.call.result": called.result,
        }
        # An agent says nothing of the times of its tools: they lie between the answer and the next request.
        step = completion.trajectory[called.step]
        later = (call.began for call in completion.trajectory[called.step + 1 :])
        begin = step.began + step.completion.seconds
        yield _span(
            trace,
            digest([trace, "tool", number], 16),
            root,
            f"execute_tool {called.name}",
            _INTERNAL,
            start + int(begin * 1e9),
            max(next(later, begin) - begin, 0.0),
            facts,
            Completion(),
        )


def _chat(call: ModelCall, messages: list[Mapping[str, Any]], fields: Mapping[str, Any]) -> dict[str, Any]:
    completion = call.completion
    output = {
        "role": "assistant",
        "parts": [
            *([{"type": "text", "content": completion.text}] if completion.text else []),
            *({"type": "tool_call", "name": one.name, "arguments": one.arguments} for one in completion.tool_calls),
        ],
        "finish_reason": _REASONS.get(str(completion.finish_reason), "error"),
    }
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": call.named or None,
        "gen_ai.request.max_tokens": fields.get("max_out_len"),
        "gen_ai.request.temperature": fields.get("temperature"),
        "gen_ai.request.top_p": fields.get("top_p"),
        "gen_ai.response.finish_reasons": [output["finish_reason"]],
        "gen_ai.usage.input_tokens": completion.usage.prompt_tokens,
        "gen_ai.usage.output_tokens": completion.usage.completion_tokens,
        "gen_ai.input.messages": encode_finite(messages).decode().strip(),
        "gen_ai.output.messages": encode_finite([output]).decode().strip(),
        "gen_ai.tool.definitions": encode_finite(fields["tools"]).decode().strip() if "tools" in fields else None,
        "aisprompt.cost": call.cost,
    }


def _span(
    trace: str,
    name: str,
    parent: str,
    title: str,
    kind: int,
    start: int,
    seconds: float,
    facts: Mapping[str, Any],
    completion: Completion,
) -> dict[str, Any]:
    failure = completion.failure
    more = {} if failure is None else {"error.type": failure.kind}
    return {
        "traceId": trace,
        "spanId": name,
        **({"parentSpanId": parent} if parent else {}),
        "name": title,
        "kind": kind,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + int(seconds * 1e9)),
        "attributes": _attributes({**facts, **more}),
        "status": {} if failure is None else {"code": _ERROR, "message": failure.message},
    }


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in values.items() if value is not None]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(one) for one in value]}}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": str(value)}
