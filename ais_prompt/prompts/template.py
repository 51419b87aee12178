"""`PromptTemplate`: a string, a dialogue (``begin``, ``round``, ``end``), or a table of these by label.

The rules are those on which OpenCompass and AISBench agree, with their faults fixed: values are filled in one pass,
examples are not filled again, and a template that would lose its examples is an error when it is built.

OpenICL's ``column_token_map`` has a token for each column instead of ``{name}``, which is plain text then. OpenICL
replaces column after column; here the text is filled in one pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import BeforeValidator

from ais_prompt.config import TEMPLATE
from ais_prompt.errors import AisPromptError, ConfigError, PromptError, raise_all
from ais_prompt.prompts.base import Filled, Form, Template
from ais_prompt.prompts.compiled import (
    SECTIONS,
    CompiledDialogueTemplate,
    CompiledTextTemplate,
    check_round,
    check_token,
    dialogue_faults,
    has_token,
    missing_token,
)
from ais_prompt.prompts.prompt_list import column_keys
from ais_prompt.registry import TEMPLATES
from ais_prompt.utils import listed, near_miss

ROUND_FIX: Final = "write a text with {column}, or dict(round=[dict(role='HUMAN', prompt='...')])"


def _refuse_list(template: Any) -> Any:
    """Say where messages belong; other values are checked later."""
    if isinstance(template, list | tuple):
        is_message = any(isinstance(one, Mapping) and "content" in one for one in template)
        fix = "write dict(type='RawPromptTemplate', messages=[...])" if is_message else ROUND_FIX
        raise ConfigError("the template of PromptTemplate is a list" + " of messages" * is_message, fix=fix)
    return template


@TEMPLATES.register_module()
class PromptTemplate(Template):
    """A template for in-context examples, for prompts, or for both.

    Args:
        template: a string; a mapping with only the keys ``begin``, ``round`` and ``end`` (a dialogue); or a mapping
            from label to string or dialogue (a label table). ``{column}`` is filled from the row.
        ice_token: the place of the in-context examples.
        sep_token: a mark between context and answer for normalised perplexity; deleted otherwise.
        column_token_map, selected_column_name, selected_column_map: OpenICL's old form; see `ColumnTokens`.

    Raises:
        PromptError: the template has the wrong shape, or only some entries of a label table have the ``ice_token``.
        ConfigFaults: its shape has several faults.
    """

    def __init__(
        self,
        template: Annotated[str | Mapping[Any, Any], BeforeValidator(_refuse_list)],
        ice_token: str | None = None,
        sep_token: str | None = None,
        column_token_map: Mapping[str, str] | None = None,
        selected_column_name: str | None = None,
        selected_column_map: Mapping[Any, Any] | None = None,
    ) -> None:
        self.form: Form = _form(template)
        raise_all(_shape_faults(template, self.form))
        self.template = template
        self.ice_token = check_token("ice_token", ice_token)
        self.sep_token = check_token("sep_token", sep_token)
        self.column_tokens = (
            ColumnTokens(column_token_map, selected_column_name, selected_column_map) if column_token_map else None
        )
        if self.column_tokens and ice_token in self.column_tokens.token_of.values():
            raise PromptError(f"{ice_token!r} is both ice_token and the token of a column", fix="rename one of them")
        if self.form == "labels" and 0 < len(self._without_ice_token()) < len(template):
            self.check_ice_token()  # if some entries have a place for examples, all must
        # Rows of one dataset have the same columns, so the cache holds one prompt and one example per label.
        self._compiled = lru_cache(maxsize=2048)(self._compile)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels of a label table, in order; empty for other forms."""
        return tuple(self.template) if self.form == "labels" else ()

    def check_ice_token(self) -> None:
        """Check that ``ice_token`` is in the template, or in every entry of a label table.

        Raises:
            PromptError: it is not, so the examples would be lost.
        """
        for name in self._without_ice_token():
            raise missing_token(name, self.ice_token)

    def _without_ice_token(self) -> list[Any]:
        """Return the names of the entries of a label table, or of the one template, that lack the ``ice_token``."""
        if self.ice_token is None:
            return []
        entries = self.template.items() if isinstance(self.template, Mapping) and self.form == "labels" else None
        return [
            name for name, entry in entries or [("template", self.template)] if not has_token(entry, self.ice_token)
        ]

    def render(
        self, fields: Mapping[str, Any], *, examples: Filled = "", label: Any = None, keep_sep: bool = False
    ) -> Filled:
        """Fill the whole template.

        Args:
            fields: column → value; the caller has masked the gold.
            examples: the joined examples, which replace ``ice_token``.
            label: which entry of a label table; None takes the first.
            keep_sep: keep ``sep_token`` in the text.

        Raises:
            PromptError: the examples do not fit the template, or the label is unknown.
        """
        if label is not None and self.column_tokens and self.ice_token is None:
            raise PromptError(
                "a template with column_token_map needs an ice_token for label prompts",
                fix="put '</E>' into the template and give it ice_token='</E>'",
            )
        key = None
        if self.form == "labels":
            key = self._key(self.labels[0] if label is None else label)
        drop = () if keep_sep else (self.sep_token,)
        compiled = self._compiled(key, tuple(fields), drop, is_example=False)
        return compiled.fill(self.column_tokens.marks(fields, label) if self.column_tokens else fields, examples)

    def render_example(self, fields: Mapping[str, Any], label: Any = None, drop: Sequence[str] = ()) -> Filled:
        """Render one in-context example: of a dialogue only the ``round``, without the tokens.

        Args:
            fields: column → value, the answer included.
            label: the gold of the row, which is the key in a label table.
            drop: further tokens to delete from the template's text.

        Raises:
            PromptError: the label is unknown.
        """
        tokens = (self.ice_token, self.sep_token, *drop)
        key = self._key(label) if self.form == "labels" else None
        compiled = self._compiled(key, tuple(fields), tokens, is_example=True)
        return compiled.fill(self.column_tokens.marks(fields, label) if self.column_tokens else fields, "")

    def _compile(
        self, key: Any, columns: tuple[str, ...], drop: tuple[str | None, ...], is_example: bool
    ) -> CompiledTextTemplate | CompiledDialogueTemplate:
        entry = self.template[key] if self.form == "labels" else self.template
        marks = column_keys(columns)
        if self.column_tokens:
            marks = {token: token for token in self.column_tokens.token_of.values()}
        ice_token = None if is_example else self.ice_token
        if isinstance(entry, str):
            return CompiledTextTemplate(entry, marks, drop, ice_token)
        check_round(entry)
        sections = {name: entry[name] for name in SECTIONS if name in entry}
        return CompiledDialogueTemplate({"ice": entry["round"]} if is_example else sections, marks, drop, ice_token)

    def _key(self, label: Any) -> Any:
        """Return the label, which is the key of its entry in a label table.

        Raises:
            PromptError: it has none.
        """
        try:
            known = label in self.template
        except TypeError:  # unhashable, such as a list
            known = False
        if not known:
            raise PromptError(
                f"the label table has no entry for {label!r} (it has {listed(map(repr, self.labels))})",
                fix="add the label to the template; an integer 1 does not find the key '1'",
            )
        return label


