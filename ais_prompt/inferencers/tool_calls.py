"""Offer tools to the model; the prediction is the JSON of its calls.

`ToolCallInferencer` asks once; `MultiTurnToolCallInferencer` asks turn by turn, with results from the data.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.inferencers.base import Conversation, InferenceContext, Preview, refuse_fields, with_fields
from ais_prompt.postprocess import ToolFormat, calls_as_text, read_calls
from ais_prompt.prompts import TokenizerChatFormat
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import ChatMessage, Completion, Decoding, Prediction, Prompt, Request, Sample, ToolCall
from ais_prompt.utils import call_messages, counted, parse_text, parse_written

_FORM: Final = "{'type': 'function', 'function': {'name': …, 'parameters': {…}}}"


@INFERENCERS.register_module()
class ToolCallInferencer:
    """Offers tools to the model. The prediction is the JSON of its calls: ``[{"name": ..., "arguments": {...}}]``.

    An answer without a call is ``[]``. Calls whose arguments are no JSON are left as text, which
    `tool_calls_postprocess` does not take: the answer is *unparsed*. Calls are never carried out.

    A model behind an API gets the tools as fields of the request. A local chat model gets them through the chat
    template of its tokenizer, and its calls are read from its text.

    Args:
        tools: the tools in the form of the OpenAI API, or the name of the column that has them, as a list or JSON.
        tool_choice: ``auto``, ``none``, ``required``, or a tool in the form of the API; None sends nothing.
        parser: how the model writes calls in its text: ``hermes``, ``qwen``, ``llama3`` or ``mistral``. None reads
            only the calls that a server reports.
        max_out_len: maximum number of tokens to generate; None uses the model's ``max_out_len``.

    Raises:
        ConfigError: a tool has another form.
    """

    mask = ""

    def __init__(
        self,
        tools: str | Sequence[Mapping[str, Any]] = "tools",
        tool_choice: str | Mapping[str, Any] | None = None,
        parser: ToolFormat | None = None,
        max_out_len: int | None = None,
    ) -> None:
        self.tools = tools if isinstance(tools, str) else checked_tools(tools, ConfigError)
        self.tool_choice = tool_choice
        self.parser = parser
        self.max_out_len = max_out_len

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """Send one request with the tools."""
        tools = self._tools_of(sample)
        prompt = self._prompt(sample, shots, context, tools)
        [completion] = yield [Request(sample.id, prompt, self._decoding(context, tools))]
        completion = self._with_written_calls(completion)
        return Prediction(
            sample_id=sample.id,
            index=sample.index,
            origin_prompt=prompt,
            prediction=None if completion.failure else self._said(completion),
            gold=sample.gold,
            completions=(completion,),
        )

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """Return the only prompt; its title names the tools."""
        tools = self._tools_of(sample)
        if not _by_template(context):
            refuse_fields(context.model, "tools")
        filled = context.builder.generation(sample, shots)
        names = ", ".join(tool["function"]["name"] for tool in tools)
        return [Preview(f"tools: {names or 'none'}", filled, self._prompt(sample, shots, context, tools))]

    def _decoding(self, context: InferenceContext, tools: list[Mapping[str, Any]]) -> Decoding:
        """Return the decoding with the tools as fields, unless they are part of the prompt."""
        decoding = context.decoding(self.max_out_len, ())
        if _by_template(context):
            return decoding
        return with_fields(decoding, context.model, tools=tools, tool_choice=self.tool_choice)

    def _prompt(
        self, sample: Sample, shots: Sequence[Sample], context: InferenceContext, tools: list[Mapping[str, Any]]
    ) -> Prompt:
        chat = context.chat
        if isinstance(chat, TokenizerChatFormat):
            chat = chat.with_tools(tools)
        return chat.render(context.builder.generation(sample, shots), "gen")

    def _tools_of(self, sample: Sample) -> list[Mapping[str, Any]]:
        """Return the tools of a sample.

        Raises:
            PromptError: there is no such column, or it holds no tools.
        """
        if not isinstance(self.tools, str):
            return self.tools
        if self.tools not in sample.fields:
            fix = "name the column that has the tools: tools='…', or write them: tools=[…]"
            raise PromptError(f"there is no column {self.tools!r} with tools", fix=fix)
        value = sample.fields[self.tools]
        try:
            return checked_tools(parse_text(value) if isinstance(value, str) else value, PromptError)
        except ValueError as error:
            raise PromptError(f"the column {self.tools!r} is no JSON: {error}", fix=f"write [{_FORM}]") from None

    def _with_written_calls(self, completion: Completion) -> Completion:
        """Return a completion with the calls of its text, if a parser is wanted and the server reports none."""
        if self.parser is None or completion.tool_calls or completion.failure:
            return completion
        return replace(completion, tool_calls=read_calls(completion.text, self.parser) or ())

    def _said(self, completion: Completion) -> str:
        """Return the calls as JSON; what the model wrote if they are none."""
        calls, text = completion.tool_calls, completion.text
        if not calls and self.parser is not None and read_calls(text, self.parser) is None:
            return text
        if not calls and not text.strip():
            return ""
        as_json = calls_as_text(calls)
        return "\n".join(f"{call.name} {call.arguments}" for call in calls) if as_json is None else as_json


def _by_template(context: InferenceContext) -> bool:
    """Return whether the tools are part of the prompt: a local model with a chat template."""
    return isinstance(context.chat, TokenizerChatFormat)


def checked_tools(tools: Any, error: type[ConfigError] | type[PromptError]) -> list[Mapping[str, Any]]:
    """Return tools if they have the form of the API.

    Raises:
        ConfigError, PromptError: one does not; as ``error`` says.
    """
    if not isinstance(tools, list | tuple):
        raise error(f"tools are {type(tools).__name__}, not a list", fix=f"write [{_FORM}]")
    for tool in tools:
        function = tool.get("function") if isinstance(tool, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise error(f"this is no tool: {str(tool)[:80]}", fix=f"write {_FORM}")
    return list(tools)


NO_RESULT: Final = '{"error": "no result of this call is known"}'
"""The result of a call that the data does not expect."""
_TURNS_FORM: Final = '[{"answers": [{"name": {"parameter": ["accepted value"]}}], "results": ["..."], "user": "..."}]'


@INFERENCERS.register_module()
class MultiTurnToolCallInferencer(ToolCallInferencer):
    """Lets the model call tools turn by turn. The prediction of each turn is the JSON of its calls.

    The prompt template is the first question. After each turn the model sees its own calls with the results from the
    data, then what the user says next, if anything. Nothing is carried out. A call gets the result of the expected call
    of the same function; if several are expected, of the one that shares most arguments with it. A call that is not
    expected gets an error as its result. A turn without an answer ends the conversation.

    Each turn is scored by itself: an evaluator of calls with `tool_calls_postprocess` needs no ``gold_columns``.

    Args:
        turns: the column with the turns, a list or JSON, each a mapping with ``answers``, the expected calls in BFCL's
            form ``{function: {parameter: [accepted values]}}``, ``results``, one for each of them, and ``user``, what
            the user says before the turn. All may be missing; a turn without ``answers`` expects no call.
        tools, tool_choice, parser, max_out_len: as in `ToolCallInferencer`.

    Raises:
        ConfigError: a tool has another form.
    """

    def __init__(
        self,
        turns: str = "turns",
        tools: str | Sequence[Mapping[str, Any]] = "tools",
        tool_choice: str | Mapping[str, Any] | None = None,
        parser: ToolFormat | None = None,
        max_out_len: int | None = None,
    ) -> None:
        super().__init__(tools, tool_choice, parser, max_out_len)
        self.turns = turns

    @classmethod
    def asks_every_turn(cls, arguments: Mapping[str, Any]) -> bool:  # noqa: ARG003
        """Return True: predictions and golds are lists with one entry for each turn."""
        return True

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """Ask turn by turn, until a turn fails."""
        turns, tools = self._turns_of(sample), self._tools_of(sample)
        decoding = self._decoding(context, tools)
        history: list[ChatMessage] = []
        prompts: list[Prompt] = []
        completions: list[Completion] = []
        for number, turn in enumerate(turns):
            history += turn.opening
            prompts.append(self._prompt(sample, shots, context, tools, history))
            [completion] = yield [Request(sample.id, prompts[-1], decoding, number)]
            completions.append(self._with_written_calls(completion))
            if completion.failure:
                break
            calls = completions[-1].tool_calls
            history += self._reply(completion, calls, turn.results_of(calls), number)
        said = [None if one.failure else self._said(one) for one in completions]
        functions = [tool["function"] for tool in tools]
        return Prediction(
            sample_id=sample.id,
            index=sample.index,
            origin_prompt=tuple(prompts),
            prediction=[*said, *[None] * (len(turns) - len(said))],
            gold=[{"functions": functions, "answers": turn.answers} for turn in turns],
            completions=tuple(completions),
            failed_turn=len(completions) if completions[-1].failure else None,
        )

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """Return the prompt of each turn, with the expected calls in place of the model's."""
        turns, tools = self._turns_of(sample), self._tools_of(sample)
        filled = context.builder.generation(sample, shots)
        history: list[ChatMessage] = []
        previews = []
        for number, turn in enumerate(turns):
            history += turn.opening
            names = ", ".join(tool["function"]["name"] for tool in tools) or "none"
            guessed = ", expected calls in place of the model's" if number else ""
            prompt = self._prompt(sample, shots, context, tools, history)
            previews.append(Preview(f"turn {number + 1}, tools: {names}{guessed}", filled, prompt))
            history += call_messages("", list(turn.expected()), turn.results, number)
        return previews

    def _reply(
        self, completion: Completion, calls: Sequence[ToolCall], results: Sequence[str], number: int
    ) -> Iterator[ChatMessage]:
        """Return what follows an answer: the answer itself, and the results of its calls."""
        # Calls that were read from the text are not shown a second time.
        text = completion.text if completion.tool_calls or not calls else ""
        return call_messages(text, calls, results, number)

    def _prompt(
        self,
        sample: Sample,
        shots: Sequence[Sample],
        context: InferenceContext,
        tools: list[Mapping[str, Any]],
        history: Sequence[ChatMessage] = (),
    ) -> Prompt:
        """Return the prompt of a turn.

        Raises:
            PromptError: the model takes a text, which has no place for calls.
        """
        filled = context.builder.generation(sample, shots)
        if isinstance(context.chat, TokenizerChatFormat):
            return context.chat.with_tools(tools, tuple(history)).render(filled, "gen")
        first = context.chat.render(filled, "gen")
        if not isinstance(first, str):
            return (*first, *history)
        if context.model.prompt_style == "messages":
            return (ChatMessage("user", first), *history)
        fix = "use a chat model"
        raise PromptError("calls of tools in several turns need messages, and this model takes a text", fix=fix)

    def _turns_of(self, sample: Sample) -> list[_Turn]:
        """Return the turns of a sample.

        Raises:
            PromptError: there is no such column, or it holds no turns.
        """
        if self.turns not in sample.fields:
            fix = "name the column that has the turns: turns='…'"
            raise PromptError(f"there is no column {self.turns!r} with turns", fix=fix)
        value = sample.fields[self.turns]
        try:
            turns = parse_text(value) if isinstance(value, str) else value
            found = [_turn(one) for one in turns]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            what = f"the column {self.turns!r} holds no turns: {error}"
            raise PromptError(what, fix=f"write {_TURNS_FORM}") from None
        if not found:
            raise PromptError(f"the column {self.turns!r} has no turn", fix=f"write {_TURNS_FORM}")
        return found


