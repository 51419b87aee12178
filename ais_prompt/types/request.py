"""A request to a model: a prompt, and how to generate or what to measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from ais_prompt.types.prompt import Prompt, prompt_to_json


class Decoding(Struct, frozen=True):
    """How to generate an answer.

    Attributes:
        max_out_len: maximum number of tokens to generate.
        temperature: 0 is greedy; None uses the default of the model or server.
        top_p: nucleus sampling, 0 < top_p <= 1; None uses the default.
        stop: texts that end the answer and are not part of it.
        stop_tokens: ids of tokens that end the answer, in addition to the model's own.
        seed: seed of the sampling; None sets no seed.
        extra: further options of the model, passed on unchanged.
    """

    max_out_len: int
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    stop_tokens: tuple[int, ...] = ()
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


class LikelihoodQuery(Struct, frozen=True):
    """Ask for a log-likelihood instead of a generated answer.

    Attributes:
        continuation: None measures all tokens of the prompt except the first, which has no context. A text measures
            the tokens that it adds to the prompt: both are tokenised together, and the tokens of the prompt are masked.
        choices: single-token choices after the prompt, to be measured instead of a continuation.
    """

    continuation: str | None = None
    choices: tuple[str, ...] = ()


class Request(Struct, frozen=True):
    """One request to a model.

    Attributes:
        sample_id: the sample that the request belongs to; not part of `content`.
        prompt: exactly what is sent.
        decoding: how to generate the answer, or which log-likelihood to compute.
        turn: number of the turn in a dialogue, from 0.
        repeat: number of the repetition of the same prompt, from 0.
        duplicate: number of the sample among the samples with the same prompt, from 0 in the order of the rows. Set by
            the engine, not by inferencers.
    """

    sample_id: str
    prompt: Prompt
    decoding: Decoding | LikelihoodQuery
    turn: int = 0
    repeat: int = 0
    duplicate: int = 0

    def content(self) -> dict[str, Any]:
        """Return everything that determines the answer of a model, as plain JSON values."""
        return {
            "prompt": prompt_to_json(self.prompt),
            "decoding": asdict(self.decoding),
            "turn": self.turn,
            "repeat": self.repeat,
            "duplicate": self.duplicate,
        }
