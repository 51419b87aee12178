"""How OpenAI-compatible servers return the log-likelihood of a prompt: fields of the request and of the reply.

There are two ways. Both give one log-probability in nats for each token of the prompt but the first:

- ``prompt_logprobs`` of vLLM (https://docs.vllm.ai, "OpenAI-Compatible Server", extra parameters), for completions and
  chat completions: a list of ``{token id: {logprob, rank, decoded_token}}``, the first one null. The token of the
  prompt comes first in each.
- ``echo`` with ``logprobs`` of OpenAI's completions, as vLLM, SGLang and others follow it: the prompt comes back before
  the answer, and ``logprobs`` has ``tokens`` and ``token_logprobs`` of both. Its ``text_offset`` is not used: servers
  count it differently as soon as there is a BOS, or a character of several tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from msgspec import Struct

from ais_prompt.errors import ConfigError
from ais_prompt.models.api.wire import BadBody, http_failure, read_json
from ais_prompt.models.options import LogprobsVia
from ais_prompt.models.wires.openai.replies import first_choice
from ais_prompt.models.wires.openai.token_log_probs import TokenLogProbs, is_log_prob
from ais_prompt.models.wires.openai.wire import CHAT, COMPLETIONS, Endpoint
from ais_prompt.types import Failure

T = TypeVar("T")

TOP: Final = 5
"""Number of likeliest next tokens that are requested; OpenAI returns no more."""

_REFUSED: Final = {400, 422}


class NoLogProbs(ValueError):
    """A reply is an answer without the requested log-probabilities."""


class Way(Struct, frozen=True):
    """One of the two ways to request log-probabilities.

    Attributes:
        name: as in a config.
        fields: further fields of the body.
        read: reply and prompt → probs; the prompt is a text or messages. Raises `BadBody` or `NoLogProbs`.
    """

    name: LogprobsVia
    fields: Mapping[str, Any]
    read: Callable[[Any, Any], TokenLogProbs]


def read_log_probs(way: Way, prompt: Any, status: int, body: bytes) -> TokenLogProbs | Failure:
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
    pairs = [("", None) if entry is None else _first_of(entry) for entry in entries]
    return _checked([token for token, _ in pairs], [value for _, value in pairs])


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
    tokens, values = _echo_lists(choice.get("logprobs"))
    count = _prompt_tokens(reply)
    length = len(tokens) if count is None and text == prompt else count
    # One token is generated, which has no text if it ends the answer. The counts must show clearly which tokens are
    # those of the prompt: some servers leave BOS out, or do not count all tokens.
    if length is None or len(tokens) - length not in ((0, 1) if text == prompt else (1,)):
        counted = "an unknown number of" if count is None else count
        raise NoLogProbs(f"the prompt has {counted} tokens, and logprobs has {len(tokens)}")
    return _checked([str(token) for token in tokens[:length]], values[:length])


_ECHO_LISTS: Final = ("tokens", "token_logprobs")


def _echo_lists(logprobs: Any) -> tuple[list[Any], list[Any]]:
    """Return the tokens of a completion, and the value of each."""
    tokens, values = (logprobs.get(name) if isinstance(logprobs, Mapping) else None for name in _ECHO_LISTS)
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        raise NoLogProbs(f"the reply has no logprobs with {' and '.join(_ECHO_LISTS)}")
    return tokens, values


_WAYS: Final[Mapping[str, tuple[Way, ...]]] = {
    COMPLETIONS.path: (
        Way("prompt_logprobs", {"prompt_logprobs": 0}, _read_prompt_logprobs),
        Way("echo", {"echo": True, "logprobs": 1}, _read_echo),
    ),
    # The log-likelihood is that of the messages alone, without the opening of the assistant's turn.
    CHAT.path: (Way("prompt_logprobs", {"prompt_logprobs": 0, "add_generation_prompt": False}, _read_prompt_logprobs),),
}


def ways_of(endpoint: Endpoint, via: LogprobsVia | None) -> tuple[Way, ...]:
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


def _first_of(entry: Any) -> tuple[str, Any]:
    """Return the token of the prompt and its log-probability."""
    token, found = next(iter(entry.items()), ("", None)) if isinstance(entry, dict) else ("", None)
    if not isinstance(found, dict):
        raise NoLogProbs("prompt_logprobs is not a list of {token: {logprob: ...}}")
    return token, found.get("logprob")


def _top(reply: Any) -> Mapping[str, float]:
    logprobs = _choice(reply).get("logprobs")
    places = logprobs.get("top_logprobs") if isinstance(logprobs, Mapping) else None
    top = places[0] if isinstance(places, list) and places else None
    if not isinstance(top, Mapping) or len(top) < TOP:
        return {}
    return {token: value for token, value in top.items() if is_log_prob(value)}


def _choice(reply: Any) -> Mapping[str, Any]:
    choices = reply.get("choices") if isinstance(reply, Mapping) else None
    choice = first_choice(choices) if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping):
        raise BadBody("the reply has no choices")
    return choice


def _prompt_tokens(reply: Mapping[str, Any]) -> int | None:
    usage = reply.get("usage")
    count = usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
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
