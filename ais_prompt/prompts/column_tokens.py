"""``column_token_map``: OpenICL's form of templates, with a token for each column.

``{name}`` is plain text in them. OpenICL replaces column after column; here the text is filled in one pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ais_prompt.errors import PromptError
from ais_prompt.utils.text import listed


class ColumnTokens:
    """The tokens of columns, and the texts of labels.

    Args:
        column_token_map: column → its token.
        selected_column_name: the column that is replaced by the text of the label.
        selected_column_map: label → text. Labels are compared as text, because the keys of a JSON or YAML mapping are
            texts.

    Raises:
        PromptError: two columns share a token, a token is not a text, or only one of the selected_... is given.
    """

    def __init__(
        self,
        column_token_map: Mapping[str, str],
        selected_column_name: str | None = None,
        selected_column_map: Mapping[Any, Any] | None = None,
    ) -> None:
        if not isinstance(column_token_map, Mapping):
            raise PromptError("column_token_map must be a mapping", fix="e.g. column_token_map={'question': '</Q>'}")
        for column, token in column_token_map.items():
            if not isinstance(token, str) or not token:
                raise PromptError(
                    f"the token of column {column!r} must be a text that is not empty, not {token!r}",
                    fix="write a text that the template has in its place, such as '</Q>'",
                )
        if len(set(column_token_map.values())) < len(column_token_map):
            raise PromptError("two columns of column_token_map share a token", fix="give each a token of its own")
        if (selected_column_name is None) != (selected_column_map is None):
            raise PromptError("selected_column_name and selected_column_map need each other", fix="give both or none")
        self.token_of = dict(column_token_map)
        self.selected = selected_column_name
        self.shown = {str(value): str(text) for value, text in (selected_column_map or {}).items()}

    def marks(self, fields: Mapping[str, Any], label: Any) -> dict[str, str]:
        """Return token → text for a row. Without a label every column shows its own value.

        Raises:
            PromptError: the row lacks a column, or the label has no text.
        """
        return {token: self._text(column, fields, label) for column, token in self.token_of.items()}

    def _text(self, column: str, fields: Mapping[str, Any], label: Any) -> str:
        if column not in fields:
            raise PromptError(
                f"column_token_map names the column {column!r}, which the data does not have",
                fix=f"the data has {listed(map(repr, fields))}",
            )
        if column != self.selected or label is None:
            return str(fields[column])
        if str(label) not in self.shown:
            raise PromptError(
                f"selected_column_map has no text for the label {label!r} (it has {listed(map(repr, self.shown))})",
                fix="add it to the map",
            )
        return self.shown[str(label)]
