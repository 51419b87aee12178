"""How OpenAI-compatible servers return the log-likelihood of a prompt: fields of the request and of the reply.

There are two formats. Both give one log-probability in nats for each token of the prompt but the first:

- ``prompt_logprobs`` of vLLM (https://docs.vllm.ai, "OpenAI-Compatible Server", extra parameters), for completions and
  chat completions: a list of ``{token id: {logprob, rank, decoded_token}}``, the first one null. The token of the
  prompt comes first in each.
- ``echo`` with ``logprobs`` of OpenAI's completions, as vLLM, SGLang and others follow it: the prompt comes back before
  the answer, and ``logprobs`` has ``tokens`` and ``token_logprobs`` of both. Its ``text_offset`` is not used: servers
  count it differently as soon as there is a BOS, or a character of several tokens.

Both are read into `TokenLogProbs`. From there `whole`, `continuation` and `single_token` compute completions; the same
tokens count as for local models (`ais_prompt.models.huggingface.local_likelihood`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import fsum
from typing import Any, Final, TypeGuard, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.models.api.chat import CHAT, COMPLETIONS, OpenAIEndpoint, first_choice
from ais_prompt.models.api.server_words import http_failure
from ais_prompt.models.api.wire import BadBody, fields_of, read_json
from ais_prompt.models.likelihood_completions import NO_TOKENS, common_length, likelihood_completion, measured_bytes
from ais_prompt.models.model_options import LogprobsVia
from ais_prompt.types import Completion, Failure, Likelihood, Usage

T = TypeVar("T")

TOP: Final = 5
"""Number of likeliest next tokens that are requested; OpenAI returns no more."""

_REFUSED: Final = {400, 422}
_ECHO_LISTS: Final = ("tokens", "token_logprobs")
"""Fields of ``logprobs`` with the tokens of a completion, and the value of each."""


class NoLogProbs(ValueError):
    """A reply is an answer without the requested log-probabilities."""


class LogProbsFormat(Struct, frozen=True):
    """One of the two ways to request log-probabilities.

    Attributes:
        name: as in a config.
        fields: further fields of the body.
        read: reply and prompt → probs; the prompt is a text or messages. Raises `BadBody` or `NoLogProbs`.
    """

    name: LogprobsVia
    fields: Mapping[str, Any]
    read: Callable[[Any, Any], TokenLogProbs]


def read_log_probs(way: LogProbsFormat, prompt: Any, status: int, body: bytes) -> TokenLogProbs | Failure:
    """Read the log-probabilities of the prompt from a reply, or return the failure."""
    return _read(lambda reply: way.read(reply, prompt), status, body)


def read_top(status: int, body: bytes) -> Mapping[str, float] | Failure:
    """Read the likeliest next tokens of a completion: text → log-probability in nats.

    Empty if there are fewer than requested: two tokens with the same text may have become one, and it is unknown which
    one is left. Empty too if the server refuses to return that many.
    """
    return {} if status in _REFUSED else _read(_top, status, body)


def prompt_log_probs(entries: Any) -> TokenLogProbs:
    """Read the list ``prompt_logprobs`` of a reply.

    Raises:
        NoLogProbs: the value is not such a list.
    """
    if not isinstance(entries, list) or not entries:
        raise NoLogProbs("the reply has no prompt_logprobs")
    found = [("", {}) if entry is None else _first_of(entry) for entry in entries]
    checked = _checked([token for token, _ in found], [fields.get("logprob") for _, fields in found])
    # vLLM tells a character whose bytes are several tokens with the last of them.
    texts = [text for _, fields in found[1:] if isinstance(text := fields.get("decoded_token"), str)]
    return replace(checked, text="".join(texts)) if len(texts) == len(found) - 1 else checked


def _read_prompt_logprobs(reply: Any, _prompt: Any) -> TokenLogProbs:
    choice = _choice(reply)
    entries = choice.get("prompt_logprobs")
    probs = prompt_log_probs(reply.get("prompt_logprobs") if entries is None else entries)
    count = _prompt_tokens(reply)
    if count not in (None, len(probs.tokens)):
        raise NoLogProbs(f"the prompt has {count} tokens, and prompt_logprobs {len(probs.tokens)}")
    return probs


def _read_echo(reply: Any, prompt: Any) -> TokenLogProbs:
    choice = _choice(reply)
    text = choice.get("text")
    if not isinstance(text, str) or not text.startswith(prompt):
        raise NoLogProbs("the answer does not begin with the prompt, so echo was ignored")
    logprobs = fields_of(choice.get("logprobs"))
    tokens, values = (logprobs.get(name) for name in _ECHO_LISTS)
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        raise NoLogProbs(f"the reply has no logprobs with {' and '.join(_ECHO_LISTS)}")
    count = _prompt_tokens(reply)
    length = len(tokens) if count is None and text == prompt else count
    # One token is generated, which has no text if it ends the answer. The counts must show clearly which tokens are
    # those of the prompt: some servers leave BOS out, or do not count all tokens.
    if length is None or len(tokens) - length not in ((0, 1) if text == prompt else (1,)):
        counted = "an unknown number of" if count is None else count
        raise NoLogProbs(f"the prompt has {counted} tokens, and logprobs has {len(tokens)}")
    return _checked([str(token) for token in tokens[:length]], values[:length])


_WAYS: Final[Mapping[str, tuple[LogProbsFormat, ...]]] = {
    COMPLETIONS.path: (
        LogProbsFormat("prompt_logprobs", {"prompt_logprobs": 0}, _read_prompt_logprobs),
        LogProbsFormat("echo", {"echo": True, "logprobs": 1}, _read_echo),
    ),
    # The log-likelihood is that of the messages alone, unless the query asks for the opening of the answer.
    CHAT.path: (
        LogProbsFormat(
            "prompt_logprobs", {"prompt_logprobs": 0, "add_generation_prompt": False}, _read_prompt_logprobs
        ),
    ),
}


def ways_of(endpoint: OpenAIEndpoint, via: LogprobsVia | None) -> tuple[LogProbsFormat, ...]:
    """Return the ways that a server may support, the more exact one first; only one if ``via`` names it.

    Raises:
        ConfigError: the endpoint does not support ``via``.
    """
    known = _WAYS.get(endpoint.path, ())
    ways = tuple(way for way in known if via in (None, way.name))
    if via and not ways:
        fix = f"leave it out, or choose from {', '.join(way.name for way in known)}"
        raise ConfigError(f"logprobs_via cannot be {via!r} for {endpoint.path}", fix=fix)
    return ways


def _checked(tokens: list[str], values: list[Any]) -> TokenLogProbs:
    if not values:
        raise NoLogProbs("the reply has no tokens")
    if values[0] is not None:
        raise NoLogProbs("the first token has a log-probability, although nothing comes before it")
    return TokenLogProbs(tuple(tokens), tuple(values))


def _first_of(entry: Any) -> tuple[str, Mapping[str, Any]]:
    """Return the token of the prompt, and the fields that describe it."""
    token, found = next(iter(entry.items()), ("", None)) if isinstance(entry, dict) else ("", None)
    if not isinstance(found, dict):
        raise NoLogProbs("prompt_logprobs is not a list of {token: {logprob: ...}}")
    return token, found


def _top(reply: Any) -> Mapping[str, float]:
    places = fields_of(_choice(reply).get("logprobs")).get("top_logprobs")
    top = places[0] if isinstance(places, list) and places else None
    if not isinstance(top, Mapping) or len(top) < TOP:
        return {}
    return {token: value for token, value in top.items() if is_log_prob(value)}


def _choice(reply: Any) -> Mapping[str, Any]:
    choices = fields_of(reply).get("choices")
    choice = first_choice(choices) if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping):
        raise BadBody("the reply has no choices")
    return choice


def _prompt_tokens(reply: Mapping[str, Any]) -> int | None:
    count = fields_of(reply.get("usage")).get("prompt_tokens")
    return count if isinstance(count, int) else None


def _read(read: Callable[[Any], T], status: int, body: bytes) -> T | Failure:
    if not 200 <= status < 300:
        return http_failure(status, body)
    try:
        return read(read_json(body))
    except BadBody as error:
        return Failure("bad_body", str(error))
    except NoLogProbs as error:
        return Failure("no_logprobs", str(error))


_IMPOSSIBLE: Final = -9999.0
"""vLLM writes this for minus infinity, which JSON does not have."""

_ROUNDING: Final = 1e-3
_SAME_TOKEN: Final = 0.5
"""Largest difference of the log-probabilities of one token in one place in two replies, in nats."""


class TokenLogProbs(Struct, frozen=True):
    """A text in the tokens of the model, with the special tokens that it puts in front.

    Attributes:
        tokens: id or text of each token, to compare the tokens of two texts; "" if unknown.
        log_probs: log-probability of each token in nats, as returned; None for the first. Unchecked, see `is_log_prob`.
        text: that of all tokens but the first; None if unknown.
    """

    tokens: tuple[str, ...]
    log_probs: tuple[Any, ...]
    text: str | None = None


EMPTY: Final = TokenLogProbs((), ())


def is_log_prob(value: Any) -> TypeGuard[float]:
    """Return whether a value can be the log-probability of a token that is possible."""
    return isinstance(value, int | float) and not isinstance(value, bool) and _IMPOSSIBLE < value <= _ROUNDING


def whole(text: str, probs: TokenLogProbs) -> Completion:
    """Return the log-likelihood of all tokens but the first, whose bytes do not count either."""
    return _likelihood(_bytes_after_first(text, probs), probs, start=1, all_tokens=len(probs.tokens))


def continued(text: str, before: TokenLogProbs, probs: TokenLogProbs) -> Completion:
    """Return the log-likelihood of the tokens that a continuation adds.

    Args:
        text: the continuation.
        before: the prompt alone.
        probs: prompt and continuation together.
    """
    common = _common_tokens(before, probs)
    start = max(common, 1)
    merged = common < len(before.tokens)
    # Without a prompt, and without BOS, the first token of the continuation has no likelihood.
    length = measured_bytes(text, "") if common else _bytes_after_first(text, probs)
    return _likelihood(length, probs, start=start, all_tokens=len(probs.tokens) - start, merged=merged)


def single_token(choice: str, before: TokenLogProbs, probs: TokenLogProbs) -> float | Failure:
    """Return the log-probability of a choice, which must add exactly one token to the prompt.

    Args:
        choice: its text, for the message of a failure.
        before: the prompt alone.
        probs: prompt and choice together.
    """
    if _common_tokens(before, probs) < len(before.tokens):
        return Failure("merged_choice", f"the choice {choice!r} and the end of the prompt become one token")
    added = len(probs.tokens) - len(before.tokens)
    if added != 1:
        words = f"the choice {choice!r} is {added} tokens long; only single tokens can be compared"
        return Failure("long_choice", words, fatal=True)
    value = probs.log_probs[-1]
    return value if is_log_prob(value) else _no_number(probs, len(probs.tokens) - 1)


def _bytes_after_first(text: str, probs: TokenLogProbs) -> int:
    """Return the length in UTF-8 of a text without its first token; vLLM does not tell the text of that."""
    if probs.text is not None and text.endswith(probs.text):
        return measured_bytes(probs.text, "")
    return measured_bytes(text, probs.tokens[0] if probs.tokens else "")


def _likelihood(length: int, probs: TokenLogProbs, *, start: int, all_tokens: int, merged: bool = False) -> Completion:
    values = probs.log_probs[start:]
    if not length or not values:
        return NO_TOKENS
    for number, value in enumerate(values, start):
        if not is_log_prob(value):
            return Completion(failure=_no_number(probs, number))
    usage = Usage(len(probs.tokens), 0)
    return likelihood_completion(Likelihood(-fsum(values), len(values), all_tokens, length, merged=merged), usage)


def _no_number(probs: TokenLogProbs, number: int) -> Failure:
    value = repr(probs.log_probs[number])[:50]
    words = f"token {number + 1} of {len(probs.tokens)} has no usable log-probability: {value}"
    return Failure("not_a_number", words)


def _common_tokens(first: TokenLogProbs, second: TokenLogProbs) -> int:
    """Count the tokens that two texts have in common at their beginning.

    Parts of a character have no text of their own, so their log-probabilities are compared instead.
    """
    common = common_length(first.tokens, second.tokens)
    for number in range(common):
        a, b = first.log_probs[number], second.log_probs[number]
        nameless = not first.tokens[number] or "\ufffd" in first.tokens[number]
        if nameless and is_log_prob(a) and is_log_prob(b) and abs(a - b) > _SAME_TOKEN:
            return number
    return common
