"""Make the texts by which retrievers compare rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from ais_prompt.errors import ConfigError
from ais_prompt.types import Sample
from ais_prompt.utils.protocols import KeptChecks
from ais_prompt.utils.text import listed

_FIELD = re.compile(r"\{([^{}]*)\}")


class RetrievalText:
    """Make the text by which a row is compared with others.

    Args:
        input_columns: the columns whose values are joined by one blank; those of ``reader_cfg`` unless a config names
            others.
        input_template: a text with ``{column}``, used instead of the joined columns. It is filled in one pass; braces
            around other names stay as they are.
    """

    def __init__(self, input_columns: Sequence[str] | str = (), input_template: str | None = None) -> None:
        self.input_columns = (input_columns,) if isinstance(input_columns, str) else tuple(input_columns)
        self.input_template = input_template

    def of(self, samples: Iterable[Sample]) -> list[str]:
        """Return the texts of samples.

        Raises:
            ConfigError: no column is named, or a column is not in the data.
        """
        if self.input_template is None and not self.input_columns:
            raise ConfigError(
                "the retriever compares texts, but no columns are named",
                fix="give it input_columns=['question'], or an input_template",
            )
        return [self._text(sample) for sample in samples]

    def _text(self, sample: Sample) -> str:
        fields = sample.fields
        if self.input_template is not None:
            return _FIELD.sub(lambda slot: str(fields.get(slot[1], slot[0])), self.input_template)
        try:
            return " ".join(str(fields[column]) for column in self.input_columns)
        except KeyError as error:
            raise ConfigError(
                f"the retriever compares the column {error.args[0]!r}, which the data does not have",
                fix=f"input_columns can name {listed(map(repr, fields))}",
            ) from None


@runtime_checkable
class ComparesTexts(Protocol, metaclass=KeptChecks):
    """A retriever that compares texts of rows.

    Attributes:
        text: makes the text of a row.
    """

    text: RetrievalText
