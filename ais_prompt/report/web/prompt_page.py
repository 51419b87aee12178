"""Prompts as HTML, and the page of ``view-prompt --html``: prompts of models and configs side by side, without scripts.

Roles are bubbles, and every character has the colour of its origin, with its place in the config. Another page can
show the same: put `prompt_html` of a `PromptView` into its body and `PROMPT_STYLE` into its style sheet. The HTML
holds no script, link, address or ``style`` attribute, so the policy ``default-src 'none'`` with a hash of the style
fits. All its classes are below ``prompt-view``. Make the view with ``origins=True``
(`ais_prompt.preview.preview.previews`), else its texts have no colours.
"""

from __future__ import annotations

import glob
import html
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, repeat
from string import Template
from typing import Any, Final

from msgspec import Struct

from ais_prompt.checks import MisspeltPlaceholder, PromptWarning
from ais_prompt.preview import (
    BETWEEN_SHOTS,
    FORMAT_KINDS,
    GOLD_TITLES,
    Bubble,
    ChangedSpan,
    Medium,
    Origin,
    Piece,
    PromptView,
    Span,
    Token,
    bubbles_of,
    is_in_example,
    mark_changes,
    request_line,
    stored_prompts,
)
from ais_prompt.report.language import counted, label_language, say
from ais_prompt.report.web.assets import asset, source_hash
from ais_prompt.store import RunFolder
from ais_prompt.utils import printable

PROMPT_STYLE: Final = asset("prompt_view.css")

QUESTIONS_STYLE: Final = asset("prompt_questions.css") + PROMPT_STYLE

HINT: Final = (
    "What is sent, character for character. Point at a piece, or reach it with Tab: the line at the bottom says where "
    "it comes from. What the prompt beside it does not have is framed."
)

RUN_HINT: Final = (
    "The first prompt of each dataset, character for character. Point at a piece, or reach it with Tab: the line at "
    "the bottom says where it comes from. What the prompt beside it does not have is framed."
)

CHOOSE: Final = (
    "To see the prompts of any sample here, open it and choose “Where the pieces of these prompts come from”."
)

TRACED: Final = (
    "The prompt of the open sample. Its pieces were found by comparing it with the first prompt of the dataset, whose "
    "origins the run has kept. This command shows tokens and lines of the config, too; it executes the config of the "
    "run:"
)

NOT_TRACED: Final = (
    "The run folder does not tell where the pieces of this prompt come from. This command does; it executes the config "
    "of the run:"
)

PARTLY_TRACED: Final = (
    "{number} of {all} prompts of the sample are shown here. The run folder does not tell where the pieces of the "
    "others come from."
)

OPEN_QUESTIONS: Final = 3
"""Questions that are all shown unfolded; of more, only the first."""

ROLE_CLASSES: Final = {"HUMAN": "by-user", "user": "by-user", "BOT": "by-assistant", "assistant": "by-assistant"}
"""Role → class of its bubble; other roles have none."""

ORIGIN_WORDS: Final = {
    "data": "data",
    "template": "template",
    "example": "in-context example",
    "format": "model format",
    "unknown": "origin unknown: the model's format changes the texts",
}
"""Class of a piece → its words in the legend."""

TITLES: Final = (
    "label {label}",
    "choice {choice}",
    "tools: {tools}",
    "turn {turn}, tools: {tools}, expected calls in place of the model's",
    "turn {turn}, tools: {tools}",
    "turn {turn}, gold in place of the model's answers",
    "turn {turn}",
)
"""Titles that inferencers give to the prompts of a sample; the first that fits is used."""

NEWLINE: Final = '<i class="newline"></i>'
"""A sign that the style sheet writes, so that copied text does not have it."""


class PromptColumn(Struct, frozen=True):
    """The prompts of one model, made with one config, for one question.

    Attributes:
        title: the model, and the config if there are several.
        views: a prompt for each label or turn.
    """

    title: str
    views: tuple[PromptView, ...]


class QuestionPrompts(Struct, frozen=True):
    """A question with its prompts side by side.

    Attributes:
        dataset: its ``abbr``.
        title: its dataset and row.
        columns: one for each model and config.
    """

    dataset: str
    title: str
    columns: tuple[PromptColumn, ...]


