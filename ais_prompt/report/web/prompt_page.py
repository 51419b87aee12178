"""The page of ``view-prompt --html``: prompts of models and configs side by side, in one file without scripts."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from string import Template
from typing import Final

from msgspec import Struct

from ais_prompt.preview.preview import PromptView
from ais_prompt.report.language import language
from ais_prompt.report.web.frame import asset, source_hash
from ais_prompt.report.web.labels import say
from ais_prompt.report.web.prompt_view import PROMPT_STYLE, prompt_html
from ais_prompt.utils.text import printable

QUESTIONS_STYLE: Final = asset("prompt_questions.css") + PROMPT_STYLE
HINT: Final = (
    "What is sent, character for character. Point at a piece, or reach it with Tab: the line at the bottom says where "
    "it comes from. What the prompt beside it does not have is framed."
)
OPEN_QUESTIONS: Final = 3
"""Questions at the top that are shown unfolded."""


class Column(Struct, frozen=True):
    """The prompts of one model, made with one config, for one question.

    Attributes:
        title: the model, and the config if there are several.
        views: a prompt for each label or turn.
    """

    title: str
    views: tuple[PromptView, ...]


class Question(Struct, frozen=True):
    """A question with its prompts side by side.

    Attributes:
        dataset: its ``abbr``.
        title: its dataset and row.
        columns: one for each model and config.
    """

    dataset: str
    title: str
    columns: tuple[Column, ...]


def side_by_side(configs: Sequence[tuple[str, Iterable[PromptView]]]) -> list[Question]:
    """Return the questions of all configs, each with the prompts of every model and config.

    Args:
        configs: name of each config, and its prompts in any order. Questions are the same if the ``abbr`` of the
            dataset and the row are.
    """
    columns: dict[tuple[str, int], dict[str, list[PromptView]]] = {}
    for config, views in configs:
        for view in views:
            title = f"{config} · {view.model}" if len(configs) > 1 else view.model
            columns.setdefault((view.dataset, view.index), {}).setdefault(title, []).append(view)
    return [
        Question(
            dataset,
            say("{dataset}, row {row}", dataset=dataset, row=row),
            tuple(Column(title, tuple(views)) for title, views in found.items()),
        )
        for (dataset, row), found in columns.items()
    ]


def prompts_page(title: str, questions: Sequence[Question]) -> str:
    """Return the page. It makes no request, and its policy forbids everything but its own style."""
    style = asset("prompt_page.css") + QUESTIONS_STYLE
    return Template(asset("prompt_page.html")).substitute(
        language=language(),
        title=_text(title),
        style_hash=source_hash(style),
        style=style,
        hint=_text(say(HINT)),
        body=questions_html(questions),
    )


def questions_html(questions: Sequence[Question]) -> str:
    """Return questions with their prompts, for a page with `QUESTIONS_STYLE`; the first ones are unfolded."""
    return "\n".join(_question(question, number < OPEN_QUESTIONS) for number, question in enumerate(questions))


def _question(question: Question, unfolded: bool) -> str:
    columns = "\n".join(_columns(question.columns))
    start = f'<details class="asked" data-dataset="{_text(question.dataset)}"{" open" if unfolded else ""}>'
    return (
        f"{start}<summary><h2>{_text(question.title)}</h2></summary>\n"
        f'<div class="abreast">\n{columns}\n</div></details>'
    )


def _columns(columns: Sequence[Column]) -> Iterator[str]:
    for number, column in enumerate(columns):
        same = next((one for one in columns[:number] if _sent(one) == _sent(column)), None)
        note = (
            ""
            if same is None
            else f'<p class="same">{_text(say("The same prompt as for {title}.", title=same.title))}</p>'
        )
        prompts = "\n".join(map(prompt_html, column.views, _beside(columns, number)))
        yield f"<section><h3>{_text(column.title)}</h3>{note}{prompts}</section>"


def _beside(columns: Sequence[Column], number: int) -> Sequence[PromptView | None]:
    """Return what the prompts of a column are compared with: the other of two columns, or the first of more."""
    other = columns[0] if number else columns[1] if len(columns) == 2 else None
    views = columns[number].views
    if other is None or len(other.views) != len(views):
        return [None] * len(views)
    return other.views


def _sent(column: Column) -> list[object]:
    return [view.prompt for view in column.views]


def _text(text: str) -> str:
    return html.escape(printable(text))
