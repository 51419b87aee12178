"""The text by which rows are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ais_prompt.errors import ConfigError
from ais_prompt.types import Sample
from ais_prompt.utils.text import listed

_FIELD = re.compile(r"\{([^{}]*)\}")


class RetrievalText:
    """Makes the text by which a row is compared with others.

    Args:
        input_columns: the columns whose values are joined by one blank; those of ``reader_cfg`` unless a config says
            others.
        input_template: a text with ``{column}``, taken instead of the joined columns. It is filled in one pass; what
            is no column stays as it is.
    """

    def __init__(self, input_columns: Sequence[str] | str = (), input_template: str | None = None) -> None:
        self.input_columns = (input_columns,) if isinstance(input_columns, str) else tuple(input_columns)
        self.input_template = input_template

    def of(self, samples: Iterable[Sample]) -> list[str]:
        """The texts of samples.

        Raises:
            ConfigError: there is nothing to compare by, or a column is not in the data.
        """
        if self.input_template is None and not self.input_columns:
            raise ConfigError(
                "the retriever compares texts, but was not told of which columns",
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
