"""The prompts of any sample of a run with the origins of their pieces, traced without the config.

The run has kept the origins of the first prompts of a task. What a template or a format wrote is the same in the
prompts of all its samples; what lies between is data. Nothing is executed and no data is read again.
"""

from __future__ import annotations

import glob
import html
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final

from ais_prompt.preview.marks import Origin, Span
from ais_prompt.preview.origins import Origins, prompt_texts
from ais_prompt.preview.preview import PromptView
from ais_prompt.report.questions import prompts_of
from ais_prompt.report.web.labels import say
from ais_prompt.report.web.prompt_page import questions_html, side_by_side
from ais_prompt.store.layout import RunFolder
from ais_prompt.types import Prediction, Prompt, prompt_from_json
from ais_prompt.utils.text import printable

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
        like = _comparable(known, number, is_turn=not prediction.labels)
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


def _comparable(known: Sequence[PromptView], number: int, *, is_turn: bool) -> PromptView | None:
    """Return the prompt that another one with this number can be compared with; None if there is none.

    In what is known of later turns, golds take the place of the model's answers, unless golds are sent.
    """
    if number >= len(known) or (is_turn and number > 0 and known[number].gold_sent != "earlier turns"):
        return None
    return known[number]


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
    groups = [(is_data, list(spans)) for is_data, spans in groupby(known, key=lambda span: _is_data(span.origin))]
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


def _is_data(origin: Origin) -> bool:
    return origin.kind == "data" and origin.shot is None


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
