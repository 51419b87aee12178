"""What came back from a model. A failure is a value here, never an empty text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct, convert
from msgspec.structs import asdict

FinishReason: TypeAlias = Literal["stop", "length", "unknown"]


_ONLY_IF_PRESENT = ("reasoning", "unclosed", "first_token_seconds", "token_seconds", "redacted", "refused")


class Usage(Struct, frozen=True):
    """Tokens as counted by the tokenizer or the server; None where they were not told."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Likelihood(Struct, frozen=True):
    """How likely the scored text is.

    Attributes:
        nll: negative log-likelihood of the scored tokens, summed, in nats.
        tokens: how many tokens were scored.
        all_tokens: tokens of the scored text; one more if it is a whole prompt, whose first token has no likelihood.
        bytes: length of the scored text in UTF-8.
        choices: log-probabilities of single-token choices in nats, in order; nothing else is scored then.
        merged: the last tokens of the prompt are others when it is continued ("a " and "b" become " b"); the changed
            ones were scored along with the continuation.
    """

    nll: float
    tokens: int
    all_tokens: int
    bytes: int
    choices: tuple[float, ...] = ()
    merged: bool = False


class Failure(Struct, frozen=True):
    """Why there is no answer.

    Attributes:
        kind: a short word for counting: ``timeout``, ``connection``, ``http_500``, ``too_long``, ...
        message: the cause in the server's or library's own words, at most a few lines.
        fatal: True if every other request must be expected to fail in the same way (no such model, wrong key).
        where: ``file:line`` in a part of the user's own that failed; empty for others.
    """

    kind: str
    message: str
    fatal: bool = False
    where: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; ``where`` is left out if there is none."""
        values = asdict(self)
        if not self.where:
            del values["where"]
        return values


class Completion(Struct, frozen=True):
    """The answer to one request, or its failure.

    Attributes:
        text: what the model answered; empty when it failed, and then never to be read as an answer.
        finish_reason: ``length`` means that it was cut at ``max_out_len``; None when it failed.
        usage: tokens in and out.
        seconds: wall time of the last attempt; for a batch the time of the whole batch.
        attempts: how often it was asked, the successful attempt included.
        failure: why there is no answer; None when there is one.
        likelihood: the answer to a request that scores a text; None if text was generated.
        reasoning: what the model thought before it answered; empty if it did not, or nobody told.
        unclosed: True if the thought never came to its end; there is no answer then, and ``text`` is empty.
        first_token_seconds: from sending the request to the first piece of a streamed answer or thought; else None.
        token_seconds: mean time between the tokens of a streamed answer; else None.
        redacted: secrets in answer and thought that were replaced by ``***``.
        refused: the server says that the model refused to answer; ``text`` has its words then.
    """

    text: str = ""
    finish_reason: FinishReason | None = None
    usage: Usage = Usage()
    seconds: float = 0.0
    attempts: int = 1
    failure: Failure | None = None
    likelihood: Likelihood | None = None
    reasoning: str = ""
    unclosed: bool = False
    first_token_seconds: float | None = None
    token_seconds: float | None = None
    redacted: int = 0
    refused: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; what most answers do not have is left out where there is none."""
        values: dict[str, Any] = {
            "text": self.text,
            "finish_reason": self.finish_reason,
            "usage": asdict(self.usage),
            "seconds": self.seconds,
            "attempts": self.attempts,
        }
        if self.failure is not None:
            values["failure"] = self.failure.to_json()
        if self.likelihood is not None:
            values["likelihood"] = asdict(self.likelihood)
        for name in _ONLY_IF_PRESENT:
            if value := getattr(self, name):
                values[name] = value
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Completion:
        """The inverse of `to_json`.

        Raises:
            KeyError, TypeError, ValueError: the values are not those of a completion.
        """
        if values["finish_reason"] == "content_filter":  # earlier versions took it for an answer
            return cls(failure=Failure("content_filter", "the server's content filter withheld the answer"))
        if "text" not in values:  # a default must not pass for an answer
            raise KeyError("text")
        return convert(values, cls)
