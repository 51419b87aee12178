"""`PromptTemplate`: a string, a dialogue (``begin``, ``round``, ``end``), or a table of these by label.

The rules are those that OpenCompass and AISBench agree on, with their faults mended: values are filled in one pass,
examples are never scanned again, and a template that would lose its examples is refused when it is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.errors import PromptError
from ais_prompt.prompts.base import Filled, Form, Template
from ais_prompt.prompts.column_tokens import ColumnTokens
from ais_prompt.prompts.dialogue import SECTIONS, check_round, section_items
from ais_prompt.prompts.fill import Text, column_marks, compile_text
from ais_prompt.prompts.prompt_list import Item, PromptList, chain, no_turns_inside, text_of, with_text
from ais_prompt.registry import TEMPLATES


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
        PromptError: the template has the wrong shape, or lacks its ``ice_token``.
    """

    def __init__(
        self,
        template: str | Mapping[str, Any],
        ice_token: str | None = None,
        sep_token: str | None = None,
        column_token_map: Mapping[str, str] | None = None,
        selected_column_name: str | None = None,
        selected_column_map: Mapping[Any, Any] | None = None,
    ) -> None:
        self.form: Form = _form(template)
        self.template = template
        self.ice_token = _token("ice_token", ice_token)
        self.sep_token = _token("sep_token", sep_token)
        self.column_tokens = (
            ColumnTokens(column_token_map, selected_column_name, selected_column_map) if column_token_map else None
        )
        if self.column_tokens and ice_token in self.column_tokens.token_of.values():
            raise PromptError(f"{ice_token!r} is both ice_token and the token of a column", mend="rename one of them")
        if self.ice_token is not None:
            _check_has_token(template, self.form, self.ice_token)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels of a label table in order; empty for the other forms."""
        return tuple(self.template) if self.form == "labels" else ()

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
                mend="put '</E>' into the template and give it ice_token='</E>'",
            )
        drop = [] if keep_sep or self.sep_token is None else [self.sep_token]
        template = self._entry(self.labels[0] if label is None and self.form == "labels" else label)
        filler = _Filler(self._marks(fields, label), drop, self.ice_token, examples)
        if isinstance(template, str):
            return filler.text(template)
        check_round(template)
        sections = [name for name in SECTIONS if name in template]
        return chain(filler.items(section_items(template[name])).as_section(name) for name in sections)

    def render_example(self, fields: Mapping[str, Any], label: Any = None, drop: Sequence[str] = ()) -> Filled:
        """One in-context example: of a dialogue only ``round`` counts, and the tokens vanish.

        Args:
            fields: column → value, the answer included.
            label: the gold of the row, the key in a label table.
            drop: further tokens to delete from the template's text.

        Raises:
            PromptError: there is no such label.
        """
        template = self._entry(label)
        own = [token for token in (self.ice_token, self.sep_token) if token is not None]
        filler = _Filler(self._marks(fields, label), [*own, *drop])
        if isinstance(template, str):
            return filler.text(template)
        check_round(template)
        return filler.items(section_items(template["round"])).as_section("ice")

    def _marks(self, fields: Mapping[str, Any], label: Any) -> dict[str, str]:
        return self.column_tokens.marks(fields, label) if self.column_tokens else column_marks(fields)

    def _entry(self, label: Any) -> str | Mapping[str, Any]:
        """The string or dialogue that is meant; a label only matters to a label table."""
        if isinstance(self.template, str) or self.form != "labels":
            return self.template
        try:
            entry: Any = self.template[label]
        except (KeyError, TypeError):
            raise PromptError(
                f"the label table has no entry for {label!r} (it has {', '.join(map(repr, self.labels))})",
                mend="add the label to the template; an integer 1 does not find the key '1'",
            ) from None
        if isinstance(entry, str) or (isinstance(entry, Mapping) and set(entry) <= set(SECTIONS)):
            return entry
        raise PromptError(
            f"the template of label {label!r} is neither a string nor a dialogue of only begin, round and end",
            mend="template={'A': 'text'} or {'A': dict(round=[...])}",
        )


class _Filler:
    """Fills the texts of one template.

    Args:
        values: mark → what is written for it.
        drop: tokens that are deleted before anything is filled.
        ice_token, examples: the examples and their place.
    """

    def __init__(
        self, values: Mapping[str, str], drop: Sequence[str], ice_token: str | None = None, examples: Filled = ""
    ) -> None:
        self.ice_token = ice_token
        self.examples = examples
        self._drop = drop
        self._values = dict(values)
        if ice_token is not None:
            self._values[ice_token] = examples if isinstance(examples, str) else ""
        self._marks = tuple(self._values)

    def text(self, text: str) -> str:
        """A string template, filled."""
        compiled = self._compile(text)
        if isinstance(self.examples, PromptList) and self.ice_token in compiled.marks:
            raise PromptError(
                "examples made of turns cannot stand in a string template",
                mend="write both templates as strings, or both as dialogues",
            )
        return compiled.fill(self._values)

    def items(self, items: Sequence[Item]) -> PromptList:
        """The items of a section, filled."""
        return chain(self._item(item) for item in items)

    def _item(self, item: Item) -> PromptList:
        compiled = self._compile(text_of(item))
        if isinstance(self.examples, str) or self.ice_token is None or self.ice_token not in compiled.marks:
            return PromptList([with_text(item, compiled.fill(self._values))])
        if not isinstance(item, str):
            raise no_turns_inside(item, self.ice_token)
        return self.examples.join(piece.fill(self._values) for piece in compiled.split(self.ice_token))

    def _compile(self, text: str) -> Text:
        for token in self._drop:
            text = text.replace(token, "")
        return compile_text(text, self._marks)


def _form(template: Any) -> Form:
    if isinstance(template, str):
        return "string"
    if not isinstance(template, Mapping):
        raise PromptError(f"a template must be a string or a mapping, not {type(template).__name__}")
    for key, value in template.items():
        if not isinstance(value, str | list | tuple | Mapping):
            raise PromptError(f"template[{key!r}] must be a string, list or mapping, not {value!r}")
    return "dialogue" if set(template) <= set(SECTIONS) else "labels"


def _token(name: str, token: Any) -> str | None:
    if token is not None and (not isinstance(token, str) or not token):
        raise PromptError(f"{name} must be a text that is not empty, not {token!r}", mend=f"e.g. {name}='</E>'")
    return token


def _check_has_token(template: Any, form: Form, token: str) -> None:
    entries = template.items() if form == "labels" else [("template", template)]
    for name, entry in entries:
        if not _contains(entry, token):
            raise PromptError(
                f"ice_token {token!r} does not stand in {name!r}: the examples would be lost",
                mend=f"put {token!r} where the examples go, or remove ice_token",
            )


def _contains(entry: Any, token: str) -> bool:
    if isinstance(entry, str):
        return token in entry
    sections = entry.values() if isinstance(entry, Mapping) else [entry]
    return any(token in text_of(item) for section in sections for item in section_items(section))
