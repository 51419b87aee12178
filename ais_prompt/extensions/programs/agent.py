"""Let a model run programs on its way to an answer, in several turns (`AgentInferencer`), by the ReAct protocol.

Source: Yao et al. 2022, "ReAct: Synergizing Reasoning and Acting in Language Models". Marks, the rules for reading an
answer and the messages about answers without a usable tool are those of lagent 0.1.2 (Apache-2.0,
https://github.com/InternLM/lagent), with which OpenCompass builds its agents.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, Final, Literal

from msgspec import Struct, json
from msgspec.structs import replace

from ais_prompt.errors import ConfigError, SandboxError
from ais_prompt.extensions.programs.sandbox import Evaluation, allowed_isolation, evaluate_program, find_isolation
from ais_prompt.inferencers import ChatInferencer, Conversation, InferenceContext, Preview, dialogue_failure
from ais_prompt.prompts import Filled, FilledDialogue, Item, PromptList, text_of
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import AgentStep, Completion, Execution, Failure, Prediction, Prompt, Request, Sample

DESCRIPTION: Final = """\
Runs a Python program and shows what its function `solution`, which takes no arguments, returns; printed text is not \
shown:
```python
def solution():
    return 6 * 7
```"""
NO_ANSWER: Final = "Sorry that I cannot answer your question."
"""The prediction if no turn has a final answer; lagent's words."""
_ENDINGS: Final = {
    "memory": "MemoryError()",
    "exited": "SystemExit('the program ended before it returned a value')",
    "forbidden": "PermissionError('the program may not do this')",
}
"""How a program ended that has no error of its own → the text in place of one."""
_PLACES: Final = threading.BoundedSemaphore(os.cpu_count() or 1)
"""As many programs run at a time as the machine has processors, so that none takes longer because of the others."""

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


def program_in(text: str) -> str:
    """Return the program in the input of the tool: the first block of code, or all of it."""
    for fence in ("```python", "```"):
        if fence in text:
            return text.split(fence)[1].split("```")[0]
    return text


