"""Inferencers that measure log-likelihoods.

`PPLInferencer` and `LLInferencer` choose a label, `ChoicesInferencer` measures the choices of a row, `CLPInferencer`
gives the probability of single tokens, and `PPLOnlyInferencer` the perplexity of a text. The functions at the top
choose between labels, and are shared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Literal, TypeAlias, TypeVar

from ais_prompt.errors import ConfigError, DataError, PromptError
from ais_prompt.inferencers.base import Conversation, InferenceContext, Preview
from ais_prompt.prompts import Filled
from ais_prompt.registry import INFERENCERS
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


@INFERENCERS.register_module()
class PPLInferencer:
    """Chooses the label whose prompt has the lowest perplexity; of equal labels the earlier one.

    As in OpenCompass, "perplexity" means its logarithm: the mean negative log-likelihood of the tokens, in nats. The
    labels are those of a label table, or else the gold answers of the test split in order of first appearance.

    Args:
        labels: the labels; None uses those of the dataset.
        normalizing_str: a text; the perplexity of the answer after it is subtracted from that of the answer after its
            context. ``sep_token`` marks in the template where the answer begins.
        normalization: the divisor of the sum over the tokens; see `Normalization`.

    Raises:
        ConfigError: the list of labels is empty, or contains a label twice.
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
        """Request the log-likelihood of every label's prompt."""
        request = self._whole_prompt if self.normalizing_str is None else self._answer_twice
        labels = labels_of(self.labels, context)
        asked = {label: request(sample, shots, label, context) for label in labels}
        completions = yield [one for requests in asked.values() for one in requests]
        return prediction_of(sample, asked, completions, self._value)

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """Return the prompt of every label."""
        return previews(label_prompts(labels_of(self.labels, context), sample, shots, context), context)

    def _whole_prompt(
        self, sample: Sample, shots: Sequence[Sample], label: Any, context: InferenceContext
    ) -> list[Request]:
        prompt = context.chat.render(context.builder.labelled(sample, shots, label), "ppl")
        return [Request(sample.id, prompt, LikelihoodQuery())]

    def _answer_twice(
        self, sample: Sample, shots: Sequence[Sample], label: Any, context: InferenceContext
    ) -> list[Request]:
        """Request the log-likelihood of the answer after its context, and after ``normalizing_str``."""
        sep_token = context.builder.prompt_template.sep_token
        filled = context.builder.labelled(sample, shots, label, keep_sep=True)
        if not isinstance(filled, str):
            raise PromptError(
                "normalizing_str needs a prompt that is a text, not a dialogue", fix="write the template as text"
            )
        if sep_token is None or sep_token not in filled:
            raise PromptError(
                "normalizing_str needs a sep_token that marks where the answer begins",
                fix="put '<S>' before the answer and give the template sep_token='<S>'",
            )
        before, _, answer = filled.partition(sep_token)
        query = LikelihoodQuery(answer.replace(sep_token, ""))
        contexts = (before, self.normalizing_str or "")
        return [Request(sample.id, context.chat.render(text, "ppl"), query) for text in contexts]

    def _value(self, likelihoods: Sequence[Likelihood]) -> float:
        value, *norm = (normalized(likelihood, self.normalization) for likelihood in likelihoods)
        return value - sum(norm)


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
        # A chat template has opened the answer in a text already; a server needs a flag.
        query = LikelihoodQuery(opens_answer=None if isinstance(prompt, str) else True)
        [completion] = yield [Request(sample.id, prompt, query)]
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


@INFERENCERS.register_module()
class ChoicesInferencer:
    """Predicts the log-likelihood of each choice of the row as the continuation of the generation prompt.

    The number of choices may differ from row to row. The prediction is a mapping from choice to log-likelihood in
    nats, in order of the choices, equal ones once; `ChoicesAccEvaluator` and `ChoicesMassEvaluator` score it.

    Args:
        choices_column: the column with the list of choices.
        delimiter: the text between the prompt and a choice; empty for the turn of a chat model.
        normalization: the divisor of a log-likelihood; see `Normalization`. The default compares sums over tokens.
    """

    mask = None

    def __init__(
        self, choices_column: str = "choices", delimiter: str = " ", normalization: Normalization = "none"
    ) -> None:
        self.choices_column = choices_column
        self.delimiter = delimiter
        self.normalization: Normalization = normalization

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """Request the log-likelihood of every choice."""
        requests = self._requests(sample, shots, context)
        completions = yield list(requests.values())
        return prediction_of(
            sample,
            {choice: [request] for choice, request in requests.items()},
            completions,
            lambda likelihoods: normalized(likelihoods[0], self.normalization),
            lambda values: None if lowest(values) is None else {choice: -value for choice, value in values.items()},
        )

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """Return the prompt with every choice."""
        filled = context.builder.generation(sample, shots)
        return [
            Preview(f"choice {choice}", filled, measured_text(request), "every label")
            for choice, request in self._requests(sample, shots, context).items()
        ]

    def _requests(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Mapping[str, Request]:
        """Return choice → request, in order of the choices."""
        prompt = context.chat.render(context.builder.generation(sample, shots), "gen")
        return {
            choice: Request(sample.id, prompt, LikelihoodQuery(self.delimiter + choice))
            for choice in self._choices(sample)
        }

    def _choices(self, sample: Sample) -> list[str]:
        """Return the choices of a row, each once: equal texts have equal likelihoods.

        Raises:
            DataError: there is no list of choices, or one of them is no text.
        """
        given = sample.fields.get(self.choices_column)
        if not isinstance(given, list | tuple) or not given:
            raise DataError(
                f"there is no list of choices in a column {self.choices_column!r}",
                fix="name the column: choices_column='...'",
            )
        if not all(isinstance(choice, str | int | float) for choice in given):
            raise DataError(
                f"the column {self.choices_column!r} has choices that are no texts: {given!r:.80}",
                fix="write the choices of a row as a list of texts",
            )
        return list(dict.fromkeys(map(str, given)))


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
