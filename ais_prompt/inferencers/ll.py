"""`LLInferencer`: choose the label in whose prompt a continuation has the highest log-likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ais_prompt.errors import DataError, PromptError
from ais_prompt.inferencers.base import Conversation, InferenceContext, Preview
from ais_prompt.inferencers.labels import check_named, label_prompts, labels_of, measured_text, prediction_of
from ais_prompt.prompts import Filled
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import LikelihoodQuery, Prompt, Request, Sample


@INFERENCERS.register_module()
class LLInferencer:
    """Chooses the label in whose prompt the row's continuation is likeliest; of equal labels the earlier one.

    It compares log-likelihoods, summed over the tokens of the continuation. The labels are found as in `PPLInferencer`.

    Args:
        labels: the labels; None uses those of the dataset.
        continuation_column: the column with the continuation, exactly as it follows the prompt.
        continuation_in_prompt: the prompt of each label ends with the continuation already, as in OpenCompass.

    Raises:
        ConfigError: the list of labels is empty, or contains a label twice.
    """

    mask = None

    def __init__(
        self,
        labels: Sequence[Any] | None = None,
        continuation_column: str = "cont",
        continuation_in_prompt: bool = False,
    ) -> None:
        self.labels = check_named(labels)
        self.continuation_column = continuation_column
        self.continuation_in_prompt = continuation_in_prompt

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """Request the log-likelihood of the continuation after the prompt of every label."""
        asked = {label: [request] for label, (_, request) in self._requests(sample, shots, context).items()}
        completions = yield [request for requests in asked.values() for request in requests]
        return prediction_of(sample, asked, completions, lambda likelihoods: likelihoods[0].nll)

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """Return the prompt of every label with the continuation."""
        return [
            Preview(f"label {label}", filled, measured_text(request), "every label")
            for label, (filled, request) in self._requests(sample, shots, context).items()
        ]

    def _requests(
        self, sample: Sample, shots: Sequence[Sample], context: InferenceContext
    ) -> dict[Any, tuple[Filled, Request]]:
        """Return label → filled prompt, and what is measured with it."""
        continuation = self._continuation(sample)
        query = LikelihoodQuery(continuation)
        requests = {}
        for label, filled in label_prompts(labels_of(self.labels, context), sample, shots, context).items():
            prompt = context.chat.render(filled, "ppl")
            if self.continuation_in_prompt:
                prompt = _without_end(prompt, continuation)
            requests[label] = (filled, Request(sample.id, prompt, query))
        return requests

    def _continuation(self, sample: Sample) -> str:
        if self.continuation_column not in sample.fields:
            raise DataError(
                f"there is no column {self.continuation_column!r} with the continuation",
                fix="name the column: continuation_column='...'",
            )
        return str(sample.fields[self.continuation_column])


def _without_end(prompt: Prompt, continuation: str) -> str:
    """Return the text before the continuation.

    Raises:
        PromptError: the prompt does not end with it.
    """
    if not isinstance(prompt, str) or not prompt.endswith(continuation):
        raise PromptError(
            f"the prompt of a label does not end with the continuation {continuation!r:.60}",
            fix="write it at the end of each label's template, or leave continuation_in_prompt out",
        )
    return prompt.removesuffix(continuation)