@INFERENCERS.register_module()
class AgentInferencer(ChatInferencer):
    """Lets the model answer in several turns, in which it may run programs: ReAct with a Python interpreter.

    In each turn the model writes a thought, and a program or its final answer. A program runs in the sandbox
    (docs/sandbox.md), and what it returns is shown to the model in the next turn. The prediction is the final answer;
    ``steps`` of the prediction has the programs and their results. Outputs are stored, so that a resumed run does not
    run a program again.

    The chat of a row is made as for `ChatInferencer`; its last question is asked, after the gold answers of the others.

    Args:
        max_turn: most turns. The last one asks for the answer.
        call_protocol: the system prompt, with the placeholders ``{tool_description}``, ``{action_names}`` and one for
            each mark.
        force_stop: a system message before the last turn.
        marks: texts before ``thought``, ``action``, ``action_input``, ``response`` and ``finish``; those that are not
            given are ``Thought:``, ``Action:``, ``Action Input:``, ``Response:`` and ``Final Answer:``.
        interpreter: the name of the tool.
        description: what the system prompt says of it.
        expression: what is computed after the program ran; its value is shown to the model.
        max_out_len, stopping_criteria, stop_token_ids, seed: as in `MultiTurnGenInferencer`.
        allow_code_execution, memory, sandbox: as in `HumanEvalEvaluator`.
        timeout: most seconds for one program.

    Attributes:
        isolation: how programs are kept apart, as people read it.

    Raises:
        ConfigError: running programs was not allowed, or an argument has another form.
        ModelError: programs cannot be kept apart on this machine.
    """

    named_in_locks = "ais_prompt.inferencers.agent.AgentInferencer"
    shows_python = True  # its prompt may show a text as Python does, with an escaped newline
    is_open_ended = False  # all requests are estimated, at most ``max_turn``
    marks_by_default = MARKS
    program_in = staticmethod(program_in)

    def __init__(
        self,
        max_turn: int = 3,
        call_protocol: str = CALL_PROTOCOL,
        force_stop: str = FORCE_STOP,
        marks: Mapping[str, str] | None = None,
        interpreter: str = "PythonInterpreter",
        description: str = DESCRIPTION,
        expression: str = "solution()",
        max_out_len: int | Sequence[int] | None = None,
        stopping_criteria: Sequence[str] = (),
        stop_token_ids: Sequence[int] = (),
        seed: int | None = None,
        allow_code_execution: bool | Literal["unsafe"] = False,
        timeout: float = 20.0,
        memory: int = 1024,
        sandbox: str | None = None,
    ) -> None:
        super().__init__("last", max_out_len, stopping_criteria, stop_token_ids, seed)
        marks = marks or {}
        if unknown := sorted(marks.keys() - MARKS.keys()):
            raise ConfigError(f"there is no mark {unknown[0]!r}", where="marks", fix=f"use {', '.join(MARKS)}")
        if max_turn < 1:
            raise ConfigError(f"max_turn={max_turn} asks nothing", where="max_turn", fix="write 1 or more")
        self.isolation = allowed_isolation(type(self).__name__, allow_code_execution, sandbox).name
        self._protocol = ReActProtocol(call_protocol, force_stop, {**MARKS, **marks}, interpreter, description)
        self._instruction = self._protocol.instruction()
        self._execution = Execution(expression, timeout, memory, sandbox, allow_code_execution == "unsafe")
        self.max_turn = max_turn

    @classmethod
    def asks_every_turn(cls, arguments: Mapping[str, Any]) -> bool:  # noqa: ARG003  # that of every dialogue
        """Return False: a prediction is one answer."""
        return False

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """Ask turn by turn and run the programs, until there is an answer or a request fails."""
        dialogue = context.builder.dialogue(sample, shots)
        if failure := dialogue_failure(dialogue):
            return self._agent_prediction(sample, dialogue, [], [Completion(failure=failure)], [])
        prompts: list[Prompt] = []
        completions: list[Completion] = []
        steps: list[AgentStep] = []
        said: list[Item] = []
        for turn in range(self.max_turn):
            prompts.append(context.chat.render(self._filled(dialogue, said), "gen"))
            decoding = context.decoding(self._length(turn), self.stopping_criteria, self.stop_token_ids, self.seed)
            completions += yield [Request(sample.id, prompts[-1], decoding, turn)]
            if completions[-1].failure:
                break
            step = self._protocol.read(completions[-1].text)
            if step.status == "value":
                [ran] = yield [Request(sample.id, program_in(step.input), self._execution, turn)]
                if ran.failure:
                    completions[-1] = replace(completions[-1], failure=ran.failure)
                    break
                step = self._with_output(step, json.decode(ran.text, type=Evaluation))
            steps.append(step)
            if step.status == "answer":
                break
            said += [_turn("BOT", completions[-1].text), _turn("SYSTEM", self._protocol.response(step))]
        return self._agent_prediction(sample, dialogue, prompts, completions, steps)

    def perform(self, request: Request) -> Completion:
        """Run the program of a request, and return the JSON of its `Evaluation`.

        The request fails if the sandbox of this program does not start.

        Raises:
            ModelError: no sandbox works on this machine.
        """
        asked, program = request.decoding, request.prompt
        assert isinstance(asked, Execution)
        assert isinstance(program, str)
        isolation = find_isolation(asked.sandbox, unsafe=asked.unsafe)
        with _PLACES:
            begun = perf_counter()
            try:
                found = evaluate_program(program, asked.expression, isolation, asked.timeout, asked.memory)
            except SandboxError as error:
                return Completion(failure=Failure("sandbox", error.what))
            return Completion(json.encode(found).decode(), "stop", seconds=perf_counter() - begun)

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """Return the prompt of the first turn; the others follow what the model writes."""
        dialogue = context.builder.dialogue(sample, shots)
        if dialogue_failure(dialogue):
            return []
        filled = self._filled(dialogue, [])
        title = f"turn 1 of at most {self.max_turn}; later turns follow the model's programs"
        return [Preview(title, filled, context.chat.render(filled, "gen"))]

    def _filled(self, dialogue: FilledDialogue, said: Sequence[Item]) -> Filled:
        """Return the prompt of a turn.

        Args:
            dialogue: the chat of the row.
            said: the answers and responses of earlier turns, in turn.
        """
        question = dialogue.answers[-1] - 1
        turns = [
            _turn("SYSTEM", self._instruction),
            *dialogue.turns[:question],
            _turn("HUMAN", text_of(dialogue.turns[question])),
            *said,
        ]
        if len(said) == 2 * (self.max_turn - 1):
            turns.append(_turn("SYSTEM", self._protocol.force_stop))
        return PromptList(turns).as_section(dialogue.section)

    def _with_output(self, step: AgentStep, found: Evaluation) -> AgentStep:
        """Return a step with the output of its program, in the words of lagent."""
        if found.outcome == "passed":
            return replace(step, output=found.text)
        text = found.text or _ENDINGS.get(found.outcome, "")
        if found.outcome == "timeout":
            seconds = self._execution.timeout
            what = f"Function _call (args=({step.input!r},)) (kwargs={{}}) timed out after {seconds:f} seconds.\n"
            text = f"FunctionTimedOut({what!r})"
        return replace(step, status="error", output=text)

    def _agent_prediction(
        self,
        sample: Sample,
        dialogue: FilledDialogue,
        prompts: Sequence[Prompt],
        completions: Sequence[Completion],
        steps: Sequence[AgentStep],
    ) -> Prediction:
        has_failed = completions[-1].failure is not None
        is_answered = bool(steps) and steps[-1].status == "answer"
        return Prediction(
            sample_id=sample.id,
            index=sample.index,
            origin_prompt=tuple(prompts) or "",
            prediction=None if has_failed else steps[-1].output if is_answered else NO_ANSWER,
            gold=dialogue.golds[-1] if dialogue.golds else sample.gold,
            completions=tuple(completions),
            failed_turn=len(completions) if has_failed else None,
            steps=tuple(steps),
        )


def _turn(role: str, text: str) -> Item:
    return {"role": role, "prompt": text}


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
