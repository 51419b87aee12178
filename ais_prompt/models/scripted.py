"""A model that answers from a script: to try a config without a model, and to test what happens in an accident."""

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
from ais_prompt.models.likelihood import NO_TOKENS, scored
from ais_prompt.models.options import check_at_least, join_stops
from ais_prompt.models.reasoning import THINK_TAGS, without_thought
from ais_prompt.models.tokens.tokenizer import refuse_too_long
from ais_prompt.registry import MODELS
from ais_prompt.types import (
    Activity,
    ChatMessage,
    Completion,
    Content,
    Decoding,
    Failure,
    FinishReason,
    Likelihood,
    LikelihoodQuery,
    Prompt,
    Request,
    Usage,
)

Answer: TypeAlias = "str | Mapping[str, Any]"
"""A text, or ``dict(text=..., finish_reason=...)``, or ``dict(failure=kind, message=..., fatal=...)``."""

_OUTAGE: Final = Completion(failure=Failure("connection", "the scripted outage has begun (fail_after)"))


@MODELS.register_module()
class ScriptedModel:
    r"""Gives the answers that the config tells it to give. A token is a word here, whatever stands between spaces.

    As a real model does, it ends an answer before the first stop text and after ``max_out_len`` tokens, and what it
    thinks between ``<think>`` and ``</think>`` is no part of the answer::

        dict(type='ScriptedModel', answers={r'2\+2': '4', 'capital': dict(failure='http_500', message='busy')})

    Args:
        answers: regular expression → answer. The first one found in the question is taken: in the last message of the
            user, or anywhere in a prompt that is a text. The order of requests does not matter then. Or else a list:
            the answers in order of asking, which is certain only with ``max_concurrency=1``.
        likelihoods: regular expression → how surprising a text is to the model in which it is found, as negative
            log-likelihood of each token in nats, or the kind of a failure; for inferencers that score texts.
        default: the answer where no expression is found, or after the end of the list.
        prompt_style: what it wants to be given, ``messages`` or ``text``.
        delay: seconds until an answer.
        fail_after: after so many answers or scripted failures every request fails, as if a server had gone away.
        die_after: after so many answers the process is killed (SIGKILL), to test that nothing is lost in a crash.
        max_concurrency: requests in flight at most.
        max_out_len: most tokens of an answer, where the dataset does not say.
        max_seq_len: most tokens of a prompt; in-context examples are left out until it has no more. None leaves all in.
        stop_words: texts that end an answer and are not part of it, besides those of the dataset.

    Raises:
        ConfigError: an answer or an expression cannot be understood, or a number is too small.
    """

    prompt_style: PromptStyle = "messages"

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
        """The script. Accidents and delays are no part of it, so that a run can go on without them."""
        return {"type": type(self).__name__, **self._script}

    def decoding(self, max_out_len: int | None, stop: Sequence[str]) -> Decoding:
        """Greedy; ``stop`` is added to its own stop texts."""
        return Decoding(
            max_out_len=self.max_out_len if max_out_len is None else max_out_len,
            temperature=0.0,
            stop=join_stops(self.stop_words, stop),
        )

    def preflight(self) -> None:
        """It can always be used."""

    def tokenizer(self) -> None:
        """There is none."""

    def count_tokens(self, prompt: Prompt) -> int:
        """Words of all messages."""
        return len(_whole_text(prompt).split())

    def close(self) -> None:
        """Nothing is held."""

    async def open(self) -> None:
        """Nothing is to be made ready."""

    async def complete(self, request: Request) -> Completion:
        """The scripted answer, cut at stop texts and ``max_out_len``, the scripted likelihood, or the failure."""
        if failure := refuse_too_long(self.count_tokens(request.prompt), self.max_seq_len):
            return Completion(failure=failure)
        if isinstance(request.decoding, LikelihoodQuery):
            scripted = self._likelihoods.log_likelihood(_whole_text(request.prompt), request.decoding)
        else:
            scripted = self._scripted(request.prompt)
        await asyncio.sleep(self.delay)
        # From here on nothing waits: the caller has written down all answers before the one that dies.
        if self._answered == self.die_after:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fail_after is not None and self._answered >= self.fail_after:
            return _OUTAGE
        self._answered += 1
        if scripted.failure or isinstance(request.decoding, LikelihoodQuery):
            return scripted
        generated = _generate(scripted, request.decoding)
        usage = Usage(self.count_tokens(request.prompt), len(generated.text.split()))
        return without_thought(replace(generated, usage=usage, seconds=self.delay), request.prompt, THINK_TAGS)

    def activity(self) -> Activity:
        """It answers, and waits for nothing."""
        return Activity()

    async def aclose(self) -> None:
        """Nothing is held."""

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
            f"answers has {pattern!r}, which is no regular expression: {error}",
            fix="put a backslash before signs such as ( [ + * ? that are meant literally",
        ) from None


