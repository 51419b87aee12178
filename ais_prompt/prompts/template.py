"""`PromptTemplate`: a string, a dialogue (``begin``, ``round``, ``end``), or a table of these by label.

The rules are those that OpenCompass and AISBench agree on, with their faults mended: values are filled in one pass,
examples are never scanned again, and a template that would lose its examples is refused when it is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from ais_prompt.errors import PromptError
from ais_prompt.prompts.fill import Text, as_texts, compile_text
from ais_prompt.prompts.prompt_list import Item, PromptList, text_of, with_text
from ais_prompt.registry import TEMPLATES

SECTIONS = ("begin", "round", "end")

Form: TypeAlias = Literal["string", "dialogue", "labels"]
Filled: TypeAlias = "str | PromptList"


@TEMPLATES.register_module()
class PromptTemplate:
    """A template for in-context examples, for prompts, or for both.

    Args:
        template: a string; a mapping with only the keys ``begin``, ``round`` and ``end`` (a dialogue); or a mapping
            from label to string or dialogue (a label table). ``{column}`` is filled from the row.
        ice_token: where the in-context examples go.
        sep_token: a mark between context and answer for normalised perplexity; deleted otherwise.
        column_token_map: column → token that stands for it (OpenICL's old form); ``{name}`` is then plain text.

    Raises:
        PromptError: the template has the wrong shape, or lacks its ``ice_token``.
    """

    def __init__(
        self,
        template: str | Mapping[str, Any],
        ice_token: str | None = None,
        sep_token: str | None = None,
        column_token_map: Mapping[str, str] | None = None,
    ) -> None:
        _check_tokens(ice_token, sep_token, column_token_map)
        self.form = _form(template)
        self.template = template
        self.ice_token = ice_token
        self.sep_token = sep_token
        self.column_tokens = dict(column_token_map or {})
        if ice_token is not None:
            _check_has_token(template, self.form, ice_token)

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
        template = self._entry(label if label is not None or self.form != "labels" else self.labels[0])
        drop = () if keep_sep or not self.sep_token else (self.sep_token,)
        filler = _Filler(self, fields, examples, drop)
        if isinstance(template, str):
            return filler.text(template)
        _check_round(template)
        result = PromptList()
        for section in SECTIONS:
            if section in template:
                result += filler.items(_as_items(template[section])).as_section(section)
        return result

    def render_example(self, fields: Mapping[str, Any], label: Any = None, drop: Sequence[str] = ()) -> Filled:
        """One in-context example: of a dialogue only ``round`` counts, and the tokens vanish.

        Args:
            fields: column → value, the answer included.
            label: the gold of the row, the key in a label table.
            drop: further tokens to delete from the template's text.
        """
        template = self._entry(label)
        own = [token for token in (self.ice_token, self.sep_token, *drop) if token]
        filler = _Filler(self, fields, "", own)
        if isinstance(template, str):
            return filler.text(template)
        _check_round(template)
        return filler.items(_as_items(template["round"])).as_section("ice")

    def _entry(self, label: Any) -> str | Mapping[str, Any]:
        if isinstance(self.template, str) or self.form != "labels":
            return self.template
        try:
            entry: str | Mapping[str, Any] = self.template[label]
        except (KeyError, TypeError):
            raise PromptError(
                f"the label table has no entry for {label!r} (it has {', '.join(map(repr, self.labels))})",
                mend="add the label to the template; an integer 1 does not find the key '1'",
            ) from None
        if not isinstance(entry, str) and not set(entry) <= set(SECTIONS):
            raise PromptError(f"the template of label {label!r} must be a string or have only begin, round and end")
        return entry


class _Filler:
    """Fills the texts of one template from one row."""

    def __init__(self, template: PromptTemplate, fields: Mapping[str, Any], examples: Filled, drop: Sequence[str]):
        self.ice_token = template.ice_token
        self.examples = examples
        self.drop = drop
        self.values = as_texts(fields)
        self.column_tokens = template.column_tokens
        if self.column_tokens:
            self.values |= {token: self._mapped(column) for column, token in self.column_tokens.items()}
        if self.ice_token:
            self.values[self.ice_token] = examples if isinstance(examples, str) else ""

    def _mapped(self, column: str) -> str:
        if column not in self.values:
            raise PromptError(f"column_token_map names the column {column!r}, which the data does not have")
        return self.values[column]

    def text(self, text: str) -> str:
        compiled = self._compile(text)
        if isinstance(self.examples, PromptList) and self.ice_token in compiled.slots:
            raise PromptError(
                "examples made of turns cannot stand in a string template",
                mend="write both templates as strings, or both as dialogues",
            )
        return compiled.fill(self.values)

    def items(self, items: Sequence[Item]) -> PromptList:
        result = PromptList()
        for item in items:
            result = result + self._item(item)
        return result

    def _item(self, item: Item) -> PromptList:
        compiled = self._compile(text_of(item))
        if self.ice_token not in compiled.slots or isinstance(self.examples, str):
            return PromptList([with_text(item, compiled.fill(self.values))])
        if not isinstance(item, str):
            raise PromptError(
                f"examples made of turns cannot stand inside the prompt of a {item.get('role')} turn",
                mend=f"put {self.ice_token!r} as an item of its own into begin, or make the examples plain text",
            )
        first, *others = (piece.fill(self.values) for piece in compiled.split(str(self.ice_token)))
        result = PromptList([first] if first else [])
        for piece in others:
            result = result + self.examples + piece
        return result

    def _compile(self, text: str) -> Text:
        for token in self.drop:
            text = text.replace(token, "")
        tokens = [*self.column_tokens.values(), *([self.ice_token] if self.ice_token else [])]
        columns = () if self.column_tokens else tuple(name for name in self.values if name not in tokens)
        return compile_text(text, columns, tuple(tokens))


def _form(template: Any) -> Form:
    if isinstance(template, str):
        return "string"
    if not isinstance(template, Mapping):
        raise PromptError(f"a template must be a string or a mapping, not {type(template).__name__}")
    for key, value in template.items():
        if not isinstance(value, str | list | tuple | Mapping):
            raise PromptError(f"template[{key!r}] must be a string, list or mapping, not {value!r}")
    return "dialogue" if set(template) <= set(SECTIONS) else "labels"


def _check_round(template: Mapping[str, Any]) -> None:
    if "round" not in template:
        raise PromptError("a dialogue template needs the key 'round'", mend="round=[dict(role='HUMAN', prompt='...')]")


def _as_items(section: Any) -> list[Item]:
    items = list(section) if isinstance(section, list | tuple) else [section]
    for item in items:
        if not isinstance(item, str | Mapping):
            raise PromptError(f"an item of begin, round or end must be a string or a mapping, not {item!r}")
    return items


def _check_tokens(ice_token: Any, sep_token: Any, column_token_map: Any) -> None:
    for name, token in (("ice_token", ice_token), ("sep_token", sep_token)):
        if token is not None and (not isinstance(token, str) or not token):
            raise PromptError(f"{name} must be a text that is not empty, not {token!r}", mend=f"e.g. {name}='</E>'")
    tokens = [*(column_token_map or {}).values(), *([ice_token] if ice_token else [])]
    if len(set(tokens)) < len(tokens):
        raise PromptError("the tokens of column_token_map and ice_token must all be different")


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
    return any(token in text_of(item) for section in sections for item in _as_items(section))
