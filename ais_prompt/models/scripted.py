"""A model that answers from a script: to try a config without a model, and to test failures and crashes."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.models.base import PromptStyle
from ais_prompt.models.likelihood_completions import NO_TOKENS, likelihood_completion
from ais_prompt.models.model_options import check_at_least, first_stop, join_stops
from ais_prompt.models.thoughts import THINK_TAGS, answer_start, split_reasoning
from ais_prompt.models.tokenizer import refuse_too_long
from ais_prompt.registry import MODELS
from ais_prompt.types import (
    Activity,
    Completion,
    Decoding,
    Failure,
    FinishReason,
    Likelihood,
    LikelihoodQuery,
    Prompt,
    Request,
    ToolCall,
    Usage,
)
from ais_prompt.utils import TOOL_ROLE, canonical, prompt_texts

Answer: TypeAlias = "str | Mapping[str, Any]"
"""A text, or ``dict(text=..., finish_reason=..., tool_calls=[dict(name=..., arguments={...})])``, of which ``text`` or
``tool_calls`` must be there, or ``dict(failure=kind, message=..., fatal=...)``."""

_OUTAGE: Final = Completion(failure=Failure("connection", "the scripted outage has begun (fail_after)"))


@MODELS.register_module()
class ScriptedModel:
    r"""Return the answers of the config. A token is a word here, separated by white space.

    Like a real model, it ends an answer before the first stop text and after ``max_out_len`` tokens, and its reasoning
    between ``<think>`` and ``</think>`` is not part of the answer::

        dict(type='ScriptedModel', answers={r'2\+2': '4', 'capital': dict(failure='http_500', message='busy')})

    Args:
        answers: regular expression → answer. The first expression found in the question counts: in the last message of
            the user and the results of tools after it, or anywhere in a prompt that is a text. The order of requests
            does not matter then. Or a list: the answers in the order of requests, with ``max_concurrency=1``.
        likelihoods: regular expression → negative log-likelihood of each token in nats, or the kind of a failure, of a
            text in which it is found; for inferencers that compare log-likelihoods.
        default: the answer where no expression is found, or after the end of the list.
        prompt_style: the form of its prompts, ``messages`` or ``text``.
        delay: seconds until an answer.
        fail_after: number of answers or scripted failures after which every request fails, as in a server outage.
        die_after: number of answers after which the process is killed (SIGKILL), to test that a crash loses nothing.
        max_concurrency: requests in flight at most.
        max_out_len: most tokens of an answer, where the dataset does not say.
        max_seq_len: most tokens of a prompt; in-context examples are left out until it has no more. None leaves all in.
        stop_words: texts that end an answer and are not part of it, besides those of the dataset.

    Raises:
        ConfigError: an answer or an expression is invalid, or a number is too small.
    """

    prompt_style: PromptStyle = "messages"
    sends_fields = frozenset({"response_format", "tools", "tool_choice"})

    def __init__(
        self,
        answers: Mapping[str, str | Mapping[str, Any]] | Sequence[str | Mapping[str, Any]] | None = None,
        default: str | Mapping[str, Any] = "",
        prompt_style: Literal["messages", "text"] = "messages",
        delay: float = 0.0,
        fail_after: int | None = None,
        die_after: int | None = None,
        max_concurrency: int = 4,
        max_out_len: int = 256,
        max_seq_len: int | None = None,
        stop_words: Sequence[str] = (),
        likelihoods: Mapping[str, float | str] | None = None,
    ) -> None:
        check_at_least(1, max_concurrency=max_concurrency, max_out_len=max_out_len, max_seq_len=max_seq_len)
        check_at_least(0, delay=delay, fail_after=fail_after, die_after=die_after)
        self.prompt_style = prompt_style
        self.delay = delay
        self.fail_after = fail_after
        self.die_after = die_after
        self.max_concurrency = max_concurrency
        self.max_out_len = max_out_len
        self.max_seq_len = max_seq_len
        self.stop_words = tuple(stop_words)
        self._script = {"answers": answers, "default": default, "likelihoods": likelihoods}
        self._likelihoods = ScriptedLikelihoods(likelihoods or {})
        self._default = _completion(default)
        self._rules: list[tuple[re.Pattern[str], Completion]] = []
        self._sequence: list[Completion] = []
        if isinstance(answers, Mapping):
            self._rules = [(_pattern(pattern), _completion(answer)) for pattern, answer in answers.items()]
        elif answers and max_concurrency > 1:
            raise ConfigError(
                "a list of answers is given in order of asking, but requests run side by side",
                fix="set max_concurrency=1, or give a dict of regular expression → answer",
            )
        else:
            self._sequence = [_completion(answer) for answer in answers or ()]
        self._asked = 0
        self._answered = 0

    def identity(self) -> Mapping[str, Any]:
        """Return the script. Crashes and delays are not part of it, so that a run can be resumed without them."""
        return {"type": type(self).__name__, **self._script}

    def decoding(self, max_out_len: int | None, stop: Sequence[str]) -> Decoding:
        """Return greedy decoding; ``stop`` is added to its own stop texts."""
        return Decoding(
            max_out_len=self.max_out_len if max_out_len is None else max_out_len,
            temperature=0.0,
            stop=join_stops(self.stop_words, stop),
        )

    def preflight(self) -> None:
        """Do nothing: it can always be used."""

    def tokenizer(self) -> None:
        """Return None."""

    def count_tokens(self, prompt: Prompt) -> int:
        """Count the words of all messages."""
        return len("\n".join(prompt_texts(prompt)).split())

    def close(self) -> None:
        """Do nothing."""

    async def open(self) -> None:
        """Do nothing."""

    async def complete(self, request: Request) -> Completion:
        """Return the scripted answer, cut at stop texts and ``max_out_len``, the log-likelihood, or the failure."""
        if failure := refuse_too_long(self.count_tokens(request.prompt), self.max_seq_len):
            return Completion(failure=failure)
        if isinstance(request.decoding, LikelihoodQuery):
            scripted = self._likelihoods.log_likelihood("\n".join(prompt_texts(request.prompt)), request.decoding)
        else:
            scripted = self._scripted(request.prompt)
        await asyncio.sleep(self.delay)
        # No await from here on: the caller has stored all answers before the process is killed.
        if self._answered == self.die_after:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fail_after is not None and self._answered >= self.fail_after:
            return _OUTAGE
        self._answered += 1
        if scripted.failure or isinstance(request.decoding, LikelihoodQuery):
            return scripted
        assert isinstance(request.decoding, Decoding)  # the engine runs programs itself
        generated = _generate(scripted, request.prompt, request.decoding)
        usage = Usage(self.count_tokens(request.prompt), len(generated.text.split()))
        return split_reasoning(replace(generated, usage=usage, seconds=self.delay), request.prompt, THINK_TAGS)

    def activity(self) -> Activity:
        """Return nothing: it waits for nothing."""
        return Activity()

    async def aclose(self) -> None:
        """Do nothing."""

    def _scripted(self, prompt: Prompt) -> Completion:
        self._asked += 1
        if self._asked <= len(self._sequence):
            return self._sequence[self._asked - 1]
        question = _question(prompt)
        return next((answer for pattern, answer in self._rules if pattern.search(question)), self._default)


def _pattern(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigError(
            f"answers has {pattern!r}, which is not a regular expression: {error}",
            fix="put a backslash before characters such as ( [ + * ? that are meant literally",
        ) from None


def _completion(answer: Answer) -> Completion:
    """Return the completion of an answer of the script."""
    fields = {"text": answer} if isinstance(answer, str) else dict(answer)
    if "failure" in fields and fields.keys() <= {"failure", "message", "fatal"}:
        message = fields.get("message", "scripted failure")
        return Completion(failure=Failure(fields["failure"], message, bool(fields.get("fatal", False))))
    reason: Any = fields.get("finish_reason", "stop")
    is_said = "text" in fields or "tool_calls" in fields
    if is_said and fields.keys() <= {"text", "finish_reason", "tool_calls"} and reason in get_args(FinishReason):
        return Completion(fields.get("text", ""), reason, tool_calls=_calls(fields.get("tool_calls", ())))
    raise ConfigError(
        f"the script has an invalid answer: {answer!r}",
        fix="write a text, dict(text=..., finish_reason='stop' or 'length'), or dict(failure='http_500', message=...)",
    )


def _calls(calls: Any) -> tuple[ToolCall, ...]:
    """Return the calls of a script: ``dict(name=..., arguments=...)``, arguments as a mapping or as a text."""
    try:
        pairs = [(call["name"], call["arguments"]) for call in calls]
    except (KeyError, TypeError):
        fix = "write tool_calls=[dict(name='add', arguments={'a': 1})]"
        raise ConfigError(f"the script has invalid calls of tools: {calls!r}", fix=fix) from None
    return tuple(ToolCall(name, given if isinstance(given, str) else canonical(given)) for name, given in pairs)


def _question(prompt: Prompt) -> str:
    """Return the text in which the expressions are searched: the last question, and results of tools after it."""
    if isinstance(prompt, str):
        return prompt
    last = max((place for place, message in enumerate(prompt) if message.role == "user"), default=None)
    if last is None:
        return ""
    results = [message for message in prompt[last + 1 :] if message.role == TOOL_ROLE]
    return "\n".join(prompt_texts((prompt[last], *results)))


def _generate(scripted: Completion, prompt: Prompt, decoding: Decoding) -> Completion:
    """Cut an answer where a model would have ended it."""
    text, reason = scripted.text, scripted.finish_reason
    end = first_stop(text, decoding.stop, answer_start(text, prompt, THINK_TAGS))
    if end is not None:
        text, reason = text[:end], "stop"
    words = list(re.finditer(r"\S+", text))
    if len(words) > decoding.max_out_len:
        text, reason = text[: words[decoding.max_out_len - 1].end()], "length"
    return replace(scripted, text=text, finish_reason=reason)


Surprise: TypeAlias = "float | str"
"""Negative log-likelihood of each token in nats, or the kind of a failure."""

_CANNOT: Final = Completion(
    failure=Failure("cannot_score", "the script has no likelihood for this text: name one in likelihoods", fatal=True)
)


class ScriptedLikelihoods:
    """Log-likelihoods of a script, by the first expression found in a text. A token is a word.

    Args:
        script: regular expression → negative log-likelihood of each token in nats, or the kind of a failure.

    Raises:
        ConfigError: an expression is invalid.
    """

    def __init__(self, script: Mapping[str, Surprise]) -> None:
        try:
            self._rules = [(re.compile(pattern), surprise) for pattern, surprise in script.items()]
        except re.error as error:
            what = f"likelihoods has {error.pattern!r}, which is not a regular expression: {error}"
            raise ConfigError(what, fix="repair it; re.escape of a text finds just that text") from None

    def log_likelihood(self, prompt: str, query: LikelihoodQuery) -> Completion:
        """Return the log-likelihood of a prompt or its continuation, or the log-probabilities of choices."""
        if query.choices:
            return self._choices(prompt, query.choices)
        is_whole = query.continuation is None
        text = prompt if query.continuation is None else query.continuation
        words = len(text.split())
        tokens = words - 1 if is_whole else words
        surprise = self._surprise(prompt + (query.continuation or ""))
        if surprise is None:
            return _CANNOT
        if isinstance(surprise, str):
            return Completion(failure=Failure(surprise, "scripted failure"))
        if tokens < 1:
            return NO_TOKENS
        return likelihood_completion(Likelihood(surprise * tokens, tokens, words, len(text.encode())), Usage(words, 0))

    def _choices(self, prompt: str, choices: tuple[str, ...]) -> Completion:
        surprises = [self._surprise(prompt + choice) for choice in choices]
        numbers = tuple(-surprise for surprise in surprises if isinstance(surprise, int | float))
        if len(numbers) < len(choices):
            return _CANNOT
        return likelihood_completion(Likelihood(0.0, 0, 0, 0, numbers), Usage(len(prompt.split()), 0))

    def _surprise(self, text: str) -> Surprise | None:
        return next((surprise for pattern, surprise in self._rules if pattern.search(text)), None)
