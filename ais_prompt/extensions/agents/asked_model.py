"""The model that an agent asks: one of the config, made from a dict in the agent's own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.errors import AisPromptError, ConfigError, faults_of
from ais_prompt.models import AsyncModel, BatchModel, Model, PromptStyle
from ais_prompt.postprocess import ToolFormat, read_calls
from ais_prompt.processes import in_thread
from ais_prompt.prompts import PromptList, TokenizerChatFormat, make_chat_format
from ais_prompt.registry import MODELS
from ais_prompt.types import Activity, Completion, Decoding, Prompt, Request

WINDOW_SECONDS: Final = 0.02
"""Time in which requests are collected for one batch of a local model."""


def make_asked(spec: Mapping[str, Any], parser: ToolFormat | None) -> AsyncModel:
    """Make the model that an agent asks.

    Args:
        spec: ``type`` and arguments, as in ``models``.
        parser: how a local model writes calls of tools.

    Raises:
        ConfigError: it has no type, or is no chat model; or as the model itself.
    """
    if not isinstance(spec.get("type"), str):
        fix = "write model=dict(type='OpenAIChatModel', model='...')"
        raise ConfigError("the model that the agent asks has no type", where="model", fix=fix)
    try:
        model: Model = MODELS.make(spec["type"], {name: value for name, value in spec.items() if name != "type"})
    except AisPromptError as error:
        for fault in faults_of(error):
            fault.where = f"model.{fault.where}" if fault.where else "model"
        raise
    if model.prompt_style == "text":
        what = f"{spec['type']} takes one text, and agents send messages"
        raise ConfigError(what, where="model", fix="use a chat model")
    if isinstance(model, BatchModel):
        return LocalModel(model, parser)
    if not isinstance(model, AsyncModel):
        raise ConfigError(f"{spec['type']} answers no requests", where="model", fix="use another model")
    return model


class LocalModel:
    """A local model that answers requests of agents: those that wait together become a batch.

    Args:
        model: the model.
        parser: how it writes calls of tools in its text.
    """

    prompt_style: PromptStyle = "messages"
    max_seq_len: int | None = None
    sends_fields = frozenset({"tools", "tool_choice"})

    def __init__(self, model: BatchModel, parser: ToolFormat | None) -> None:
        self.max_out_len = model.max_out_len
        self.max_concurrency = model.batch_size
        self._model = model
        self._parser = parser
        self._waiting: list[tuple[Request, asyncio.Future[Completion]]] = []
        self._working: asyncio.Task[None] | None = None

    def identity(self) -> Mapping[str, Any]:
        """Return that of the model."""
        return {**self._model.identity(), "parser": self._parser}

    def decoding(self, max_out_len: int | None, stop: Sequence[str]) -> Decoding:
        """Return that of the model."""
        return self._model.decoding(max_out_len, stop)

    def tokenizer(self) -> Any | None:
        """Return that of the model."""
        return self._model.tokenizer()

    def count_tokens(self, prompt: Prompt) -> int | None:
        """Count as the model does."""
        return self._model.count_tokens(prompt)

    def preflight(self) -> None:
        """Check the model."""
        self._model.preflight()

    def close(self) -> None:
        """Free the memory of the model."""
        self._model.close()

    async def open(self) -> None:
        """Load the model."""
        await in_thread(self._model.load)

    async def complete(self, request: Request) -> Completion:
        """Answer a request in the next batch."""
        future: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        self._waiting.append((await in_thread(lambda: self._rendered(request)), future))
        if self._working is None or self._working.done():
            self._working = asyncio.ensure_future(self._work())
        completion = await future
        if self._parser is None or completion.failure:
            return completion
        calls = read_calls(completion.text, self._parser) or ()
        return replace(completion, tool_calls=calls, text="" if calls else completion.text)

    def activity(self) -> Activity:
        """Return the number of requests that wait."""
        return Activity(waiting=len(self._waiting))

    async def aclose(self) -> None:
        """Do nothing."""

    def _rendered(self, request: Request) -> Request:
        """Return a request as the model takes it: with its chat template, and the tools in the prompt."""
        decoding = request.decoding
        assert isinstance(decoding, Decoding)
        assert not isinstance(request.prompt, str)
        extra = {name: value for name, value in decoding.extra.items() if name not in self.sends_fields}
        prompt: Prompt = request.prompt
        if self._model.prompt_style == "chat_template":
            chat = make_chat_format("chat_template", None, self._model.tokenizer)
            assert isinstance(chat, TokenizerChatFormat)
            prompt = chat.with_tools(decoding.extra.get("tools") or [], request.prompt).render(PromptList(), "gen")
        return replace(request, prompt=prompt, decoding=replace(decoding, extra=extra))

    async def _work(self) -> None:
        while self._waiting:
            await asyncio.sleep(WINDOW_SECONDS)
            decoding = self._waiting[0][0].decoding
            batch = [one for one in self._waiting if one[0].decoding == decoding][: self._model.batch_size]
            self._waiting = [one for one in self._waiting if one not in batch]
            try:
                answers = await in_thread(partial(self._model.generate, [one for one, _ in batch]))
            except Exception as error:
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), completion in zip(batch, answers, strict=True):
                if not future.done():
                    future.set_result(completion)
