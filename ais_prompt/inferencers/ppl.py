"""Perplexity: every label is written into the prompt, and the likeliest text wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ais_prompt.errors import PromptError
from ais_prompt.inferencers.base import Conversation, InferenceContext, Preview
from ais_prompt.inferencers.labels import (
    Normalization,
    check_named,
    label_prompts,
    labels_of,
    likeliest,
    normalized,
    previews,
)
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import Likelihood, LikelihoodQuery, Request, Sample


@INFERENCERS.register_module()
class PPLInferencer:
    """Chooses the label whose prompt has the lowest perplexity; of equal ones the earlier label.

    What is called perplexity is its logarithm, as in OpenCompass: the mean negative log-likelihood of the tokens, in
    nats. The labels are those of a label table, or else the gold answers of the test split in order of first
    appearance.

    Args:
        labels: the labels, if not these.
        normalizing_str: compares by how much the context helps: the perplexity of the answer after its context, less
            that of the answer after this text. The template marks with ``sep_token`` where the answer begins.
        normalization: what divides the sum over the tokens; see `Normalization`.

    Raises:
        ConfigError: the labels are none, or one is there twice.
    """

    mask = None

    def __init__(
        self,
        labels: Sequence[Any] | None = None,
        normalizing_str: str | None = None,
        normalization: Normalization = "scored_tokens",
    ) -> None:
        self.labels = check_named(labels)
        self.normalizing_str = normalizing_str
        self.normalization: Normalization = normalization

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """Ask how likely every label's prompt is."""
        request = self._plain if self.normalizing_str is None else self._normalizing
        labels = labels_of(self.labels, context)
        asked = {label: request(sample, shots, label, context) for label in labels}
        completions = yield [one for requests in asked.values() for one in requests]
        return likeliest(sample, asked, completions, self._value)

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """The prompt of every label."""
        return previews(label_prompts(labels_of(self.labels, context), sample, shots, context), context)

    def _plain(self, sample: Sample, shots: Sequence[Sample], label: Any, context: InferenceContext) -> list[Request]:
        prompt = context.chat.render(context.builder.labelled(sample, shots, label), "ppl")
        return [Request(sample.id, prompt, LikelihoodQuery())]

    def _normalizing(
        self, sample: Sample, shots: Sequence[Sample], label: Any, context: InferenceContext
    ) -> list[Request]:
        """The answer after its context, and after ``normalizing_str``."""
        sep_token = context.builder.prompt_template.sep_token
        filled = context.builder.labelled(sample, shots, label, keep_sep=True)
        if not isinstance(filled, str):
            raise PromptError(
                "normalizing_str needs a prompt that is a text, not a dialogue", fix="write the template as text"
            )
        if sep_token is None or sep_token not in filled:
            raise PromptError(
                "normalizing_str needs a sep_token that says where the answer begins",
                fix="put '<S>' before the answer and give the template sep_token='<S>'",
            )
        before, _, answer = filled.partition(sep_token)
        scoring = LikelihoodQuery(answer.replace(sep_token, ""))
        contexts = (before, self.normalizing_str or "")
        return [Request(sample.id, context.chat.render(text, "ppl"), scoring) for text in contexts]

    def _value(self, likelihoods: Sequence[Likelihood]) -> float:
        value, *norm = (normalized(likelihood, self.normalization) for likelihood in likelihoods)
        return value - sum(norm)
