"""`PromptTemplate`: a string, a dialogue (``begin``, ``round``, ``end``), or a table of these by label.

The rules are those that OpenCompass and AISBench agree on, with their faults fixed: values are filled in one pass,
examples are never scanned again, and a template that would lose its examples is refused when it is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ais_prompt.config.schema import TEMPLATE
from ais_prompt.errors import AisPromptError, PromptError, raise_all
from ais_prompt.prompts.base import Filled, Form, Template
from ais_prompt.prompts.column_tokens import ColumnTokens
from ais_prompt.prompts.compiled import Blank, DialogueBlank, TextBlank
from ais_prompt.prompts.fill import mark_of
from ais_prompt.prompts.shape import SECTIONS, check_round, check_token, dialogue_faults, has_token, missing_token
from ais_prompt.registry import TEMPLATES
from ais_prompt.utils.text import listed


@TEMPLATES.register_module()
class PromptTemplate(Template):
    """A template for in-context examples, for prompts, or for both.

    Args:
        template: a string; a mapping with only the keys ``begin``, ``round`` and ``end`` (a dialogue); or a mapping
            from label to string or dialogue (a label table). ``{column}`` is filled from the row.
        ice_token: where the in-context examples go.
        sep_token: a mark between context and answer for normalised perplexity; deleted otherwise.
        column_token_map, selected_column_name, selected_column_map: OpenICL's old form; see `ColumnTokens`.

    Raises:
        PromptError: the template has the wrong shape, or only some entries of a label table have the ``ice_token``.
        ConfigFaults: several things are wrong with its shape.
    """

    def __init__(
        self,
        template: str | Mapping[Any, Any],
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
            self.check_ice_token()  # some entries have a place for examples: all must
        # Rows of one dataset have the same columns, so there are no more of these than there are labels.
        self._prompt_blank = lru_cache(maxsize=1024)(self._make_prompt_blank)
        self._example_blank = lru_cache(maxsize=1024)(self._make_example_blank)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels of a label table in order; empty for the other forms."""
        return tuple(self.template) if self.form == "labels" else ()

    def check_ice_token(self) -> None:
        """Check that ``ice_token`` is in the template, or in every entry of a label table.

        Raises:
            PromptError: it is not: the examples would be lost.
        """
        for name in self._without_ice_token():
            raise missing_token(name, self.ice_token)

    def _without_ice_token(self) -> list[Any]:
        """The entries of a label table, or the one template, that have no place for the examples."""
        if self.ice_token is None:
            return []
        entries = self.template.items() if isinstance(self.template, Mapping) and self.form == "labels" else None
        return [
            name for name, entry in entries or [("template", self.template)] if not has_token(entry, self.ice_token)
        ]

    def render(
        self, fields: Mapping[str, Any], *, examples: Filled = "", label: Any = None, keep_sep: bool = False
    ) -> Filled:
        """The whole template, filled.

        Args:
            fields: column → value; the caller masks what must not be seen.
            examples: the examples as `PromptBuilder` joins them, put in place of ``ice_token``.
            label: which entry of a label table; None takes the first.
            keep_sep: leave ``sep_token`` in the text.

        Raises:
            PromptError: the examples do not fit into this template, or there is no such label.
        """
        if label is not None and self.column_tokens and self.ice_token is None:
            raise PromptError(
                "a template with column_token_map needs an ice_token for label prompts",
                fix="put '</E>' into the template and give it ice_token='</E>'",
            )
        entry = self.labels[0] if label is None and self.form == "labels" else label
        blank = self._prompt_blank(self._key(entry), tuple(fields), keep_sep)
        return blank.fill(self._values(fields, label), examples)

    def render_example(self, fields: Mapping[str, Any], label: Any = None, drop: Sequence[str] = ()) -> Filled:
        """One in-context example: of a dialogue only ``round`` counts, and the tokens vanish.

        Args:
            fields: column → value, the answer included.
            label: the gold of the row, the key in a label table.
            drop: further tokens to delete from the template's text.

        Raises:
            PromptError: there is no such label.
        """
        blank = self._example_blank(self._key(label), tuple(fields), tuple(drop))
        return blank.fill(self._values(fields, label), "")

    def _values(self, fields: Mapping[str, Any], label: Any) -> Mapping[str, object]:
        """The values by the keys of `_marks`."""
        return self.column_tokens.marks(fields, label) if self.column_tokens else fields

    def _make_prompt_blank(self, key: Any, columns: tuple[str, ...], keep_sep: bool) -> Blank:
        drop = [] if keep_sep or self.sep_token is None else [self.sep_token]
        entry = self._entry(key)
        if isinstance(entry, str):
            return TextBlank(entry, self._marks(columns), drop, self.ice_token)
        check_round(entry)
        sections = {name: entry[name] for name in SECTIONS if name in entry}
        return DialogueBlank(sections, self._marks(columns), drop, self.ice_token)

    def _make_example_blank(self, key: Any, columns: tuple[str, ...], drop: tuple[str, ...]) -> Blank:
        tokens = [token for token in (self.ice_token, self.sep_token, *drop) if token is not None]
        entry = self._entry(key)
        if isinstance(entry, str):
            return TextBlank(entry, self._marks(columns), tokens, None)
        check_round(entry)
        return DialogueBlank({"ice": entry["round"]}, self._marks(columns), tokens, None)

    def _marks(self, columns: Sequence[str]) -> Mapping[str, str]:
        """What is replaced in the template → the key of its value."""
        if self.column_tokens:
            return {token: token for token in self.column_tokens.token_of.values()}
        return {mark_of(column): column for column in columns}

    def _key(self, label: Any) -> Any:
        """Which entry of a label table is meant; a label only matters to a label table."""
        if self.form != "labels":
            return None
        try:
            known = label in self.template
        except TypeError:  # no list can be a label
            known = False
        if not known:
            raise PromptError(
                f"the label table has no entry for {label!r} (it has {listed(map(repr, self.labels))})",
                fix="add the label to the template; an integer 1 does not find the key '1'",
            )
        return label

    def _entry(self, key: Any) -> str | Mapping[str, Any]:
        """The string or dialogue that is meant."""
        if isinstance(self.template, str) or self.form != "labels":
            return self.template
        entry: str | Mapping[str, Any] = self.template[key]
        return entry