def side_by_side(configs: Sequence[tuple[str, Iterable[PromptView]]]) -> list[QuestionPrompts]:
    """Return the questions of all configs, each with the prompts of every model and config.

    Args:
        configs: name of each config, and its prompts in any order. Questions are the same if the ``abbr`` of the
            dataset and the row are; those of variants, if the name that these share is.
    """
    columns: dict[tuple[str, int], dict[str, list[PromptView]]] = {}
    for config, views in configs:
        for view in views:
            names = [config if len(configs) > 1 else "", view.model, view.variant]
            title = " · ".join(filter(None, names))
            columns.setdefault((view.base_dataset or view.dataset, view.index), {}).setdefault(title, []).append(view)
    return [
        QuestionPrompts(
            dataset,
            say("{dataset}, row {row}", dataset=dataset, row=row),
            tuple(PromptColumn(title, tuple(views)) for title, views in found.items()),
        )
        for (dataset, row), found in columns.items()
    ]


def prompts_page(title: str, questions: Sequence[QuestionPrompts]) -> str:
    """Return the page. It makes no request, and its policy forbids everything but its own style."""
    style = asset("prompt_page.css") + QUESTIONS_STYLE
    return Template(asset("prompt_page.html")).substitute(
        language=label_language(),
        title=_text(title),
        style_hash=source_hash(style),
        style=style,
        hint=_text(say(HINT)),
        body=questions_html(questions),
    )


def questions_html(questions: Sequence[QuestionPrompts]) -> str:
    """Return questions with their prompts, for a page with `QUESTIONS_STYLE`; the first one is unfolded."""
    unfolded = len(questions) if len(questions) <= OPEN_QUESTIONS else 1
    return "\n".join(
        f'<details class="asked" data-dataset="{_text(question.dataset)}"{" open" if number < unfolded else ""}>'
        f"<summary><h2>{_text(question.title)}</h2></summary>\n"
        f'<div class="abreast">\n{"".join(_columns(question.columns))}</div></details>'
        for number, question in enumerate(questions)
    )


def _columns(columns: Sequence[PromptColumn]) -> Iterator[str]:
    """Yield each different prompt once, with the names of all models that get it."""
    groups: list[list[PromptColumn]] = []
    for column in columns:
        alike = next((group for group in groups if _shown(group[0]) == _shown(column)), None)
        if alike is None:
            groups.append([column])
        else:
            alike.append(column)
    for number, (column, *others) in enumerate(groups):
        # The other of two columns, or the first of more.
        [beside, *_] = groups[0] if number else groups[1] if len(groups) == 2 else [column]
        compared = beside.views if beside is not column and len(beside.views) == len(column.views) else repeat(None)
        titles = ", ".join(other.title for other in others)
        same = f'<p class="same">{_text(say("The same prompt for {titles}.", titles=titles))}</p>' if others else ""
        prompts = "\n".join(map(prompt_html, column.views, compared))
        lines = [f"{other.title}: {request_line(other.views[0].request)}" for other in others if other.views]
        prompts += "".join(_tag("p", _text(line), class_="about") for line in lines)
        yield f"<section><h3>{_text(column.title)}</h3>{same}{prompts}</section>\n"


def _shown(column: PromptColumn) -> list[object]:
    """Return what is shown of the prompts, without their places in the config."""
    return [
        (view.title, view.prompt, view.shots, view.left_out, view.tokens, view.all_tokens, view.warnings)
        for view in column.views
    ]


def prompt_html(view: PromptView, beside: PromptView | None = None) -> str:
    """Return one prompt as an ``article``.

    Args:
        view: the prompt, with origins; with ``all_tokens`` its tokens are shown, folded.
        beside: another prompt; words that it does not have are framed.
    """
    bubbles, warnings = bubbles_of(view), dict.fromkeys(view.warnings)
    if beside is not None:
        mark_changes(bubbles, bubbles_of(beside))
    shown = []
    for in_example, group in groupby(bubbles, key=lambda bubble: bubble.in_example):
        alike = list(group)
        written = "".join(_bubble(bubble, view) for bubble in alike)
        shown.append(_folded(_spans(alike), written) if in_example else written)
    return _tag(
        "article",
        _head(view),
        *(_warning(one) for one in warnings if isinstance(one, MisspeltPlaceholder)),
        _legend(bubbles),
        _tag("div", *shown, _answer(view), class_="bubbles"),
        *([_tag("p", _text(line), class_="about")] if (line := request_line(view.request)) else []),
        *(_warning(one) for one in warnings if not isinstance(one, MisspeltPlaceholder)),
        *([] if view.all_tokens is None else [_tokens(view.all_tokens)]),
        class_="prompt-view",
    )


