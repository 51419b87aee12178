"""`GenInferencer`: one prompt per sample, which the model continues once or several times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import ConfigError
from ais_prompt.inferencers.base import Conversation, InferenceContext, Preview, refuse_fields, with_fields
from ais_prompt.models import check_at_least
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import Prediction, Request, Sample

MOST_ANSWERS: Final = 10_000
"""To one prompt."""


@INFERENCERS.register_module()
class GenInferencer:
    """Lets the model continue the prompt. The prediction is the generated text, or a list of ``n`` texts.

    Args:
        max_out_len: maximum number of tokens to generate; None uses the model's ``max_out_len``. A text names a column
            with that number; a row without one uses the model's.
        stopping_criteria: texts that end an answer, in addition to the model's ``stop_words``.
        gen_field_replace_token: the text in place of the gold in the prompt.
        n: answers to each prompt. Different answers need a model that samples (``temperature`` above 0).
        stop_token_ids: ids of tokens that end an answer, in addition to the model's own. A server must support a field
            of this name, as vLLM and SGLang do.
        seed: seed of the sampling; None uses the model's. Each of the ``n`` answers gets a seed of its own.
        response_format: the form of the answer that a server enforces, in the words of the OpenAI API:
            ``{'type': 'json_object'}``, or ``json_schema`` with a schema. It is part of the key of an answer.
        top_logprobs: with each answer, its tokens are stored, and so many of the likeliest tokens in the place of each,
            with their log-probabilities. OpenAI gives 20 at most, in completions 5.

    Raises:
        ConfigError: ``n`` is less than 1 or more than 10,000, or ``top_logprobs`` is less than 1.
    """

    def __init__(
        self,
        max_out_len: int | str | None = None,
        stopping_criteria: Sequence[str] = (),
        gen_field_replace_token: str = "",
        n: int = 1,
        stop_token_ids: Sequence[int] = (),
        seed: int | None = None,
        response_format: Mapping[str, Any] | None = None,
        top_logprobs: int | None = None,
    ) -> None:
        if not 1 <= n <= MOST_ANSWERS:
            what = f"n must be from 1 to {MOST_ANSWERS:,}, not {n:,}"
            raise ConfigError(what, fix="n is the number of answers to each prompt")
        if not isinstance(max_out_len, str):
            check_at_least(1, max_out_len=max_out_len)
        check_at_least(1, top_logprobs=top_logprobs)
        self.max_out_len = None if isinstance(max_out_len, str) else max_out_len
        self.length_column = max_out_len if isinstance(max_out_len, str) else ""
        self.stopping_criteria = tuple(stopping_criteria)
        self.mask = gen_field_replace_token
        self.n = n
        self.stop_token_ids = tuple(stop_token_ids)
        self.seed = seed
        fields = {"response_format": response_format, "top_logprobs": top_logprobs}
        self._fields = {name: value for name, value in fields.items() if value is not None}

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """Send one request, or ``n`` at the same time."""
        prompt = context.chat.render(context.builder.generation(sample, shots), "gen")
        length = self.max_out_len if not self.length_column else answer_length(sample.fields.get(self.length_column))
        decoding = context.decoding(length, self.stopping_criteria, self.stop_token_ids, self.seed)
        if self._fields:  # else all requests share one decoding, whose part of their keys is made once
            decoding = with_fields(decoding, context.model, **self._fields)
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
        """Return the only prompt."""
        for name in self._fields:
            refuse_fields(context.model, name)
        filled = context.builder.generation(sample, shots)
        return [Preview("", filled, context.chat.render(filled, "gen"))]


def answer_length(value: Any) -> int | None:
    """Return the most tokens of an answer that a column of a row names; None if it names none. In CSV it is a text."""
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    return value if type(value) is int and value > 0 else None
