"""Conversations of an agent with a model that answers from a script. Imports nothing of this program or another."""

from __future__ import annotations

from typing import Any, Final

QUESTION: Final = "What is 6 times 7?"


def _call(program: str, thought: str = "I compute it.") -> str:
    return f"Thought: {thought}\nAction: PythonInterpreter\nAction Input: {program}"


def _fenced(body: str, language: str = "python") -> str:
    return _call(f"```{language}\n{body}\n```")


_RIGHT: Final = _fenced("def solution():\n    return 6 * 7")
_FINAL: Final = "Thought: I know it.\nFinal Answer: 42"
_SHOTS: Final = [
    {"role": "user", "content": "What is 1 plus 1?"},
    {
        "role": "assistant",
        "content": "Tool:PythonInterpreter\nTool Input:```python\ndef solution():\n    return 2\n```",
    },
    {"role": "system", "content": "Response:2"},
    {"role": "assistant", "content": "FinalAnswer: {2}"},
]
_ROLES: Final = {
    "round": [
        {"role": "HUMAN", "begin": "<|user|>\n", "end": "<|end|>\n"},
        {"role": "BOT", "begin": "<|bot|>\n", "end": "<|end|>\n", "generate": True},
    ]
}

CASES: Final[dict[str, dict[str, Any]]] = {
    "a right program": {"answers": [_RIGHT, _FINAL]},
    "the whole text is the program": {"answers": [_call("def solution(): return 'a\"b'"), _FINAL]},
    "a program in quotes": {"answers": [_call('"def solution(): return 1"'), _FINAL]},
    "a fence without a language": {"answers": [_fenced("def solution(): return [1, {'a': None}]", ""), _FINAL]},
    "two blocks of code": {"answers": [_RIGHT + "\nor\n```python\ndef solution(): return 0\n```", _FINAL]},
    "an open block of code": {"answers": [_call("```python\ndef solution(): return 5"), _FINAL]},
    "a function that does not exist": {"answers": [_fenced("def answer():\n    return 42"), _RIGHT, _FINAL]},
    "a program that raises": {"answers": [_fenced("def solution():\n    raise KeyError('it\\'s \"x\"')"), _FINAL]},
    # The words and columns of this error are the same in every version of Python.
    "a program that is no Python": {"answers": [_fenced("def solution(:\n    return 1"), _FINAL]},
    "a value without a text": {
        "answers": [
            _fenced("class A:\n    def __str__(self): raise ValueError('n')\ndef solution(): return A()"),
            _FINAL,
        ]
    },
    "printed text": {"answers": [_fenced("print('hello')\ndef solution(): print(1)"), _FINAL]},
    "the names of the module": {
        "answers": [_fenced("def solution(): return __name__, __builtins__ is not None"), _FINAL]
    },
    "a program without an end": {
        "answers": [_fenced("def solution():\n    while True:\n        pass"), _FINAL],
        "agent": {"actions": [{"type": "PythonInterpreter", "description": "It runs Python.", "timeout": 1}]},
    },
    "no action": {"answers": ["It is 42.", _FINAL]},
    "nothing at all": {"answers": ["", _FINAL]},
    "two actions": {
        "answers": [f"{_RIGHT}\n{_fenced('def solution(): return 2')}", _RIGHT + "\nResponse: 1\n", _FINAL]
    },
    "an action without input": {"answers": ["Thought: hm\nAction: PythonInterpreter\n", _FINAL]},
    "an action at the end of the text": {"answers": ["Action: PythonInterpreter", _FINAL]},
    "an unknown tool": {
        "answers": ["Action: Browser\nAction Input: 6 times 7", "Action: Browser\nAction Input:", _FINAL]
    },
    "the tools of the protocol": {
        "answers": ["Action: NoAction\nAction Input: wait", "Action: FinishAction\nAction Input: 42"]
    },
    "an answer at once": {"answers": ["Thought: easy\nFinal Answer: 41\nFinal Answer: 42\n"]},
    "an answer beside a program": {"answers": [f"{_RIGHT}\nFinal Answer: 42"]},
    "no answer in the last turn": {"answers": [_RIGHT, _RIGHT, _RIGHT]},
    "one turn": {"answers": [_RIGHT], "agent": {"max_turn": 1}},
    "few-shot examples": {"answers": [_RIGHT, _FINAL], "history": _SHOTS},
    "few-shot examples for a text model": {"answers": [_RIGHT, _FINAL], "history": _SHOTS, "is_text": True},
    "a text model": {"answers": ["hm", _RIGHT, _FINAL], "is_text": True},
    "a text model with roles": {"answers": [_RIGHT, _FINAL], "is_text": True, "roles": _ROLES, "history": _SHOTS[:2]},
    "braces": {"answers": [_fenced("def solution(): return {'{thought}': '{0}'}"), "Final Answer: {x}"]},
    "a protocol of its own": {
        "answers": ["Idea: so\nDo: PythonInterpreter\nWith: def solution(): return 42", "Idea: yes\nEnd: 42"],
        "agent": {
            "max_turn": 2,
            "protocol": {
                "type": "ReActProtocol",
                "call_protocol": "{tool_description}\n"
                "{thought} {action} {action_names} {action_input} {response}{finish}",
                "force_stop": "Stop.",
                "thought": {"role": "THOUGHT", "begin": "Idea:", "end": "\n", "belong": "assistant"},
                "action": {"role": "ACTION", "begin": "Do:", "end": "\n"},
                "action_input": {"role": "ARGS", "begin": "With:", "end": "\n"},
                "response": {"role": "RESPONSE", "begin": "Got:", "end": "\n"},
                "finish": {"role": "FINISH", "begin": "End:", "end": "\n"},
            },
        },
    },
    "the defaults of lagent": {
        "answers": [_RIGHT, "hm", "hm", _FINAL],
        "kind": "LagentAgent",
        "agent": {"agent_type": "ReAct", "actions": [{"type": "PythonInterpreter"}]},
    },
}
"""Name → ``answers`` of the model, and where they are not the defaults: ``history`` before the question, ``is_text``
and ``roles`` of the model, ``kind`` and ``agent``: class of OpenCompass and its arguments."""
