"""Generation: one prompt a sample, continued by the model once or several times."""

from __future__ import annotations

from collections.abc import Sequence

from ais_prompt.errors import ConfigError
from ais_prompt.inferencers.base import Conversation, InferenceContext, Preview
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import Prediction, Request, Sample


@INFERENCERS.register_module()
class GenInferencer:
    """Lets the model continue the prompt; the prediction is its text, or the list of its texts if ``n`` is above 1.

    Args:
        max_out_len: most tokens to generate; None takes the model's ``max_out_len``.
        stopping_criteria: texts that end an answer, next to the model's own ``stop_words``.
        gen_field_replace_token: what stands in the prompt in place of the gold.
        n: answers to each prompt. Different ones need a model that samples (``temperature`` above 0).
        stop_token_ids: ids of tokens that end an answer, next to those that the model ends with anyway. A server needs
            the field of this name, as vLLM and SGLang have it.
        seed: seed of the sampling; None takes the model's. Each of the ``n`` answers is drawn with its own.

    Raises:
        ConfigError: ``n`` is less than 1.
    """

    def __init__(
        self,
        max_out_len: int | None = None,
        stopping_criteria: Sequence[str] = (),
        gen_field_replace_token: str = "",
        n: int = 1,
        stop_token_ids: Sequence[int] = (),
        seed: int | None = None,
    ) -> None:
        if n < 1:
            raise ConfigError(f"n must be at least 1, not {n}", fix="n is the number of answers to each prompt")
        self.max_out_len = max_out_len
        self.stopping_criteria = tuple(stopping_criteria)
        self.mask = gen_field_replace_token
        self.n = n
        self.stop_token_ids = tuple(stop_token_ids)
        self.seed = seed

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """Ask once, or ``n`` times side by side."""
        prompt = context.chat.render(context.builder.generation(sample, shots), "gen")
        decoding = context.decoding(self.max_out_len, self.stopping_criteria, self.stop_token_ids, self.seed)
        completions = yield [Request(sample.id, prompt, decoding, repeat=repeat) for repeat in range(self.n)]
        answers = [None if completion.failure else completion.text for completion in completions]
        return Prediction(
            sample_id=sample.id,
            index=sample.index,
            origin_prompt=prompt,
            prediction=answers if self.n > 1 else answers[0],
            gold=sample.gold,
            completions=tuple(completions),
        )

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """The one prompt."""
        filled = context.builder.generation(sample, shots)
        return [Preview("", filled, context.chat.render(filled, "gen"))]