def _form(template: Any) -> Form:
    if isinstance(template, str):
        return "string"
    if not isinstance(template, Mapping):
        raise PromptError(f"a template must be a string or a mapping, not {type(template).__name__}")
    for key, value in template.items():
        if not isinstance(value, str | list | tuple | Mapping):
            raise PromptError(f"template[{key!r}] must be a string, list or mapping, not {value!r}")
    return "dialogue" if set(template) <= set(SECTIONS) else "labels"


def _shape_faults(template: Any, form: Form) -> Iterator[AisPromptError]:
    """Everything that is wrong inside a template."""
    if form == "dialogue":
        yield from dialogue_faults(template)
    elif form == "labels" and any(key in SECTIONS and not isinstance(template[key], str | Mapping) for key in template):
        # Only a dialogue has a list there, so the other keys are no labels.
        yield from _unknown_sections(template, "template")
    elif form == "labels":
        for label, entry in template.items():
            yield from _entry_faults(entry, label)


def _entry_faults(entry: Any, label: Any) -> Iterator[AisPromptError]:
    where = f"template.{label}"
    if isinstance(entry, list | tuple):
        what = f"the template of label {label!r} is a list, not a string or a dialogue"
        yield PromptError(what, where=where, fix="template={'A': 'text'} or {'A': dict(round=[...])}")
    elif isinstance(entry, Mapping):
        unknown = list(_unknown_sections(entry, where))
        yield from unknown or dialogue_faults(entry, where)


def _unknown_sections(template: Mapping[Any, Any], where: str) -> Iterator[AisPromptError]:
    for key, fix in TEMPLATE.unknown(template):
        yield PromptError(f"a dialogue has no key {key!r}", where=f"{where}.{key}", fix=fix)