def _head(view: PromptView) -> str:
    sent = say("one text") if isinstance(view.prompt, str) else counted(len(view.prompt), "message")
    title = [_tag("h4", _text(_title(view.title)))] if view.title else []
    row = say("row {row}, sample {id}", row=view.index, id=view.sample_id)
    facts = _tag("p", _text(f"{row} · {_shots(view)} · {sent}"), class_="about")
    return "".join([*title, facts, _length(view)])


def _title(title: str) -> str:
    """Return a title of a prompt in the reader's language, if it is one of `TITLES`."""
    for label in TITLES:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(label))
        if found := re.fullmatch(pattern, title, re.DOTALL):
            return say(label, **found.groupdict())
    return title


def _shots(view: PromptView) -> str:
    """Return the number of in-context examples, with their rows."""
    words = [counted(len(view.shots), "shot") if view.shots else say("no shots")]
    if view.left_out:
        words.append(say("{number} left out", number=view.left_out))
    if view.shots:
        rows = ", ".join(map(str, view.shots))
        words.append(say("train row {rows}" if len(view.shots) == 1 else "train rows {rows}", rows=rows))
    return " · ".join(words)


def _length(view: PromptView) -> str:
    """Return the length of the prompt, and a meter if the model has a limit; empty if it is not known."""
    if view.tokens is None:
        return ""
    if view.max_seq_len is None:
        return _tag("p", counted(view.tokens, "token"), class_="about")
    numbers = {"tokens": f"{view.tokens:,}", "limit": f"{view.max_seq_len:,}"}
    words = say("{tokens} of {limit} tokens (max_seq_len)", **numbers)
    over = f" — {say('too long')}" if view.tokens > view.max_seq_len else ""
    limits = {"min": "0", "max": str(view.max_seq_len), "value": str(view.tokens), "high": str(view.max_seq_len * 0.9)}
    return _tag("p", _tag("meter", words, aria_label=say("length"), **limits), f" {words}{over}", class_="about")


def _legend(bubbles: Sequence[Bubble]) -> str:
    sizes: Counter[str] = Counter()
    for span in _spans(bubbles):
        sizes[_class_of(span.origin)] += len(span.text)
    words = [
        _tag("span", _tag("span", _origin(name), class_=f"piece {name}"), f" {counted(sizes[name], 'character')}")
        for name in ORIGIN_WORDS
        if name in sizes
    ]
    return _tag("p", " ".join(words), class_="origins")


def _spans(bubbles: Iterable[Bubble]) -> list[Span]:
    return [piece for bubble in bubbles for piece in bubble.pieces if isinstance(piece, Span)]


def _folded(spans: Sequence[Span], written: str) -> str:
    shots = {span.origin.shot for span in spans} - {BETWEEN_SHOTS, None}
    size = sum(len(span.text) for span in spans)
    words = say("{one}, {other}", one=counted(len(shots), "example"), other=counted(size, "character"))
    if any(isinstance(span, ChangedSpan) for span in spans):
        words = say("{examples}, not the same beside it", examples=words)
    return _tag("details", _tag("summary", words), written, class_="examples")


def _bubble(bubble: Bubble, view: PromptView) -> str:
    said = ""
    for folds, group in groupby(bubble.pieces, key=is_in_example):
        pieces = list(group)
        written = "".join(_piece(piece, view) for piece in pieces)
        spans = [piece for piece in pieces if isinstance(piece, Span)]
        said += _folded(spans, written) if folds and not bubble.in_example else written
    if bubble.is_format:
        return _tag("div", said, class_="said around")
    speaker, _, other = bubble.role.partition(" as ")
    role = say("{role} as {other}", role=speaker, other=other) if other else speaker or say("text")
    return _tag(
        "div",
        _tag("p", _text(role), class_="speaker"),
        _tag("div", said, class_="said"),
        class_=f"bubble {ROLE_CLASSES.get(speaker, '')}".strip(),
    )


def _piece(piece: Piece, view: PromptView) -> str:
    if isinstance(piece, Medium):
        return _tag("span", _text(piece.text), class_="medium")
    shown = _text(piece.text).replace("\n", f"{NEWLINE}\n")
    for warning in view.warnings:
        if isinstance(warning, MisspeltPlaceholder) and piece.origin.kind != "data":
            mark = _text(warning.mark)
            shown = shown.replace(mark, _tag("mark", mark))
    source = _text(described(piece.origin, view))
    more = " of-data" * (piece.origin.kind == "data") + " differs" * isinstance(piece, ChangedSpan)
    return _tag(
        "span",
        shown,
        class_=f"piece {_class_of(piece.origin)}{more}",
        tabindex="0",
        role="group",
        aria_label=source,
        data_from=source,
    )


