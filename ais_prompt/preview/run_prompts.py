"""Prompts of a run with the origins of their pieces, for its report.

Origins are known while the config and the data are at hand, so a run previews the first question of its tasks before
it asks, and keeps the prompts in ``view/prompts.json``. The file is data like any other: it is checked when it is
read, and all of its texts are escaped.

The prompts of all other samples are traced without the config: the text of a template or a format is the same in the
prompts of all samples, and what lies between is data. Nothing is executed and no data is read again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, convert, field

from ais_prompt.checks import MisspeltPlaceholder, PromptWarning
from ais_prompt.errors import AisPromptError
from ais_prompt.plan import Task
from ais_prompt.preview.origins import Origin, Origins, Span, unmarked
from ais_prompt.preview.preview import GoldSent, PromptView, preview_sample
from ais_prompt.preview.prompt_differences import prompts_of
from ais_prompt.store import RunFolder, replacing
from ais_prompt.types import Prediction, Prompt, prompt_from_json, prompt_to_json
from ais_prompt.utils import decode_own, encode, prompt_texts, read_regular

MOST_TASKS: Final = 60
"""Tasks whose first prompts are kept: each takes some milliseconds before the first request."""
MOST_BYTES: Final = 50_000
"""Bytes of a prompt as JSON. If a question has a longer one, none is kept; ``view-prompt --html`` shows them."""
logger = logging.getLogger(__name__)


def write_prompts(tasks: Sequence[Task], folder: RunFolder) -> None:
    """Keep the prompts of the first question of each task; of more than `MOST_TASKS`, those of one model a dataset.

    A task whose prompts cannot be built has none: asking it tells why.

    Raises:
        StoreError: they cannot be written.
    """
    if len(tasks) > MOST_TASKS:
        first: dict[str, Task] = {}
        for task in tasks:
            first.setdefault(task.spec.dataset.abbr, task)
        tasks = list(first.values())[:MOST_TASKS]
    if kept := [prompt for task in tasks for prompt in _first_prompts(task)]:
        with replacing(_file(folder), json=True) as stream:
            stream.write(encode(kept))


def _first_prompts(task: Task) -> list[dict[str, Any]]:
    try:
        views = list(preview_sample(task, 1, origins=True, hub=False))
        has_empty = any(
            value is None or (isinstance(value, str | Sequence | Mapping) and not str(value or "").strip())
            for sample in task.data.test[:1]
            for value in sample.fields.values()
        )
    except Exception:  # answers must not be lost because of the report
        logger.info("%s: its prompts are not in the report", task.name, exc_info=True)
        return []
    finally:
        task.release()
    fits = all(len(encode(prompt_to_json(view.prompt))) <= MOST_BYTES for view in views)  # media in base64 included
    return [{**view.to_json(), "has_empty": has_empty} for view in views] if fits else []


def kept_prompts(folder: RunFolder, model: str, dataset: str) -> list[PromptView]:
    """Return the prompts of a task that a run has kept, with origins, to compare others with them.

    Those of another model take the place of a task without any: only a prompt of the same pieces is traced with them.
    There are none if the question has an empty value, whose place in the prompt cannot be seen.
    """
    found = [view for view, has_empty in stored_prompts(folder) if not has_empty and view.dataset == dataset]
    nearest = model if any(view.model == model for view in found) else next((view.model for view in found), model)
    return [view for view in found if view.model == nearest]


def stored_prompts(folder: RunFolder) -> list[tuple[PromptView, bool]]:
    """Return the prompts that a run has kept, each with whether its row has an empty value; none if they are broken."""
    if not _file(folder).exists():  # a load has none
        return []
    try:
        stored = convert(decode_own(read_regular(_file(folder))), list[_StoredPrompt])
        return [(_view(one), one.has_empty) for one in stored]
    except (AisPromptError, OSError, LookupError, TypeError, ValueError):
        logger.info("%s has no prompts that can be shown", folder.root, exc_info=True)
        return []


def _file(folder: RunFolder) -> Path:
    return folder.view / "prompts.json"


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
    warnings: list[MisspeltPlaceholder]  # of any kind: another one has no mark
    origins: list[list[dict[str, Any]]] = field(default_factory=list)
    places: Mapping[str, str] = field(default_factory=dict)
    has_empty: bool = True
    request: Mapping[str, Any] = field(default_factory=dict)


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
        warnings=tuple(
            MisspeltPlaceholder(one.what, one.where, one.fix, one.mark)
            if one.mark
            else PromptWarning(one.what, one.where, one.fix)
            for one in stored.warnings
        ),
        left_out=stored.left_out,
        origins=tuple(
            tuple(Span(convert(one["text"], str), convert(one, Origin)) for one in spans) for spans in stored.origins
        ),
        gold_sent=stored.gold_sent,
        max_seq_len=stored.max_seq_len,
        places=stored.places,
        request=stored.request,
    )
    if view.origins and prompt_texts(view.prompt) != unmarked(view.origins):
        raise ValueError("the origins are not those of the prompt")
    return view


def traced_views(
    prediction: Prediction, model: str, dataset: str, known: Sequence[PromptView]
) -> Iterator[PromptView | None]:
    """Yield each prompt of a sample; None for one whose origins cannot be traced.

    Args:
        prediction: of the sample.
        model, dataset: their ``abbr``.
        known: the prompts of another sample of the task, from `kept_prompts`.
    """
    for number, (name, prompt) in enumerate(_prompts(prediction)):
        like = known[number] if number < len(known) else None
        # In what is known of later turns, golds take the place of the model's answers, unless golds are sent.
        if like and number and not prediction.labels and like.gold_sent != "earlier turns":
            like = None
        origins = traced_origins(prompt, like) if like else ()
        if like is None or not origins:
            yield None
            continue
        yield PromptView(
            model=model,
            dataset=dataset,
            sample_id=prediction.sample_id,
            index=prediction.index,
            title=f"{like.title.partition(' ')[0]} {name}" if name else "",
            filled="",
            prompt=prompt,
            shots=like.shots,
            gold=prediction.gold,
            tokens=None,
            origins=origins,
            gold_sent=like.gold_sent,
            places=like.places,
        )


def _prompts(prediction: Prediction) -> Iterator[tuple[str, Prompt]]:
    """Yield each prompt with its label, choice or turn; empty if there is only one."""
    labels = {label: found["prompt"] for label, found in prediction.labels.items() if "prompt" in found}
    if labels:
        yield from ((label, prompt_from_json(prompt)) for label, prompt in labels.items())
        return
    prompts = prompts_of(prediction)
    for number, prompt in enumerate(prompts, start=1):
        yield str(number) if len(prompts) > 1 else "", prompt_from_json(prompt)


def traced_origins(prompt: Prompt, known: PromptView) -> Origins:
    """Return the origins of a prompt; empty if they cannot be traced for sure.

    Args:
        prompt: as it was sent.
        known: another prompt of the same templates, with origins. The examples must be the same.
    """
    if not known.origins or _roles(prompt) != _roles(known.prompt):
        return ()
    found: list[tuple[Span, ...]] = []
    for text, spans in zip(prompt_texts(prompt), known.origins, strict=True):
        aligned = align(text, spans)
        if aligned is None:
            return ()
        found.append(aligned)
    return tuple(found)


def _roles(prompt: Prompt) -> list[str] | None:
    return None if isinstance(prompt, str) else [message.role for message in prompt]


def align(text: str, known: Sequence[Span]) -> tuple[Span, ...] | None:
    """Return the pieces of a text that was made as another one, with other data of the row.

    Args:
        text: to be cut.
        known: the pieces of the other text. Those that are no data of the row occur in both, in this order.

    Returns:
        None if the text has no such pieces, or if there are two ways to cut it.
    """
    groups = [
        (is_data, list(spans))
        for is_data, spans in groupby(known, key=lambda span: span.origin.kind == "data" and span.origin.shot is None)
    ]
    if any(is_data and len(spans) > 1 for is_data, spans in groups):
        return None  # values side by side cannot be kept apart
    if not groups or groups[0][0]:
        groups.insert(0, (False, []))
    if groups[-1][0]:
        groups.append((False, []))
    fixed = [spans for is_data, spans in groups if not is_data]
    data = [spans[0].origin for is_data, spans in groups if is_data]
    starts = _only_places(text, [_joined(spans) for spans in fixed])
    if starts is None:
        return None
    pieces = list(fixed[0])
    for origin, (before, after), (start, end) in zip(data, pairwise(fixed), pairwise(starts), strict=True):
        if value := text[start + len(_joined(before)) : end]:
            pieces.append(Span(value, origin))
        pieces += after
    return tuple(pieces)


def _joined(spans: Iterable[Span]) -> str:
    return "".join(span.text for span in spans)


def _only_places(text: str, fixed: Sequence[str]) -> list[int] | None:
    """Return where each of these texts begins, the first at the start and the last at the end.

    None if there is no way or not just one. There is one if the earliest places that they can have are the latest.
    """
    first, *rest = fixed
    if not rest:
        return [0] if text == first else None
    *middle, last = rest
    start, end = len(first), len(text) - len(last)
    if start > end or not (text.startswith(first) and text.endswith(last)):
        return None
    early, at = [], start
    for one in middle:
        at = text.find(one, at, end)
        if at < 0:
            return None
        early.append(at)
        at += len(one)
    late, at = [], end
    for one in reversed(middle):
        at = text.rfind(one, start, at)
        late.append(at)
    return [0, *early, end] if early == late[::-1] else None
