"""`ChoicesInferencer`: the log-likelihood of each choice of a row, however many it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ais_prompt.errors import DataError
from ais_prompt.inferencers.base import Conversation, InferenceContext, Preview
from ais_prompt.inferencers.labels import Normalization, lowest, measured_text, normalized, prediction_of
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import LikelihoodQuery, Request, Sample


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
            _log_likelihoods,
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


def _log_likelihoods(values: Mapping[str, float]) -> dict[str, float] | None:
    """Return choice → log-likelihood; None if every choice is impossible."""
    return None if lowest(values) is None else {choice: -value for choice, value in values.items()}
