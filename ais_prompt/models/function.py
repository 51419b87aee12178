"""A function as a model: an application that takes a question and returns its answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from numbers import Number
from time import perf_counter
from typing import Any, Final, Literal

from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.models.base import PromptStyle
from ais_prompt.models.model_options import check_at_least, check_more_than_0, first_stop
from ais_prompt.models.thoughts import THINK_TAGS, split_reasoning
from ais_prompt.parts import awaiting, calling, defined_at
from ais_prompt.processes import in_thread
from ais_prompt.registry import MODELS, import_dotted
from ais_prompt.types import Activity, Completion, Decoding, Failure, LikelihoodQuery, Prompt, Request, prompt_to_json
from ais_prompt.utils import Held, digest

_MOST_TOKENS: Final = 4096
"""Part of each request. The function decides how long its answers are."""


@MODELS.register_module()
class FunctionModel:
    """Ask a function: a chatbot, retrieval with a model, an agent, or any other program that answers.

    The function takes one prompt and returns a text, a number or a boolean, or a `Completion` with tokens, reasoning or
    calls of tools. It may be a coroutine. An exception fails the sample and not the run, and so does any other result::

        dict(type='FunctionModel', function='my_app.answer')

    Args:
        function: the function, or its dotted path, ``my_app.answer`` or ``my_app:answer``. From Python it may be
            a lambda or any object that can be called.
        version: tells the application from its earlier and later versions; answers of another version are not reused.
            None takes the source of the function, its defaults and the values that it encloses, and not the source of
            what it calls.
        prompt_style: what the function gets: ``text``, or ``messages``: a list of ``{'role': ..., 'content': ...}``.
        max_concurrency: calls at the same time at most. Functions that are not coroutines run in threads.
        max_out_len: is not passed on; the function decides how long its answers are.
        timeout: seconds of a call, after which its sample fails and a coroutine is cancelled. A function that is no
            coroutine cannot be stopped: its thread goes on beside those of later calls. None for no limit.

    Raises:
        ConfigError: there is no such ``prompt_style``, or a number is too small.
    """

    max_seq_len = None

    def __init__(
        self,
        function: str | Callable[..., Any],
        version: str | int | None = None,
        prompt_style: Literal["text", "messages"] = "text",
        max_concurrency: int = 4,
        max_out_len: int = _MOST_TOKENS,
        timeout: float | None = None,
    ) -> None:
        check_at_least(1, max_concurrency=max_concurrency, max_out_len=max_out_len)
        check_more_than_0(timeout=timeout)
        if prompt_style not in ("text", "messages"):
            raise ConfigError(f"there is no prompt_style {prompt_style!r}", fix="write 'text' or 'messages'")
        self.prompt_style: PromptStyle = prompt_style
        self.max_concurrency = max_concurrency
        self.max_out_len = max_out_len
        self._version = version
        self._timeout = timeout
        self._given = function
        self.name = str(function) if isinstance(function, str) else name_of(function)

    @classmethod
    def check_arguments(cls, function: str | Callable[..., Any], **others: Any) -> None:  # noqa: ARG003
        """Import the function.

        Raises:
            ConfigError: there is no such function.
        """
        cls(function).preflight()

    def identity(self) -> Mapping[str, Any]:
        """Return the name of the function with its version, or else a digest of its source.

        Raises:
            ConfigError: there is no such function.
        """
        known = {"source": self._source} if self._version is None else {"version": self._version}
        return {"type": type(self).__name__, "function": self.name, "prompt_style": self.prompt_style, **known}

    def decoding(self, max_out_len: int | None, stop: Sequence[str]) -> Decoding:
        """Return the stop texts, at which an answer is cut."""
        return Decoding(self.max_out_len if max_out_len is None else max_out_len, stop=tuple(stop))

    def preflight(self) -> None:
        """Import the function.

        Raises:
            ConfigError: there is no such function.
        """
        _ = self.function

    def tokenizer(self) -> None:
        """Return None."""

    def count_tokens(self, prompt: Prompt) -> None:
        """Return None."""

    def close(self) -> None:
        """Do nothing."""

    async def open(self) -> None:
        """Do nothing."""

    async def complete(self, request: Request) -> Completion:
        """Call the function, and return its answer up to the first stop text, without its reasoning.

        Raises:
            PartError: the function raised an exception.
        """
        if isinstance(request.decoding, LikelihoodQuery):
            what = "a function has no log-likelihoods"
            return Completion(failure=Failure("cannot_score", what, fatal=True, where=defined_at(self.function)))
        begin = perf_counter()
        try:
            answer = await self.call(prompt_to_json(request.prompt), timeout=self._timeout)
        except TimeoutError:
            what = f"{self.name} returned nothing within {self._timeout:g} s"
            failure = Failure("timeout", what, where=defined_at(self.function))
            return Completion(failure=failure, seconds=perf_counter() - begin)
        return self.completion_of(answer, request, perf_counter() - begin)

    def completion_of(self, answer: Any, request: Request, seconds: float) -> Completion:
        """Return what the function returned as a completion, up to the first stop text and without its reasoning."""
        if isinstance(answer, Completion):
            return answer if answer.seconds else replace(answer, seconds=seconds)
        if isinstance(answer, Number):  # bool is one, and so are the numbers of NumPy
            answer = str(answer)
        if not isinstance(answer, str):
            what = f"{self.name} returned {type(answer).__name__}, not a str, a number, a bool or a Completion"
            return Completion(failure=Failure("no_text", what, where=defined_at(self.function)), seconds=seconds)
        assert isinstance(request.decoding, Decoding)
        found = split_reasoning(Completion(answer, "stop", seconds=seconds), request.prompt, THINK_TAGS)
        return replace(found, text=found.text[: first_stop(found.text, request.decoding.stop)])

    async def call(self, *given: Any, timeout: float | None = None) -> Any:
        """Call the function, in a thread unless it is a coroutine.

        Args:
            given: its arguments.
            timeout: in seconds; None for no limit.

        Raises:
            PartError: the function raised an exception.
            TimeoutError: it took longer.
        """
        return await awaiting(self._call(*given), self.name, self.function, timeout)

    def activity(self) -> Activity:
        """Return nothing: it waits for nothing."""
        return Activity()

    async def aclose(self) -> None:
        """Do nothing."""

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function itself.

        Raises:
            ConfigError: it cannot be imported, or it was in the memory of another process.
        """
        given = self._given.value if isinstance(self._given, Held) else self._given
        if callable(given):
            return given
        name = self.name.replace(":", ".")  # as entry points are written, and functions of other parts
        if "." not in name:
            what = f"{self.name!r} is no function that can be called here"
            raise ConfigError(what, fix="write its dotted path, such as 'my_app.answer'")
        if "<" in self.name:  # <lambda>, or <locals> of another function
            what = f"{self.name} was a function of the program that began the run, and no module has it"
            raise ConfigError(what, fix="run it from that program, or move the function into a module")
        return import_dotted(name)

    @cached_property
    def _source(self) -> str:
        return source_digest(self.function)  # kept: attributes of an application may change while it answers

    async def _call(self, *given: Any) -> Any:
        def call() -> Any:
            with calling(self.name, self.function):
                return self.function(*given)

        is_coroutine = inspect.iscoroutinefunction(_unwrapped(self.function))
        answer = call() if is_coroutine else await in_thread(call)
        return await answer if inspect.isawaitable(answer) else answer


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function, or of the class of any other object that can be called."""
    return getattr(function, "__qualname__", type(function).__name__)


def source_digest(function: Callable[..., Any]) -> str:
    """Return a digest of a function: its source, its defaults, and the plain values that it encloses.

    An object that can be called, or whose method is called, counts by the source of its class and its plain attributes.
    """
    bound: list[Any] = []
    while isinstance(function, partial):
        bound += [function.args, function.keywords]
        function = function.func
    function = inspect.unwrap(function)
    owner = getattr(function, "__self__", None) if inspect.isroutine(function) else function
    bound.append({} if inspect.ismodule(owner) or isinstance(owner, type) else getattr(owner, "__dict__", {}))
    if inspect.isfunction(function):
        bound += [function.__defaults__, function.__kwdefaults__, inspect.getclosurevars(function).nonlocals]
    return digest([_source(function), _plain(bound)], 16)


def _source(function: Callable[..., Any]) -> Any:
    try:
        return inspect.getsource(function if inspect.isroutine(function) else type(function))
    except (OSError, TypeError):  # of a compiled module, or typed into an interpreter
        code = getattr(function, "__code__", None)
        return [code.co_code.hex(), code.co_names, _plain(code.co_consts)] if code else ""


def _unwrapped(function: Callable[..., Any]) -> Any:
    """Return the function that is called: of a callable object, its method."""
    while isinstance(function, partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


def _plain(value: Any) -> Any:
    """Return a value with the name of its type in place of each value that is not plain."""
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    return type(value).__name__
