"""`PPLOnlyInferencer`: the perplexity of one text, without labels to compare."""

from __future__ import annotations

from collections.abc import Sequence

from ais_prompt.inferencers.base import Conversation, InferenceContext, Preview
from ais_prompt.inferencers.labels import Normalization, normalized
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import LikelihoodQuery, Prediction, Request, Sample


@INFERENCERS.register_module()
class PPLOnlyInferencer:
    """Predicts the perplexity of the generation prompt: by default the mean negative log-likelihood in nats per token.

    The whole text is measured: no examples are left out, and a sample whose text is longer than ``max_seq_len`` fails
    with ``too_long``.

    Args:
        normalization: the divisor of the sum over the tokens; see `Normalization`.
        gen_field_replace_token: the text in place of the gold, if there is an output column.
    """

    keeps_all_shots = True
    """Examples are part of the measured text, so none are left out to fit ``max_seq_len``."""

    def __init__(self, normalization: Normalization = "scored_tokens", gen_field_replace_token: str = "") -> None:
        self.normalization: Normalization = normalization
        self.mask = gen_field_replace_token

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """Send one request."""
        prompt = context.chat.render(context.builder.generation(sample, shots), "gen")
        [completion] = yield [Request(sample.id, prompt, LikelihoodQuery())]
        likelihood = completion.likelihood
        return Prediction(
            sample_id=sample.id,
            index=sample.index,
            origin_prompt=prompt,
            prediction=None if likelihood is None else normalized(likelihood, self.normalization),
            gold=sample.gold,
            completions=(completion,),
        )

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """Return the only prompt."""
        filled = context.builder.generation(sample, shots)
        return [Preview("", filled, context.chat.render(filled, "gen"))]