def described(origin: Origin, view: PromptView) -> str:
    """Describe where a piece comes from: its kind, column or example, and its place in the config."""
    place = view.places.get(origin.where, origin.where)
    if origin.kind == "unknown":
        return _origin("unknown")
    if origin.kind in FORMAT_KINDS:
        words = say("{one}, {other}", one=_origin("format"), other=say(origin.kind))
        return f"{words} · {place}" if place else words
    if origin.shot == BETWEEN_SHOTS:
        return say("between examples · ice_separator or ice_eos_token of {place}", place=place)
    row = say("test row {row}", row=view.index)
    if origin.shot is not None and origin.shot <= len(view.shots):
        row = say("example {number} (train row {row})", number=origin.shot, row=view.shots[origin.shot - 1])
    elif origin.shot is not None:
        row = say("example {number}", number=origin.shot)
    if origin.kind == "data":
        return say("data, column {column} of {row} · filled in at {place}", column=origin.column, row=row, place=place)
    of_example = _origin("template") if origin.shot is None else say("template of {example}", example=row)
    return f"{of_example} · {place}"


def _origin(name: str) -> str:
    """Return the words of an origin, given its class."""
    return say(ORIGIN_WORDS[name])


def _class_of(origin: Origin) -> str:
    if origin.kind in FORMAT_KINDS:
        return "format"
    return "example" if origin.shot is not None else origin.kind


def _answer(view: PromptView) -> str:
    """Return the wanted answer, which is not part of the prompt; empty if it is not known."""
    if view.gold is None:
        return ""
    title = _tag("p", say(GOLD_TITLES[view.gold_sent]), class_="speaker")
    return _tag("div", title, _tag("div", _text(str(view.gold)), class_="said"), class_="wanted")


def _warning(warning: PromptWarning) -> str:
    words = f"{warning.what}\n  {say('where')}: {warning.where}\n  {say('fix')}: {warning.fix}"
    return _tag("p", _tag("b", f"{say('Warning')}: "), _text(words), class_="warning")


def _tokens(tokens: Sequence[Token]) -> str:
    title = say("{tokens}, each with its id; special ones are framed", tokens=counted(len(tokens), "token"))
    shown = []
    for token in tokens:
        text = _text(token.text).replace("\n", NEWLINE)
        kind = "token special" if token.special else "token"
        shown.append(_tag("span", text, _tag("sub", str(token.id)), class_=kind))
        # The line breaks behind the id, so that the id stays beside the sign.
        shown.append("\n" * token.text.count("\n"))
    return _tag("details", _tag("summary", title), _tag("div", *shown, class_="said"), class_="tokens")


def _text(text: str) -> str:
    """Return a text as HTML: escaped, without secrets, and with control characters as escapes."""
    return html.escape(printable(text))


def _tag(name: str, *inside: str, **attributes: Any) -> str:
    """Return an element. Its content and attributes must be HTML already; ``_`` in a name becomes ``-``."""
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f"<{name}{written}>{''.join(inside)}</{name}>"


def chosen_part() -> str:
    """Return the place for the prompts of a sample that the reader of a served report chooses, as HTML."""
    return f'<div id="chosen-prompts" tabindex="-1"><p class="soft">{html.escape(say(CHOOSE))}</p></div>\n'


def prompts_part(folder: RunFolder) -> str:
    """Return the prompts of a run as HTML; empty if there are none, or they cannot be read."""
    views = [view for view, _ in stored_prompts(folder)]
    return f'<p class="soft">{say(RUN_HINT)}</p>\n{questions_html(side_by_side([("", views)]))}' if views else ""


def sample_prompts_html(found: Sequence[PromptView | None], folder: RunFolder, dataset: str, row: int) -> str:
    """Return the prompts of a sample side by side, and the command that shows more.

    Args:
        found: of every model, from `traced_views`.
        folder: of the run.
        dataset: its ``abbr``.
        row: of the sample.
    """
    path, pattern = (shlex.quote(one) for one in (str(folder.config_file), glob.escape(dataset)))
    command = f"aisprompt view-prompt {path} -p {pattern} --sample {row} --html"
    views = [view for view in found if view is not None]
    note = _note(say(TRACED if views else NOT_TRACED), f"<code>{html.escape(printable(command))}</code>")
    if 0 < len(views) < len(found):
        note += _note(say(PARTLY_TRACED, number=len(views), all=len(found)))
    return f"{note}\n{questions_html(side_by_side([('', views)]))}"


def _note(words: str, more: str = "") -> str:
    return f'<p class="soft">{html.escape(words)} {more}</p>'