def _completion(answer: Answer) -> Completion:
    """What an answer of the script stands for."""
    fields = {"text": answer} if isinstance(answer, str) else dict(answer)
    if "failure" in fields and fields.keys() <= {"failure", "message", "fatal"}:
        message = fields.get("message", "scripted failure")
        return Completion(failure=Failure(fields["failure"], message, bool(fields.get("fatal", False))))
    reason: Any = fields.get("finish_reason", "stop")
    if "text" in fields and fields.keys() <= {"text", "finish_reason"} and reason in get_args(FinishReason):
        return Completion(fields["text"], reason)
    raise ConfigError(
        f"the script has an answer that cannot be understood: {answer!r}",
        fix="write a text, dict(text=..., finish_reason='stop' or 'length'), or dict(failure='http_500', message=...)",
    )


def _question(prompt: Prompt) -> str:
    """What the expressions are looked for in."""
    if isinstance(prompt, str):
        return prompt
    by_user: list[ChatMessage] = [message for message in prompt if message.role == "user"]
    return _text(by_user[-1].content) if by_user else ""


def _whole_text(prompt: Prompt) -> str:
    return prompt if isinstance(prompt, str) else "\n".join(_text(message.content) for message in prompt)


def _text(content: Content) -> str:
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content if "text" in part)


def _generate(scripted: Completion, decoding: Decoding) -> Completion:
    """The part of an answer that a model would have generated."""
    text, reason = scripted.text, scripted.finish_reason
    end = min((position for word in decoding.stop if (position := text.find(word)) >= 0), default=None)
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
    """Tells how likely a text is by the first expression that is found in it. A token is a word.

    Args:
        script: regular expression → negative log-likelihood of each token in nats, or the kind of a failure.

    Raises:
        ConfigError: an expression cannot be understood.
    """

    def __init__(self, script: Mapping[str, Surprise]) -> None:
        try:
            self._rules = [(re.compile(pattern), surprise) for pattern, surprise in script.items()]
        except re.error as error:
            raise ConfigError(f"likelihoods has {error.pattern!r}, which is no regular expression: {error}") from None

    def log_likelihood(self, prompt: str, scoring: LikelihoodQuery) -> Completion:
        """The likelihood of the prompt or of its continuation, or the log-probabilities of the choices."""
        if scoring.choices:
            return self._choices(prompt, scoring.choices)
        is_whole = scoring.continuation is None
        text = prompt if scoring.continuation is None else scoring.continuation
        words = len(text.split())
        tokens = words - 1 if is_whole else words
        surprise = self._surprise(prompt + (scoring.continuation or ""))
        if surprise is None:
            return _CANNOT
        if isinstance(surprise, str):
            return Completion(failure=Failure(surprise, "scripted failure"))
        if tokens < 1:
            return NO_TOKENS
        return scored(Likelihood(surprise * tokens, tokens, words, len(text.encode())), Usage(words, 0))

    def _choices(self, prompt: str, choices: tuple[str, ...]) -> Completion:
        surprises = [self._surprise(prompt + choice) for choice in choices]
        numbers = tuple(-surprise for surprise in surprises if isinstance(surprise, int | float))
        if len(numbers) < len(choices):
            return _CANNOT
        return scored(Likelihood(0.0, 0, 0, 0, numbers), Usage(len(prompt.split()), 0))

    def _surprise(self, text: str) -> Surprise | None:
        return next((surprise for pattern, surprise in self._rules if pattern.search(text)), None)
