"""The ReAct protocol: what a prompt says of the tool, and what an answer asks for.

Source: Yao et al. 2022, "ReAct: Synergizing Reasoning and Acting in Language Models". Marks, the rules for reading an
answer and the messages about answers without a usable tool are those of lagent 0.1.2 (Apache-2.0,
https://github.com/InternLM/lagent), with which OpenCompass builds its agents.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from ais_prompt.errors import ConfigError
from ais_prompt.types import AgentStep

CALL_PROTOCOL: Final = """\
Answer the question. You may run programs with this tool:

{tool_description}

To use the tool, reply in this form:
{thought} what you need to find out
{action} {action_names}
{action_input} the input of the tool

You are then shown its result after "{response}". Do not write the result yourself.
As soon as you know the answer, reply in this form:
{thought} how you found it
{finish} the answer"""
FORCE_STOP: Final = "This is your last reply: give the final answer from what is known so far."
MARKS: Final = {
    "thought": "Thought:",
    "action": "Action:",
    "action_input": "Action Input:",
    "response": "Response:",
    "finish": "Final Answer:",
}
"""Part of a reply → the text before it."""

_FINISH, _NOTHING = "FinishAction", "NoAction"
"""Names that an answer may use in place of a tool."""
_NO_ACTION: Final = "Please follow the format"
_UNKNOWN_ACTION: Final = "The action is invalid, please check the action name."


class ReActProtocol(Struct, frozen=True):
    """The protocol with one tool.

    Attributes:
        call_protocol, force_stop, marks: as in `ais_prompt.extensions.programs.agent.AgentInferencer`.
        tool, description: name and description of the tool.
    """

    call_protocol: str
    force_stop: str
    marks: dict[str, str]
    tool: str
    description: str

    def instruction(self) -> str:
        """Return the system prompt.

        Raises:
            ConfigError: it has a placeholder that does not exist.
        """
        names = {"tool_description": f"{self.tool}: {self.description}", "action_names": self.tool, **self.marks}
        try:
            return self.call_protocol.format(**names)
        except (LookupError, ValueError, AttributeError) as error:
            raise ConfigError(
                f"call_protocol cannot be filled: {error!r}",
                where="call_protocol",
                fix=f"use the placeholders {', '.join(f'{{{name}}}' for name in names)}; write other braces twice",
            ) from None

    def read(self, answer: str) -> AgentStep:
        """Return what an answer asks for. A call of the tool has the status ``value``, and no output yet."""
        thought = answer.split(self.marks["action"])[0].split(self.marks["thought"])[-1]
        thought = thought.split(self.marks["finish"])[0]
        _, finishes, final = answer.rpartition(self.marks["finish"])
        if finishes:
            return AgentStep("answer", thought, _FINISH, final, final)
        actions = re.findall(f"{re.escape(self.marks['action'])}(.*?)\n", answer)
        _, has_input, text = answer.partition(self.marks["action_input"])
        if not actions or not has_input:
            return AgentStep("none", thought, output=_NO_ACTION)
        action, text = actions[-1].strip(), text.strip().strip('"')
        if action == self.tool:
            return AgentStep("value", thought, action, text)
        if action == _FINISH:
            return AgentStep("answer", thought, action, text, text)
        if action == _NOTHING:
            return AgentStep("none", thought, input=text, output=text or _NO_ACTION)
        return AgentStep("unknown", thought, action, text, text or _UNKNOWN_ACTION)

    def response(self, step: AgentStep) -> str:
        """Return the message that shows the model the output of a step."""
        return f"{self.marks['response']}{step.output}\n"


def program_in(text: str) -> str:
    """Return the program in the input of the tool: the first block of code, or all of it."""
    for fence in ("```python", "```"):
        if fence in text:
            return text.split(fence)[1].split("```")[0]
    return text
