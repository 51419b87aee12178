"""What is asked of a model, and the key under which the answer is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from ais_prompt.types.prompt import Prompt, prompt_to_json


class Decoding(Struct, frozen=True):
    """How an answer is generated.

    Attributes:
        max_out_len: most tokens to generate.
        temperature: 0 is greedy; None leaves the model's or server's default.
        top_p: nucleus sampling, 0 < top_p <= 1; None leaves the default.
        stop: texts that end the answer and are not part of it.
        stop_tokens: ids of tokens that end it, besides those that the model ends with anyway.
        seed: seed of the sampling; None leaves it open.
        extra: further options in the model's own terms, passed on as they are.
    """

    max_out_len: int
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    stop_tokens: tuple[int, ...] = ()
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


class LikelihoodQuery(Struct, frozen=True):
    """How likely a text is to a model; nothing is generated.

    Attributes:
        continuation: None scores all tokens of the prompt but the first, which nothing comes before. A text scores
            the tokens that it adds to the prompt: both are tokenised together, and those of the prompt are masked.
        choices: single-token choices after the prompt, scored instead; then there is no continuation.
    """

    continuation: str | None = None
    choices: tuple[str, ...] = ()


class Request(Struct, frozen=True):
    """One question to a model.

    Attributes:
        sample_id: the sample that it belongs to; it does not decide the answer.
        prompt: exactly what is sent.
        decoding: how the answer is generated, or what is scored.
        turn: number of the turn in a dialogue, from 0.
        repeat: number of the repetition of the same prompt, from 0.
        duplicate: number of the sample among those of the dataset that ask the same, from 0 in the order of the rows.
            Inferencers leave it to the engine.
    """

    sample_id: str
    prompt: Prompt
    decoding: Decoding | LikelihoodQuery
    turn: int = 0
    repeat: int = 0
    duplicate: int = 0

    def content(self) -> dict[str, Any]:
        """All that decides the answer of a model, as plain JSON values."""
        return {
            "prompt": prompt_to_json(self.prompt),
            "decoding": asdict(self.decoding),
            "turn": self.turn,
            "repeat": self.repeat,
            "duplicate": self.duplicate,
        }
