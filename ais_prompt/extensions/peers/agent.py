"""Translate agents of OpenCompass: the model inside one is asked, and its protocol becomes that of `AgentInferencer`.

The prompts are those of OpenCompass 0.5.4 (``opencompass/models/lagent.py``) and lagent 0.1.2
(``lagent/agents/react.py``, ``lagent/actions/python_interpreter.py``), word for word, since a model is compared with
results under them. Both are under the Apache License 2.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from ais_prompt.extensions.peers.parts import Translation, is_part
from ais_prompt.extensions.peers.scoring import last_name
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import AgentStep

_AGENTS: Final = ("CodeAgent", "LagentAgent")
_OF_MODEL: Final = (
    "abbr",
    "batch_size",
    "max_out_len",
    "min_out_len",
    "pred_postprocessor",
    "run_cfg",
    "summarizer_abbr",
)
"""Keys that a config gives the agent and that concern the model inside."""
_OF_AGENT: Final = ("type", "llm", "agent_type", "max_turn", "actions", "protocol")
_INTERPRETER: Final = "PythonInterpreter"
_FIX: Final = "ask the model without it: CodeAgent(llm=...); or the agent itself as FunctionModel: docs/applications.md"
_NOTE: Final = (
    "AgentInferencer: the model is asked as CodeAgent of OpenCompass asks its llm; programs run in the sandbox, which "
    "has no network and no files of yours"
)

_CODE_PROTOCOL: Final = """\
You are a assistant who can utilize external tools.
{tool_description}
To use a tool, please response with the following format:
```
{thought} Think what you need to solve, do you need to use tools?
{action} The tool name, should be one of [{action_names}].
{action_input} The input to the tool that you want to use.
```
The tool will give you response after your response using the following format:
```
{response} the results after call the tool.
```
Therefore DO NOT generate tool response by yourself.

Also please follow the guidelines:
1. Always use code interpreter to solve the problem.
2. The generated codes should always in a markdown code block format.
3. The generated codes will be executed in an ipython manner and the results will be cached.
4. Your responded code should always be simple and only solves the problem in current step.

Begin!
"""
_CODE_FORCE_STOP: Final = "You should directly give results based on history information."
_CODE_DESCRIPTION: Final = """\
It can run a Python code. The code must be a valid code that contains only python method, and the method' name must be \
'solution' and returns a dict, which key is variable name. The libraries I recommend are sympy and scipy. the format is:
```python
# import packages
import xxx
def solution():
    # initialize some variables
    variable_names_with_real_meaning = xxx
    # middle steps
    mid_variable = func(mid_variable)
    # final answer
    final_answer = func(mid_variable)
    return final_answer
```"""
_LAGENT_PROTOCOL: Final = """\
You are a assistant who can utilize external tools.
{tool_description}
To use a tool, please use the following format:
```
{thought}Think what you need to solve, do you need to use tools?
{action}the tool name, should be one of [{action_names}]
{action_input}the input to the action
```
The response after utilizing tools should using the following format:
```
{response}the results after call the tool.
``
If you already know the answer, or you do not need to use tools,
please using the following format to reply:
```
{thought}the thought process to get the final answer
{finish}final answer
```
Begin!"""
_LAGENT_FORCE_STOP: Final = "You should directly give results\n based on history information."
_LAGENT_DESCRIPTION: Final = """\
用来执行Python代码。代码必须是一个函数，
函数名必须得是 'solution'，代码对应你的思考过程。代码实例格式如下：
```python
# import 依赖包
import xxx
def solution():
    # 初始化一些变量
    variable_names_with_real_meaning = xxx
    # 步骤一
    mid_variable = func(variable_names_with_real_meaning)
    # 步骤 x
    mid_variable = func(mid_variable)
    # 最后结果
    final_answer =  func(mid_variable)
    return final_answer
