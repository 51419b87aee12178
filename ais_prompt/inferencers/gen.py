"""Generation: one prompt a sample, continued by the model."""

from __future__ import annotations

from collections.abc import Sequence

from ais_prompt.inferencers.base import Conversation, Desk, Preview
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import Prediction, Request, Sample


@INFERENCERS.register_module()
class GenInferencer:
    """Lets the model continue the prompt; the prediction is its text.

    Args:
        max_out_len: most tokens to generate; None takes the model's ``max_out_len``.
        stopping_criteria: texts that end an answer, next to the model's own ``stop_words``.
        gen_field_replace_token: what stands in the prompt in place of the gold.
    """

    def __init__(
        self,
        max_out_len: int | None = None,
        stopping_criteria: Sequence[str] = (),
        gen_field_replace_token: str = "",
    ) -> None:
        self.max_out_len = max_out_len
        self.stopping_criteria = tuple(stopping_criteria)
        self.mask = gen_field_replace_token

    def converse(self, sample: Sample, shots: Sequence[Sample], desk: Desk) -> Conversation:
        """Ask once."""
        prompt = desk.chat.render(desk.builder.generation(sample, shots), "gen")
        decoding = desk.decoding(self.max_out_len, self.stopping_criteria)
        completions = yield [Request(sample.id, prompt, decoding)]
        return Prediction(
            sample_id=sample.id,
            index=sample.index,
            origin_prompt=prompt,
            prediction=None if completions[0].failure else completions[0].text,
            gold=sample.gold,
            completions=tuple(completions),
        )

    def preview(self, sample: Sample, shots: Sequence[Sample], desk: Desk) -> list[Preview]:
        """The one prompt."""
        filled = desk.builder.generation(sample, shots)
        return [Preview("", filled, desk.chat.render(filled, "gen"))]
