"""What readers share: values of a log, in the words of any tool, as those of the neutral record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from ais_prompt.errors import DataError
from ais_prompt.types import ChatMessage, Completion, Failure, FinishReason, LoggedAnswer, Usage

NOT_DECODING: Final = frozenset(
    (
        *("messages", "prompt", "model", "model_name", "model_deployment", "input", "tools", "tool_choice"),
        *("embedding", "echo_prompt", "extra_headers", "stream", "stream_options"),
        *("max_connections", "max_retries", "timeout", "batch_size", "retries", "retry_interval"),
    )
)
"""Fields of requests that do not control generation, or are compared as the prompt."""


def columns_of(answer: LoggedAnswer) -> dict[str, str]:
    """Return question and choices, one a line, as columns of a prediction, as far as they are known."""
    return {
        **({"question": answer.question} if answer.question else {}),
        **({"choices": "\n".join(" ".join(one.splitlines()) for one in answer.choices)} if answer.choices else {}),
    }


@contextmanager
def as_written_by(tool: str, where: Callable[[], str]) -> Iterator[None]:
    """Turn what a reader stumbles over, such as a number in place of a list, into an error about the log.

    Readers take logs as their tools write them, and check no types: each field of each format would need it.

    Args:
        tool: the name of the format.
        where: returns how far the reader has come.

    Raises:
        DataError: a value of the log is not what the tool writes there.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        what = f"the log is not as {tool} writes it ({type(error).__name__}: {str(error)[:200]})"
        raise DataError(what, where=where(), fix="copy the log again, or name another file") from error


def completion_of(
    text: str | None,
    finish_reason: Any = None,
    *,
    usage: Any = None,
    seconds: Any = None,
    reasoning: str = "",
    error: Any = None,
) -> Completion:
    """Return a completion from what a log says of it.

    Args:
        text: the answer; None if there is none.
        finish_reason: in the words of any tool.
        usage: counts of tokens, in the words of inspect_ai, evalscope and Every Eval Ever.
        seconds: of the request.
        reasoning: before the answer.
        error: why there is no answer: a text or an object with a message.
    """
    if error or text is None:
        message = error.get("message", error) if isinstance(error, Mapping) else error
        return Completion(failure=Failure("log", str(message or "the log has no answer")[:2000]))
    counts = usage if isinstance(usage, Mapping) else {}
    return Completion(
        text,
        _REASONS.get(finish_reason, "unknown") if isinstance(finish_reason, str) else "unknown",
        Usage(
            _count(counts.get("input_tokens")),
            _count(counts.get("output_tokens")),
            _count(counts.get("reasoning_tokens")),
            _count(counts.get("input_tokens_cache_read")),
            _count(counts.get("input_tokens_cache_write")),
        ),
        number_of(seconds) or 0.0,
        reasoning=reasoning,
    )


def messages_of(messages: Any) -> tuple[ChatMessage, ...]:
    """Return messages in any tool's form as ours; parts that are no text are named."""
    return tuple(
        ChatMessage(message["role"], text_and_reasoning(message.get("content"))[0])
        for message in (messages if isinstance(messages, list | tuple) else ())
        if isinstance(message, Mapping) and isinstance(message.get("role"), str)
    )


def text_and_reasoning(content: Any) -> tuple[str, str]:
    """Return text and reasoning of a message's content: a text, or parts of which some are reasoning."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else "", ""
    texts, reasoning = [], []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            if part.get("type") == "reasoning":
                reasoning.append(str(part.get("reasoning", "")))
            else:
                texts.append(str(part.get("text", f"[{part.get('type')}]")))
    return "\n".join(texts), "\n".join(reasoning)


def decoding_of(request: Any) -> dict[str, Any]:
    """Return the fields of a request that control generation; those that are null are left out."""
    fields = request if isinstance(request, Mapping) else {}
    return {name: value for name, value in fields.items() if name not in NOT_DECODING and value not in (None, [], {})}


def number_of(value: Any) -> float | None:
    """Return a score as a number; None if it is none, or so large that its square has no float."""
    if not isinstance(value, bool | int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if abs(number) <= _LARGEST_NUMBER else None


def numbers_of(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the scores that are numbers, as `number_of` returns them."""
    return {str(name): number for name, value in values.items() if (number := number_of(value)) is not None}


def gold_of(value: Any) -> Any:
    """Return a right answer as a text, several as a list of texts; None if there is none."""
    texts = texts_of(value)
    return texts if len(texts) > 1 else next(iter(texts), None)


def texts_of(value: Any) -> list[str]:
    """Return the texts of a list, or of a single text."""
    return [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)] if value is not None else []


_LARGEST_NUMBER: Final = 1e100
_REASONS: Final[Mapping[str, FinishReason]] = {
    **dict.fromkeys(("length", "max_tokens", "model_length", "max_new_tokens"), "length"),
    **dict.fromkeys(("stop", "eos", "end_turn", "stop_sequence", "stop_token", "endoftext"), "stop"),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "tool_calls"),
}
"""The words of all tools for why an answer ended."""


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**63 else None
