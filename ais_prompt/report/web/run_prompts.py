"""Prompts of a run with the origins of their pieces, for its report.

Origins are known while the config and the data are at hand, so a run previews the first question of its tasks before it
asks, and keeps the prompts in ``view/prompts.json``. The file is data like any other: it is checked when it is
read, and all of its texts are escaped.
"""

from __future__ import annotations

import html
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, convert, field

from ais_prompt.checks.warning import MisspeltPlaceholder, PromptWarning
from ais_prompt.errors import AisPromptError
from ais_prompt.plan.plan import Task
from ais_prompt.preview.marks import Kind, Origin, Span
from ais_prompt.preview.origins import prompt_texts, unmarked
from ais_prompt.preview.preview import GoldSent, PromptView, preview
from ais_prompt.report.web.labels import say
from ais_prompt.report.web.prompt_page import questions_html, side_by_side
from ais_prompt.store.disk import replacing
from ais_prompt.store.layout import RunFolder
from ais_prompt.types import prompt_from_json, prompt_to_json
from ais_prompt.utils.files import read_regular
from ais_prompt.utils.jsonl import decode_own, encode

MOST_TASKS: Final = 24
"""Tasks whose first prompts are kept: each takes some milliseconds before the first request."""
MOST_BYTES: Final = 50_000
"""Bytes of a prompt as JSON. If a question has a longer one, none is kept; ``view-prompt --html`` shows them."""
HINT: Final = (
    "The first prompt of each dataset, character for character. Point at a piece, or reach it with Tab: the line at "
    "the bottom says where it comes from. What the prompt beside it does not have is framed."
)
CHOOSE: Final = (
    "To see the prompts of any sample here, open it and choose “Where the pieces of these prompts come from”."
)
logger = logging.getLogger(__name__)


def write_prompts(tasks: Sequence[Task], folder: RunFolder) -> None:
    """Keep the prompts of the first question of some tasks, the same datasets of every model.

    A task whose prompts cannot be built has none: asking it tells why.

    Raises:
        StoreError: they cannot be written.
    """
    datasets = list(dict.fromkeys(task.spec.dataset.abbr for task in tasks))
    in_order = sorted(tasks, key=lambda task: datasets.index(task.spec.dataset.abbr))
    if kept := [prompt for task in in_order[:MOST_TASKS] for prompt in _first_prompts(task)]:
        with replacing(_file(folder), json=True) as stream:
            stream.write(encode(kept))


def _first_prompts(task: Task) -> list[dict[str, Any]]:
    try:
        views = list(preview(task, 1, origins=True))
        has_empty = any(any(map(_is_empty, sample.fields.values())) for sample in task.data.test[:1])
    except Exception:  # answers must not be lost because of the report
        logger.info("%s: its prompts are not in the report", task.name, exc_info=True)
        return []
    finally:
        task.release()
    fits = all(_length(view) <= MOST_BYTES for view in views)
    return [{**view.to_json(), "has_empty": has_empty} for view in views] if fits else []


def chosen_part() -> str:
    """Return the place for the prompts of a sample that the reader of a served report chooses, as HTML."""
    return f'<div id="chosen-prompts" tabindex="-1"><p class="soft">{html.escape(say(CHOOSE))}</p></div>\n'


def prompts_part(folder: RunFolder) -> str:
    """Return the prompts of a run as HTML; empty if there are none, or they cannot be read."""
    views = [view for view, _ in _stored(folder)]
    return f'<p class="soft">{say(HINT)}</p>\n{questions_html(side_by_side([("", views)]))}' if views else ""


def kept_prompts(folder: RunFolder, model: str, dataset: str) -> list[PromptView]:
    """Return the prompts of a task that a run has kept, with origins, to compare others with them.

    There are none if the question has an empty value, whose place in the prompt cannot be seen.
    """
    found = [view for view, has_empty in _stored(folder) if not has_empty]
    return [view for view in found if (view.model, view.dataset) == (model, dataset)]


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | Sequence | Mapping) and not str(value or "").strip())


def _stored(folder: RunFolder) -> list[tuple[PromptView, bool]]:
    """Return the prompts that a run has kept, each with whether its row has an empty value; none if they are broken."""
    try:
        stored = convert(decode_own(read_regular(_file(folder))), list[_StoredPrompt])
        return [(_view(one), one.has_empty) for one in stored]
    except (AisPromptError, OSError, LookupError, TypeError, ValueError):
        logger.info("%s has no prompts that can be shown", folder.root, exc_info=True)
        return []


def _file(folder: RunFolder) -> Path:
    return folder.view / "prompts.json"


def _length(view: PromptView) -> int:
    """Return the length of a prompt as JSON, media in base64 included."""
    return len(encode(prompt_to_json(view.prompt)))


class _StoredSpan(Struct):
    text: str
    kind: Kind
    column: str = ""
    shot: int | None = None
    where: str = ""
    role: str = ""


class _StoredWarning(Struct):
    what: str
    where: str
    fix: str
    mark: str = ""


class _StoredPrompt(Struct):
    """What of `PromptView.to_json` is shown."""

    model: str
    dataset: str
    id: str
    index: int
    title: str
    prompt: str | list[dict[str, Any]]
    shots: list[int]
    left_out: int
    gold: Any
    gold_sent: GoldSent
    tokens: int | None
    max_seq_len: int | None
    warnings: list[_StoredWarning]
    origins: list[list[_StoredSpan]] = field(default_factory=list)
    places: Mapping[str, str] = field(default_factory=dict)
    has_empty: bool = True


def _view(stored: _StoredPrompt) -> PromptView:
    """Return a stored prompt.

    Raises:
        LookupError, TypeError, ValueError: it is none, or its origins are those of another prompt.
    """
    view = PromptView(
        model=stored.model,
        dataset=stored.dataset,
        sample_id=stored.id,
        index=stored.index,
        title=stored.title,
        filled="",
        prompt=prompt_from_json(stored.prompt),
        shots=tuple(stored.shots),
        gold=stored.gold,
        tokens=stored.tokens,
        warnings=tuple(map(_warning, stored.warnings)),
        left_out=stored.left_out,
        origins=tuple(tuple(map(_span, spans)) for spans in stored.origins),
        gold_sent=stored.gold_sent,
        max_seq_len=stored.max_seq_len,
        places=stored.places,
    )
    if view.origins and prompt_texts(view.prompt) != unmarked(view.origins):
        raise ValueError("the origins are not those of the prompt")
    return view


def _span(stored: _StoredSpan) -> Span:
    return Span(stored.text, Origin(stored.kind, stored.column, stored.shot, stored.where, stored.role))


def _warning(stored: _StoredWarning) -> PromptWarning:
    if stored.mark:
        return MisspeltPlaceholder(stored.what, stored.where, stored.fix, stored.mark)
    return PromptWarning(stored.what, stored.where, stored.fix)
