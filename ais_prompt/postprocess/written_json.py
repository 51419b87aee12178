"""JSON that a model writes as text: a value, which may be a code block or a part of the answer; and calls of tools."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

from ais_prompt.postprocess.rule_engine import said
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import Extraction, ToolCall
from ais_prompt.utils import DECODER, late, parse_written

_FENCE: Final = late(r"```(?:json|JSON)?[ \t]*\n(.*?)```", re.DOTALL)
_START: Final = late(r"[{\[]")
_MOST_STARTS: Final = 1000
"""Places at which JSON may begin that are tried."""


_TRAILING_COMMA: Final = late(r",(?=\s{0,100}[}\]])")
_MOST_LENIENT: Final = 20_000
"""Characters of a text that Python may read as a value."""


@POSTPROCESSORS.register_module()
def json_postprocess(text: str, lenient: bool = False) -> Extraction | None:
    r"""Return the JSON of an answer: all of it, a code block, or the longest object or list in it. None without one.

    >>> json_postprocess('Here it is: {"city": "Rome"}. Is it right?')
    '{"city": "Rome"}'
    >>> json_postprocess("Rome, of course.")
    >>> json_postprocess("{'city': 'Rome', 'large': True,}", lenient=True)
    '{"city": "Rome", "large": true}'

    Args:
        text: the answer.
        lenient: whether a value as Python writes it, or with a comma before a bracket that closes, counts as JSON.
    """
    source = said(text, fold=False)
    if _is_json(source.text):
        return source.stripped("all of it", 0, len(source.text))
    blocks = (found for found in _FENCE.finditer(source.text) if _is_json(found[1]))
    if block := next(blocks, None):
        return source.stripped("a code block", *block.span(1))
    if lenient and (first := _START.search(source.text)):
        outer = first.start(), max(map(source.text.rfind, "}]")) + 1
        if (value := _repaired(source.text[slice(*outer)])) is not None:
            return source.extraction("JSON with mistakes", *outer, value)
    longest = max(_values(source.text), key=lambda span: span[1] - span[0], default=None)
    return source.extraction("JSON in the text", *longest) if longest else None


def _values(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the objects and lists in a text that are not inside of others."""
    end = 0
    # Each failure reads on to the first fault, so that text of brackets would take time by its length squared.
    for found in islice(_START.finditer(text), _MOST_STARTS):
        if found.start() < end:
            continue
        try:
            _, end = DECODER.raw_decode(text, found.start())
        except RecursionError:
            return
        except ValueError:
            continue
        yield found.start(), end


def _repaired(text: str) -> str | None:
    """Return the JSON of an object or list as Python writes it, or with a comma at its end; None for other texts."""
    if len(text) > _MOST_LENIENT:
        return None
    if _is_json(without := _TRAILING_COMMA.sub("", text)):
        return without
    if "\\" in text:  # Python warns of escapes that it does not know
        return None
    try:
        return json.dumps(ast.literal_eval(text), ensure_ascii=False)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _is_json(text: str) -> bool:
    try:
        parse_written(text)
    except ValueError:
        return False
    return True


ToolFormat: TypeAlias = Literal["hermes", "qwen", "llama3", "mistral"]
"""How a model writes calls:

- ``hermes``, ``qwen``: ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``, one for each call;
- ``llama3``: ``{"name": ..., "parameters": {...}}``, several with ``;`` between them, also behind ``<|python_tag|>``;
- ``mistral``: ``[TOOL_CALLS]`` and a list of calls, or ``[TOOL_CALLS]name[ARGS]{...}`` for each call.
"""

_HERMES: Final = late(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_PYTHON_TAG: Final = "<|python_tag|>"
_MISTRAL: Final = "[TOOL_CALLS]"
_ENDS: Final = late(r"<\|e(?:om|ot)_id\|>|</s>|<\|im_end\|>")


def read_calls(text: str, form: ToolFormat) -> tuple[ToolCall, ...] | None:
    """Return the calls in a text; empty if it has none, None if what should be a call is no JSON of one."""
    try:
        return tuple(map(_call, _PARSERS[form](_ENDS.sub("", text).strip())))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def calls_as_text(calls: Sequence[ToolCall]) -> str | None:
    """Return calls as JSON, ``[{"name": ..., "arguments": {...}}]``; None if arguments of one are no JSON object."""
    found = []
    for call in calls:
        try:
            arguments = parse_written(call.arguments or "{}")
        except ValueError:
            return None
        if not isinstance(arguments, dict):
            return None
        found.append({"name": call.name, "arguments": arguments})
    return json.dumps(found, ensure_ascii=False)


@POSTPROCESSORS.register_module()
def tool_calls_postprocess(text: str) -> str | None:
    """Return the calls of `ToolCallInferencer`, a list in JSON; None if they are no calls in JSON.

    >>> tool_calls_postprocess('[{"name": "add", "arguments": {"a": 1}}]')
    '[{"name": "add", "arguments": {"a": 1}}]'
    >>> tool_calls_postprocess("I would call add.")
    """
    try:
        calls = parse_written(said(text, fold=False).text)
    except ValueError:
        return None
    if not isinstance(calls, list):
        return None
    fits = all(isinstance(call, dict) and {"name", "arguments"} <= set(call) for call in calls)
    return json.dumps(calls, ensure_ascii=False) if fits else None


def _call(value: Any) -> ToolCall:
    """Return a call of its JSON.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    arguments = value["arguments"] if "arguments" in value else value.get("parameters", {})
    if isinstance(arguments, str):
        arguments = parse_written(arguments)
    if not isinstance(value["name"], str) or not isinstance(arguments, Mapping):
        raise TypeError("no call")
    return ToolCall(value["name"], json.dumps(arguments, ensure_ascii=False))


def _hermes(text: str) -> Iterator[Any]:
    return (parse_written(found[1]) for found in _HERMES.finditer(text))


def _llama3(text: str) -> Iterator[Any]:
    _, tag, behind = text.rpartition(_PYTHON_TAG)
    if not tag and not text.startswith("{"):
        return
    rest = behind.strip()
    while rest:
        value, end = DECODER.raw_decode(rest)
        yield value
        rest = rest[end:].lstrip(" \t\r\n;,")


def _mistral(text: str) -> Iterator[Any]:
    _, mark, behind = text.partition(_MISTRAL)
    if not mark:
        return
    if behind.lstrip().startswith("["):
        yield from DECODER.raw_decode(behind.lstrip())[0]
        return
    for piece in behind.split(_MISTRAL):
        name, _, arguments = piece.partition("[ARGS]")
        yield {"name": name.partition("[CALL_ID]")[0].strip(), "arguments": parse_written(arguments)}


_PARSERS: Final[Mapping[ToolFormat, Callable[[str], Iterator[Any]]]] = {
    **{"hermes": _hermes, "qwen": _hermes, "llama3": _llama3, "mistral": _mistral}
}