class _Turn(Struct, frozen=True):
    """What the data says of one turn.

    Attributes:
        user: what the user says before it; empty if nothing.
        answers: the expected calls in BFCL's form.
        results: one for each of them, as texts.
    """

    user: str
    answers: list[Mapping[str, Mapping[str, Any]]]
    results: list[str]

    @property
    def opening(self) -> list[ChatMessage]:
        """What is said before the model is asked."""
        return [ChatMessage("user", self.user)] if self.user else []

    def expected(self) -> Iterator[ToolCall]:
        """Yield the expected calls, each argument with its first accepted value; an empty text means none."""
        for answer in self.answers:
            for name, accepted in answer.items():
                given = {key: values[0] for key, values in accepted.items() if values and values[0] != ""}
                yield ToolCall(_sent(name), json.dumps(given, ensure_ascii=False))

    def results_of(self, calls: Sequence[ToolCall]) -> list[str]:
        """Return the result of each call; each result is given once."""
        left = list(zip((_only_item(answer) for answer in self.answers), self.results, strict=True))
        found = []
        for call in calls:
            same = [one for one in left if _sent(one[0][0]) == _sent(call.name)]
            best = max(same, key=lambda one: _shared(call, one[0][1]), default=None)
            if best is not None:
                left.remove(best)
            found.append(NO_RESULT if best is None else best[1])
        return found