def _form(template: Any) -> Form:
    if isinstance(template, str):
        return "string"
    if not isinstance(template, Mapping):
        what = f"a template must be a string or a mapping, not {type(template).__name__}"
        raise PromptError(what, fix="e.g. template='Question: {question}\\nAnswer: {answer}'")
    for key, value in template.items():
        if not isinstance(value, str | list | tuple | Mapping):
            what = f"template[{key!r}] must be a string, list or mapping, not {value!r}"
            raise PromptError(what, fix="write the prompt of this label as a text, or as dict(round=[...])")
    return "dialogue" if set(template) <= set(SECTIONS) else "labels"


def _shape_faults(template: Any, form: Form) -> Iterator[AisPromptError]:
    """Yield every fault inside a template."""
    if form == "dialogue":
        yield from dialogue_faults(template)
    elif form == "labels" and any(key in SECTIONS and not isinstance(template[key], str | Mapping) for key in template):
        # A list here means a dialogue, so the other keys are not labels but misspelt sections.
        yield from _unknown_sections(template, "template")
    elif form == "labels":
        for label, entry in template.items():
            yield from _entry_faults(entry, label)


def _entry_faults(entry: Any, label: Any) -> Iterator[AisPromptError]:
    where = f"template.{label}"
    if isinstance(entry, list | tuple):
        if near := near_miss(str(label), SECTIONS):
            yield PromptError(f"a dialogue has no key {label!r}", where=where, fix=f"did you mean {near!r}?")
            return
        what = f"the template of label {label!r} is a list, not a string or a dialogue"
        yield PromptError(what, where=where, fix="turns: template=dict(round=[...]); labels: template={'A': 'text'}")
    elif isinstance(entry, Mapping):
        unknown = list(_unknown_sections(entry, where))
        yield from unknown or dialogue_faults(entry, where)


def _unknown_sections(template: Mapping[Any, Any], where: str) -> Iterator[AisPromptError]:
    for key, fix in TEMPLATE.unknown(template):
        yield PromptError(f"a dialogue has no key {key!r}", where=f"{where}.{key}", fix=fix)


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