```"""

_STATUSES: Final[Mapping[str, Literal["answer", "none", "unknown"]]] = {
    "FinishAction": "answer",
    "NoAction": "none",
    "InvalidAction": "unknown",
}
"""``type`` of a step there, where it is no tool → status here."""


def without_agents(values: Mapping[str, Any], translation: Translation) -> Mapping[str, Any]:
    """Return a config with the models inside of its agents; the arguments of the agents go to the translation.

    All agents of a config must be the same, since the datasets have their protocol here.
    """
    models = values.get("models")
    if not isinstance(models, list | tuple) or not any(map(_is_agent_model, models)):
        return values
    found = {
        index: _agent_arguments(model, f"models[{index}]", translation)
        for index, model in enumerate(models)
        if _is_agent_model(model)
    }
    first = next(iter(found.values()))
    for index in [index for index, other in found.items() if other != first]:
        what = "the agents of the config have different protocols or tools"
        translation.faults.add(what, f"models[{index}]", "run the models one by one")
    translation.agent = first
    kept = {**values, "models": list(map(_model_inside, models))}
    if isinstance(combinations := values.get("model_dataset_combinations"), list | tuple):
        kept["model_dataset_combinations"] = [
            {**one, "models": list(map(_model_inside, one["models"]))}
            if isinstance(one, Mapping) and isinstance(one.get("models"), list | tuple)
            else one
            for one in combinations
        ]
    return kept


def is_agent(inferencer: Any, translation: Translation) -> bool:
    """Return whether an inferencer is OpenCompass' ``AgentInferencer`` and has a counterpart here."""
    row = translation.native_row("inferencers", inferencer)
    return row is not None and row.ours == "AgentInferencer"


def as_agent(inferencer: Any, where: str, translation: Translation) -> Any:
    """Return a translated `AgentInferencer` of OpenCompass with the agent of the config, or else a ``CodeAgent``."""
    translation.notes.note(_NOTE, where)
    agent = translation.agent or _agent_arguments({"type": _AGENTS[0]}, where, translation)
    return {**inferencer, **agent, "max_out_len": 512}  # lagent always asks for as many tokens


def _react() -> Any:
    """Return our `AgentInferencer`, whose marks are those of lagent."""
    return INFERENCERS.get("AgentInferencer")


def peer_step(step: AgentStep) -> dict[str, Any]:
    """Return a step as ``LagentAgent.chat`` of OpenCompass does, for its evaluators.

    Source: ``ActionStatusCode`` and ``ActionValidCode`` of ``lagent/schema.py``, ``lagent/actions/builtin_actions.py``.
    """
    is_called, is_right = step.status in ("value", "error"), step.status in ("value", "answer")
    names: dict[str, str] = {status: name for name, status in _STATUSES.items()}
    program = f"```python\n{_react().program_in(step.input)}\n```" if is_called else step.input
    is_stopped = step.status == "error" and step.output.startswith("FunctionTimedOut(")
    return {
        "type": names.get(step.status, step.action),
        "args": None if is_stopped else {"text": program},
        "result": {"text": step.output} if is_right else None,
        "thought": step.thought,
        "state": 0 if is_right else -1002,
        "errmsg": None if is_right else step.output,
        "valid": {"answer": 1, "none": -2, "unknown": -2}.get(step.status, 0),
    }


def steps_of(values: Any) -> tuple[AgentStep, ...]:
    """Return the ``steps`` of a prediction of OpenCompass, the inverse of `peer_step`; empty for anything else."""
    found = [one for one in values if isinstance(one, Mapping)] if isinstance(values, list) else []
    return tuple(map(_step_of, found))


def _step_of(values: Mapping[str, Any]) -> AgentStep:
    parts = [values.get(key) for key in ("args", "result")]
    text, result = (str(part.get("text", "")) if isinstance(part, Mapping) else "" for part in parts)
    action, thought = str(values.get("type") or ""), str(values.get("thought") or "")
    is_right = values.get("state") == 0
    output = result if is_right else str(values.get("errmsg") or "")
    status = _STATUSES.get(action)
    if status is not None:
        return AgentStep(status, thought, "FinishAction" if status == "answer" else "", text, output)
    program = text.removeprefix("```python\n").removesuffix("\n```")
    return AgentStep("value" if is_right else "error", thought, action, program, output)


def _is_agent_model(model: Any) -> bool:
    return is_part(model) and model["type"].startswith("opencompass.") and last_name(model) in _AGENTS


def _model_inside(model: Any) -> Any:
    if not _is_agent_model(model) or not is_part(model.get("llm")):
        return model
    return {**model["llm"], **{key: model[key] for key in _OF_MODEL if key in model}}


def _agent_arguments(agent: Mapping[str, Any], where: str, translation: Translation) -> dict[str, Any]:
    """Return the arguments of `AgentInferencer` for those of an agent; what it cannot do is a fault."""
    is_code = last_name(agent) == _AGENTS[0]
    translation.known(agent, (*_OF_AGENT, *_OF_MODEL), {}, where)
    if "llm" in agent and not is_part(agent["llm"]):
        translation.faults.add("the agent has no model", f"{where}.llm", "write llm=dict(<a model>)")
    if (name := _name(agent.get("agent_type", "ReAct"))) != "ReAct":
        translation.faults.add(f"{name} is no agent that works here; ReAct is", f"{where}.agent_type", _FIX)
    tool = _tool(agent.get("actions", [{"type": _INTERPRETER}]), where, translation)
    description = tool.get("description", _CODE_DESCRIPTION if is_code and "actions" not in agent else None)
    if description is None:
        description = _LAGENT_DESCRIPTION
    name = tool.get("name") or _INTERPRETER
    protocol = _protocol(agent.get("protocol"), where, translation)
    is_own = is_code and agent.get("protocol") is None
    call = protocol.get("call_protocol", _CODE_PROTOCOL if is_own else _LAGENT_PROTOCOL)
    marks = {part: text for part, text in protocol.items() if part in _react().marks_by_default}
    return {
        "max_turn": agent.get("max_turn", 3 if is_code else 4),
        "call_protocol": call.replace("{tool_description}", _literal({name: description})).replace(
            "{action_names}", _literal([name])
        ),
        "force_stop": protocol.get("force_stop", _CODE_FORCE_STOP if is_own else _LAGENT_FORCE_STOP),
        **({"marks": marks} if marks else {}),
        **({"interpreter": name} if name != _INTERPRETER else {}),
        **({"expression": tool["answer_expr"]} if tool.get("answer_expr") else {}),
        **({"timeout": tool["timeout"]} if tool.get("timeout") else {}),
    }


def _literal(value: Any) -> str:
    """Return a value as lagent fills it in: as Python shows it. Braces are doubled for the next filling."""
    return str(value).replace("{", "{{").replace("}", "}}")


def _tool(actions: Any, where: str, translation: Translation) -> Mapping[str, Any]:
    """Return the options of the only tool; another tool is a fault."""
    [tool] = actions if isinstance(actions, Sequence) and len(actions) == 1 else [None]
    if not isinstance(tool, Mapping) or _name(tool.get("type")) != _INTERPRETER:
        what = f"the tools of the agent are not {_INTERPRETER} alone"
        translation.faults.add(what, f"{where}.actions", _FIX)
        return {}
    names = ("type", "name", "description", "answer_expr", "timeout")
    for key in sorted(tool.keys() - set(names)):
        what = f"{_INTERPRETER} has no option {key!r} here"
        translation.faults.add(what, f"{where}.actions[0].{key}", f"use {', '.join(names[1:])}")
    return tool


def _protocol(protocol: Any, where: str, translation: Translation) -> dict[str, str]:
    """Return the texts of a ``ReActProtocol``, marks included; another protocol is a fault."""
    if protocol is None:
        return {}
    place = f"{where}.protocol"
    if not isinstance(protocol, Mapping) or _name(protocol.get("type")) != "ReActProtocol":
        translation.faults.add("the protocol of the agent is no ReActProtocol", place, _FIX)
        return {}
    texts, marks = {}, _react().marks_by_default
    for key, value in protocol.items():
        if key in marks and isinstance(value, Mapping):
            texts[key] = str(value.get("begin", marks[key]))
            if key == "response" and value.get("end", "\n") != "\n":
                translation.faults.add("a response ends with a new line here", f"{place}.response.end", _FIX)
        elif key in ("call_protocol", "force_stop"):
            texts[key] = str(value)
        elif key != "type":
            translation.faults.add(f"ReActProtocol has no option {key!r} here", f"{place}.{key}", _FIX)
    return texts


def _name(kind: Any) -> str:
    """Return the last name of a ``type``, which is a dotted path or, where lagent is installed, the class."""
    return str(getattr(kind, "__name__", kind)).rpartition(".")[2]
