"""Calls that models write as text."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ais_prompt.postprocess import ToolFormat, calls_as_text, read_calls, tool_calls_postprocess
from ais_prompt.types import ToolCall

ADD = '{"name": "add", "arguments": {"a": 1}}'
SUB = '{"name": "sub", "arguments": {"b": "}"}}'
CALLS = [("add", {"a": 1}), ("sub", {"b": "}"})]


DEEP = '{"a": ' * 100_000 + "1" + "}" * 100_000


@pytest.mark.parametrize(
    "arguments", ['{"a": NaN}', '{"a": 1e999}', f'{{"a": {"9" * 5000}}}', DEEP, "null", "[1]", '{"a"']
)
def test_odd_arguments_are_no_calls(arguments: str) -> None:
    assert calls_as_text([ToolCall("add", arguments)]) is None
    assert tool_calls_postprocess(f'[{{"name": "add", "arguments": {arguments[:-1]}') is None
    assert read_calls(f'<tool_call>{{"name": "add", "arguments": {arguments}}}</tool_call>', "hermes") is None
    assert read_calls(f"[TOOL_CALLS]add[ARGS]{arguments}", "mistral") is None
    assert read_calls(f'<|python_tag|>{{"name": "add", "parameters": {arguments}}}', "llama3") is None


def test_the_last_of_equal_arguments_counts() -> None:
    assert calls_as_text([ToolCall("add", '{"a": 1, "a": 2}')]) == '[{"name": "add", "arguments": {"a": 2}}]'


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("hermes", f"<tool_call>\n{ADD}\n</tool_call>\n<tool_call>{SUB}</tool_call>", CALLS),
        ("qwen", f"I add.\n<tool_call>\n{ADD}\n</tool_call><|im_end|>", CALLS[:1]),
        ("hermes", f"<tool_call>{ADD}", CALLS[:1]),  # the end may be a special token that is left out
        ("hermes", "It is 3.", []),
        ("hermes", "<tool_call>add(1)</tool_call>", None),
        ("hermes", '<tool_call>{"arguments": {}}</tool_call>', None),
        ("hermes", '<tool_call>{"name": "add", "arguments": [1]}</tool_call>', None),
        ("llama3", '<|python_tag|>{"name": "add", "parameters": {"a": 1}}<|eom_id|>', CALLS[:1]),
        ("llama3", f'{{"name": "add", "parameters": {{"a": 1}}}}; {SUB}', CALLS),
        ("llama3", "It is 3.", []),
        ("llama3", '{"name": "add", "parameters": ', None),
        ("mistral", f"[TOOL_CALLS] [{ADD}, {SUB}]</s>", CALLS),
        ("mistral", '[TOOL_CALLS]add[ARGS]{"a": 1}[TOOL_CALLS]sub[CALL_ID]x1[ARGS]{"b": "}"}', CALLS),
        ("mistral", "It is 3.", []),
        ("mistral", "[TOOL_CALLS] add", None),
    ],
)
def test_common_formats(form: ToolFormat, text: str, expected: list[tuple[str, object]] | None) -> None:
    found = read_calls(text, form)
    assert (None if found is None else [(one.name, json.loads(one.arguments)) for one in found]) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.thorough
@given(st.lists(st.tuples(st.text(min_size=1), st.dictionaries(st.text(), JSON)), min_size=1, max_size=4))
def test_whatever_is_written_is_read(calls: list[tuple[str, dict[str, object]]]) -> None:
    objects = [json.dumps({"name": name, "arguments": arguments}) for name, arguments in calls]
    assume(not any(mark in text for text in objects for mark in ("tool_call", "TOOL_CALLS", "<|", "</s>")))
    texts: dict[ToolFormat, str] = {
        "hermes": "".join(f"<tool_call>\n{one}\n</tool_call>" for one in objects),
        "llama3": "; ".join(objects),
        "mistral": f"[TOOL_CALLS] [{', '.join(objects)}]",
    }
    for form, text in texts.items():
        found = read_calls(text, form)
        assert found is not None
        assert [(one.name, json.loads(one.arguments)) for one in found] == calls


def test_calls_as_one_json_text() -> None:
    text = calls_as_text([ToolCall("add", '{"a": 1}'), ToolCall("now", "")])
    assert text == '[{"name": "add", "arguments": {"a": 1}}, {"name": "now", "arguments": {}}]'
    assert tool_calls_postprocess(text) == text
    assert calls_as_text([ToolCall("add", "a=1")]) is None
    assert calls_as_text([ToolCall("add", "[1]")]) is None
    assert tool_calls_postprocess("add a=1") is None
    assert tool_calls_postprocess('[{"name": "add"}]') is None
    assert tool_calls_postprocess("[]") == "[]"
