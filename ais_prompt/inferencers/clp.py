"""`CLPInferencer`: the conditional probability of a few single tokens after the prompt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice

from ais_prompt.errors import DataError
from ais_prompt.inferencers.base import Conversation, InferenceContext, Preview
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import LikelihoodQuery, Prediction, Request, Sample

CHOICES_COLUMN = "choices"
SAMPLES_LOOKED_AT = 20
"""Questions of which the first one with a list of choices decides: a broken row concerns only itself."""


@INFERENCERS.register_module()
class CLPInferencer:
    """Predicts the probability of each choice as the next token of the generation prompt.

    The probabilities of the choices are normalised to sum to 1. The prediction is their list, in order of the choices;
    ``labels`` of the prediction names them.

    Args:
        choices: texts of one token each; None uses the column ``choices`` of the first question that has one, for all
            questions, as OpenCompass does.
        gen_field_replace_token: the text in place of the gold in the prompt.
    """

    def __init__(self, choices: Sequence[str] | None = None, gen_field_replace_token: str = "") -> None:
        self.choices = None if choices is None else tuple(choices)
        self.mask = gen_field_replace_token

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """Send one request for all choices."""
        choices = self.choices or _choices_of(context)
        prompt = context.chat.render(context.builder.generation(sample, shots), "gen")
        [completion] = yield [Request(sample.id, prompt, LikelihoodQuery(choices=choices))]
        log_probs = completion.likelihood.choices if completion.likelihood else ()
        probabilities = _softmax(log_probs)
        found = zip(choices, log_probs, probabilities, strict=False)
        return Prediction(
            sample_id=sample.id,
            index=sample.index,
            origin_prompt=prompt,
            prediction=probabilities or None,
            gold=sample.gold,
            completions=(completion,),
            labels={choice: {"logprob": log_prob, "probability": p} for choice, log_prob, p in found},
        )

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """Return the only prompt."""
        filled = context.builder.generation(sample, shots)
        return [Preview("", filled, context.chat.render(filled, "gen"))]


def _choices_of(context: InferenceContext) -> tuple[str, ...]:
    for sample in islice(context.samples, SAMPLES_LOOKED_AT):
        choices = sample.fields.get(CHOICES_COLUMN)
        if isinstance(choices, list | tuple) and choices and all(isinstance(choice, str | int) for choice in choices):
            return tuple(map(str, choices))
    raise DataError(
        f"the first questions have no list of choices in a column {CHOICES_COLUMN!r}",
        fix="add the column, or name them: choices=['A', 'B']",
    )


def _softmax(log_probs: Sequence[float]) -> list[float]:
    top = max(log_probs, default=0.0)
    if math.isinf(top):  # every choice has the probability 0
        return []
    weights = [math.exp(value - top) for value in log_probs]
    return [weight / math.fsum(weights) for weight in weights]
