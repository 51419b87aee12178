"""Choosing between labels by log-likelihood: functions that several inferencers share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Literal, TypeAlias, TypeVar

from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.inferencers.base import InferenceContext, Preview
from ais_prompt.prompts import Filled
from ais_prompt.types import (
    ChatMessage,
    Completion,
    Likelihood,
    LikelihoodQuery,
    Prediction,
    Prompt,
    Request,
    Sample,
    prompt_to_json,
)
from ais_prompt.utils import listed

MOST_LABELS: Final = 10
"""Golds that may be labels; more are rather answers in words or numbers."""
Label = TypeVar("Label")
Normalization: TypeAlias = Literal["scored_tokens", "all_tokens", "bytes", "none"]
"""The divisor of the negative log-likelihood of a text before texts are compared:

- ``scored_tokens``: the tokens that have a log-likelihood; gives nats per token;
- ``all_tokens``: these and the first token of a prompt, which has none, as in OpenCompass;
- ``bytes``: the length of the text in UTF-8; gives nats per byte;
- ``none``: no divisor; gives nats.
"""


def normalized(likelihood: Likelihood, normalization: Normalization) -> float:
    """Return the negative log-likelihood in nats per unit of the normalization; lower is likelier."""
    divisors = {
        "scored_tokens": likelihood.tokens,
        "all_tokens": likelihood.all_tokens,
        "bytes": likelihood.bytes,
        "none": 1,
    }
    return likelihood.nll / divisors[normalization]


_NOISE: Final = 1e-6
"""Relative difference of values that are equal: models compute in single precision."""


def lowest(values: Mapping[Label, float]) -> Label | None:
    """Return the label with the lowest value, of equal values the earliest; None if no value is finite.

    >>> lowest({"A": 2.0000000001, "B": 2.0})
    'A'
    """
    finite = [label for label, value in values.items() if math.isfinite(value)]
    least = min((values[label] for label in finite), default=0.0)
    return next((label for label in finite if math.isclose(values[label], least, rel_tol=_NOISE)), None)


def prediction_of(
    sample: Sample,
    asked: Mapping[Any, Sequence[Request]],
    completions: Sequence[Completion],
    value_of: Callable[[Sequence[Likelihood]], float],
    predict: Callable[[Mapping[Any, float]], Any] = lowest,
) -> Prediction:
    """Return the prediction of a sample: by default the label with the lowest value.

    Args:
        sample: the question.
        asked: label → its requests; the first of them measures the text with the label.
        completions: the answers to all requests, in order. If one failed, there is no prediction.
        value_of: log-likelihoods of one label → the value by which labels are compared.
        predict: label → value, of all labels → the prediction.
    """
    answers = iter(completions)
    values: dict[Any, float] = {}
    known: list[tuple[Sequence[Request], list[Likelihood]]] = []
    findings: dict[str, dict[str, Any]] = {}
    for label, requests in asked.items():
        likelihoods = [answer.likelihood for answer in islice(answers, len(requests)) if answer.likelihood is not None]
        if len(likelihoods) == len(requests):
            # Equal texts have equal likelihoods. In half precision a model computes others in each batch.
            likelihoods = next((earlier for same, earlier in known if same == requests), likelihoods)
            known.append((requests, likelihoods))
            values[label] = value_of(likelihoods)
            findings[str(label)] = _finding(requests[0], values[label], likelihoods[0])
    first = next(iter(asked.values()))[0]
    return Prediction(
        sample_id=sample.id,
        index=sample.index,
        origin_prompt=measured_text(first),
        prediction=predict(values) if len(values) == len(asked) else None,
        gold=sample.gold,
        completions=tuple(completions),
        labels=findings,
    )


def label_prompts(
    labels: Sequence[Any], sample: Sample, shots: Sequence[Sample], context: InferenceContext
) -> dict[Any, Filled]:
    """Return label → prompt with that label, all with the same in-context examples.

    Raises:
        PromptError: the template has no entry for a label.
    """
    return {label: context.builder.labelled(sample, shots, label) for label in labels}


def previews(filled: Mapping[Any, Filled], context: InferenceContext) -> list[Preview]:
    """Return the previews of the prompts of all labels."""
    return [
        Preview(f"label {label}", prompt, context.chat.render(prompt, "ppl"), "every label")
        for label, prompt in filled.items()
    ]


def measured_text(request: Request) -> Prompt:
    """Return the prompt with the continuation, which is the turn of the model if the prompt is messages."""
    prompt, asked = request.prompt, request.decoding
    continuation = asked.continuation if isinstance(asked, LikelihoodQuery) else None
    if not continuation:
        return prompt
    return prompt + continuation if isinstance(prompt, str) else (*prompt, ChatMessage("assistant", continuation))


def _finding(request: Request, value: float, likelihood: Likelihood) -> dict[str, Any]:
    """Return the values of one label for the predictions file.

    Returns:
        ``prompt``, the measured text; ``ppl``, the value by which labels are compared, in nats per token with the
        default normalization; ``nll`` in nats; ``tokens``, the number of measured tokens; ``bpb``, bits per byte.
    """
    return {
        "prompt": prompt_to_json(measured_text(request)),
        "ppl": value,
        "nll": likelihood.nll,
        "tokens": likelihood.tokens,
        "bpb": likelihood.nll / math.log(2) / likelihood.bytes,
    }


def check_named(labels: Sequence[Any] | None) -> tuple[Any, ...] | None:
    """Return the labels that a config names; None if it names none.

    Raises:
        ConfigError: the list is empty, or contains a label twice.
    """
    if labels is None:
        return None
    if not labels or len(set(map(str, labels))) < len(labels):
        raise ConfigError(f"labels must be different and at least one, not {list(labels)!r}", fix="labels=['A', 'B']")
    return tuple(labels)


def labels_of(named: Sequence[Any] | None, context: InferenceContext) -> Sequence[Any]:
    """Return the labels to choose from: those that the config names, else those of the dataset.

    Raises:
        PromptError: the labels are not known, or one is empty.
    """
    labels = context.labels if named is None else named
    for label in labels:
        if label is None or not str(label).strip():
            fix = "name the labels: labels=['A', 'B'], or complete the gold answers"
            raise PromptError(
                f"there is an empty label among {listed(map(repr, labels))}",
                fix=label_fix(len(labels), fix) if named is None else fix,
            )
    return labels


def label_fix(number: int, fix: str) -> str:
    """Return the fix for labels that are the golds of a dataset: so many are answers that a model has to write."""
    if number <= MOST_LABELS:
        return fix
    return f"{number} different golds are open answers, which need GenInferencer; labels are few, such as A to D"