def _turn(value: Mapping[str, Any]) -> _Turn:
    """Read a turn.

    Raises:
        ValueError, TypeError, AttributeError: it has another form.
    """
    answers, results = list(value.get("answers") or ()), list(value.get("results") or ())
    for answer in answers:
        _only_item(answer)
    if len(results) not in (0, len(answers)):
        raise ValueError(f"{counted(len(results), 'result')} for {counted(len(answers), 'answer')}")
    texts = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in results]
    return _Turn(str(value.get("user") or ""), answers, texts or [NO_RESULT] * len(answers))


def _only_item(answer: Mapping[str, Mapping[str, Any]]) -> tuple[str, Mapping[str, Any]]:
    [(name, accepted)] = answer.items()
    if not isinstance(accepted, Mapping):
        raise TypeError(f"the parameters of {name!r} are no mapping")
    return name, accepted


def _sent(name: str) -> str:
    """Return the name of a function as APIs take it, without dots."""
    return name.replace(".", "_")


def _shared(call: ToolCall, accepted: Mapping[str, Any]) -> int:
    """Return how many arguments of a call have an accepted value."""
    try:
        arguments = parse_written(call.arguments or "{}")
    except ValueError:
        return 0
    if not isinstance(arguments, dict):
        return 0
    return sum(value in accepted.get(name, ()) for name, value in arguments.items())
