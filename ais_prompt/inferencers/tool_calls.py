"""`ToolCallInferencer`: offer tools to the model; the prediction is what it calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.inferencers.base import Conversation, InferenceContext, Preview
from ais_prompt.inferencers.fields import refuse_fields, with_fields
from ais_prompt.postprocess.tool_calls import ToolFormat, calls_as_text, written_calls
from ais_prompt.prompts.text_format import TokenizerChatFormat
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import Completion, Decoding, Prediction, Prompt, Request, Sample

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
        self.tools = tools if isinstance(tools, str) else _checked(tools, ConfigError)
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
            return _checked(json.loads(value) if isinstance(value, str) else value, PromptError)
        except ValueError as error:
            raise PromptError(f"the column {self.tools!r} is no JSON: {error}", fix=f"write [{_FORM}]") from None

    def _with_written_calls(self, completion: Completion) -> Completion:
        """Return a completion with the calls of its text, if a parser is wanted and the server reports none."""
        if self.parser is None or completion.tool_calls or completion.failure:
            return completion
        return replace(completion, tool_calls=written_calls(completion.text, self.parser) or ())

    def _said(self, completion: Completion) -> str:
        """Return the calls as JSON; what the model wrote if they are none."""
        calls, text = completion.tool_calls, completion.text
        if not calls and self.parser is not None and written_calls(text, self.parser) is None:
            return text
        if not calls and not text.strip():
            return ""
        as_json = calls_as_text(calls)
        return "\n".join(f"{call.name} {call.arguments}" for call in calls) if as_json is None else as_json


def _by_template(context: InferenceContext) -> bool:
    """Return whether the tools are part of the prompt: a local model with a chat template."""
    return isinstance(context.chat, TokenizerChatFormat)


def _checked(tools: Any, error: type[ConfigError] | type[PromptError]) -> list[Mapping[str, Any]]:
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
