"""What the rules keep for parity with the peers, but a person would want to know of a prompt.

Nothing here stops a run: each warning says what was seen, where it comes from and what can be done about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

from msgspec import Struct

from ais_prompt.chat.chat_section import CHAT
from ais_prompt.chat.meta_template import MetaTemplate, Slot
from ais_prompt.chat.rounds import split_rounds
from ais_prompt.inferencers import Preview
from ais_prompt.prompts import Filled
from ais_prompt.prompts.prompt_list import Section
from ais_prompt.types import Prompt, TaskSpec
from ais_prompt.utils.text import listed

GOLD: Final = "\ue000gold\ue000"
"""Stands for the gold in a plain prompt. Private characters: no template holds them."""

PLACEHOLDER: Final = re.compile(r"(\\[A-Za-z]+)?(\{[^\W\d]\w*\})")
"""``{name}``; what belongs to a LaTeX command, such as ``\\boxed{answer}``, is in the first group too."""

BOS: Final = r"<s>|<bos>|<BOS>|\[BOS\]|<\|begin_of_text\|>|<\|startoftext\|>|<｜begin▁of▁sentence｜>"
"""How tokenizers write the beginning of a sequence. Asking the model's own would need files that may not be here."""

SPEAKER: Final = re.compile(
    r"^[ \t#]*(?:human|user|assistant|bot|ai|system)[ \t]*[:：]"
    r"|<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|<\|(?:user|assistant|system)\|>|\[INST\]|<<SYS>>",
    re.IGNORECASE | re.MULTILINE,
)
"""A text that says who speaks: ``User:`` at the start of a line, or a mark of a chat format."""

LABEL_TWICE: Final = re.compile(r"(\b\w+[ \t]?[:：])[ \t]*\1", re.IGNORECASE)
"""``Question: Question:``."""

SHOWN: Final = 60
"""Characters of a text that a warning quotes."""


class PromptWarning(Struct, frozen=True):
    """Something about a prompt that the user may not expect.

    Attributes:
        what: one sentence that says what was seen.
        where: config path of what causes it.
        fix: what the user can do about it.
    """

    what: str
    where: str
    fix: str

    def __str__(self) -> str:
        return f"{self.what}\n  where: {self.where}\n  fix:   {self.fix}"


class Trial(Struct, frozen=True):
    """One prompt of a task, looked at before it is sent.

    Attributes:
        task: the model and the data set.
        seen: the prompt.
        plain: the same prompt of a row whose texts are meaningless and whose gold is `GOLD`, so that whatever else
            stands in it was written by a template; None if there can be none.
        meta: the meta template with which a language model frames dialogues; None for other formats.
        gives_messages: the model is given messages (that its tokenizer may then write as one text).
        served: the prompt goes to a server, which puts BOS in front of it by itself.
        columns: the columns of the row.
    """

    task: TaskSpec
    seen: Preview
    plain: Preview | None
    meta: MetaTemplate | None
    gives_messages: bool
    served: bool
    columns: tuple[str, ...]

    @property
    def template(self) -> str:
        """Config path of the data set's template."""
        infer = self.task.dataset.infer
        part = infer.prompt_template or infer.ice_template
        return part.where if part else infer.where


def prompt_warnings(trial: Trial) -> list[PromptWarning]:
    """All that is to be said of a prompt; nothing if it is as one would expect."""
    found = list(_lost_texts(trial))
    if trial.plain is not None:
        found += [warning for look in _LOOKS for warning in look(trial, trial.plain)]
    return found


def label_warnings(trials: Sequence[Trial]) -> list[PromptWarning]:
    """Warn where the prompts of all labels of a sample are one and the same: then the first label always wins."""
    if len(trials) < 2 or any(trial.seen.gold != "every label" for trial in trials):
        return []
    if any(trial.seen.prompt != trials[0].seen.prompt for trial in trials):
        return []
    return [
        PromptWarning(
            f"all {len(trials)} labels have the same prompt, so the first label always wins",
            trials[0].template,
            "write the template as a table by label: template={'A': '... A', 'B': '... B'}",
        )
    ]


def _lost_texts(trial: Trial) -> Iterator[PromptWarning]:
    if isinstance(trial.seen.filled, str):
        return
    sent = "\n".join(_sent_texts(trial.seen.prompt))
    lost = [item for item in trial.seen.filled if isinstance(item, str) and item.strip() not in sent]
    if not lost:
        return
    more = f", and {len(lost) - 1} more" if len(lost) > 1 else ""
    if trial.gives_messages:
        what = "messages have no place for a text that nobody says, so it is not sent"
        fix = "write it as a turn, dict(role='SYSTEM', fallback_role='HUMAN', prompt='...'); examples as a dialogue"
    else:
        what = "the prompt ends where the model starts to write, so a text behind that is not sent"
        fix = "put it into begin or round"
    yield PromptWarning(f"{what}: {_quoted(lost[0])}{more}", trial.template, fix)


def _unfilled(trial: Trial, plain: Preview) -> Iterator[PromptWarning]:
    sent = "\n".join(_sent_texts(plain.prompt))
    found = (match for text in _filled_texts(plain.filled) for match in PLACEHOLDER.finditer(text))
    for mark in dict.fromkeys(match[2] for match in found if not match[1]):
        if mark in sent:
            near = get_close_matches(mark.strip("{}"), trial.columns, n=1)
            hint = f"did you mean {{{near[0]}}}? " if near else ""
            yield PromptWarning(
                f"{mark} is sent as it is: nothing is filled in there",
                trial.template,
                f"{hint}the columns are {listed(trial.columns)}",
            )


def shows_gold(trial: Trial) -> bool:
    """Return whether a template writes the gold that the model is asked for into the prompt."""
    return trial.plain is not None and any(GOLD in text for text in _sent_texts(trial.plain.prompt))


def _shown_gold(trial: Trial, plain: Preview) -> Iterator[PromptWarning]:  # noqa: ARG001
    if shows_gold(trial):
        column = trial.task.dataset.reader.output_column
        yield PromptWarning(
            f"the model is shown the gold answer: the prompt has the output column {column!r} in it",
            trial.template,
            f"take {{{column}}} out of the template; in a label table write the label's own text in its place",
        )


def _leading_newline(trial: Trial, plain: Preview) -> Iterator[PromptWarning]:
    if next(iter(_sent_texts(plain.prompt)), "").startswith("\n"):
        yield PromptWarning(
            "the prompt starts with a newline: an empty text stands first, such as the place of examples that are none",
            trial.template,
            "remove the empty text or the ice_token; keep it to compare scores with OpenCompass or AISBench",
        )


def _doubled_bos(trial: Trial, plain: Preview) -> Iterator[PromptWarning]:
    first = next(iter(_sent_texts(plain.prompt)), "")
    found = re.match(rf"\s*({BOS})" if trial.served else rf"\s*({BOS})\s*\1", first)
    if found:
        who = "the server puts it there too" if trial.served else "it stands there already"
        yield PromptWarning(
            f"the model sees {found[1]} twice at the beginning: a template writes it, and {who}",
            trial.template if found[1] in "".join(_filled_texts(plain.filled)) else _model_template(trial),
            f"take {found[1]} out of the template",
        )


def _roles_twice(trial: Trial, plain: Preview) -> Iterator[PromptWarning]:
    if not _is_framed(trial, plain):
        return
    twice = LABEL_TWICE.search(plain.prompt) if isinstance(plain.prompt, str) else None
    twice = twice or next(filter(None, map(SPEAKER.search, _filled_texts(plain.filled))), None)
    if twice is not None:
        yield PromptWarning(
            f"the template says who speaks ({_quoted(twice[0].strip())}), and so does the model's format",
            trial.template,
            "leave it to the format: dict(role='HUMAN', prompt='{question}')",
        )


def _empty_slots(trial: Trial, plain: Preview) -> Iterator[PromptWarning]:
    if trial.meta is None or isinstance(plain.filled, str):
        return
    roles = dict.fromkeys(role for part in plain.filled.parts() for role in _silent(part, trial.meta))
    if roles:
        yield PromptWarning(
            f"a round in which {' and '.join(roles)} says nothing is written all the same, with the text around it",
            trial.template,
            "let the turns of each round follow the order of the meta template, or say two turns of one role as one",
        )


_LOOKS: Final[tuple[Callable[[Trial, Preview], Iterator[PromptWarning]], ...]] = (
    _unfilled,
    _shown_gold,
    _leading_newline,
    _doubled_bos,
    _roles_twice,
    _empty_slots,
)


def _is_framed(trial: Trial, plain: Preview) -> bool:
    """True if the format writes who speaks: always in messages and role templates, else around turns only."""
    if trial.gives_messages or trial.task.model.prompt_template is not None:
        return True
    return trial.meta is not None and not isinstance(plain.filled, str)


def _silent(part: Section, meta: MetaTemplate) -> Iterator[str]:
    """Roles that say nothing in some round of a part, though text is written around them."""
    if part.name in ("begin", "end"):
        for example in part.body.parts():
            if example.name == "ice":
                yield from _silent(example, meta)
        return
    if part.name == CHAT:  # its turns are written one by one
        return
    rounds = [piece for piece in split_rounds(part.body, meta) if not isinstance(piece, str)]
    for said in rounds:
        for index, slot in enumerate(meta.round):
            if not isinstance(slot, Slot) or index in said:
                continue
            if slot.generate and said is rounds[-1] and part.name != "ice":  # here the model is to speak
                break
            if slot.prompt is None and slot.text():
                yield slot.role


def _model_template(trial: Trial) -> str:
    key = "meta_template" if trial.task.model.prompt_template is None else "prompt_template"
    return f"{trial.task.model.where}.{key}"


def _sent_texts(prompt: Prompt) -> Iterator[str]:
    """The texts that reach the model: the prompt, or those of its messages."""
    if isinstance(prompt, str):
        yield prompt
    else:
        for message in prompt:
            yield from _texts(message.content)


def _filled_texts(filled: Filled) -> Iterator[str]:
    """The texts that the data set's templates write."""
    for item in [filled] if isinstance(filled, str) else filled:
        if isinstance(item, str):
            yield item
        else:
            for key in ("prompt", "prompt_mm", "content"):
                yield from _texts(item.get(key))


Said: TypeAlias = Any
"""A text, a list of parts in OpenAI form, or nothing."""


def _texts(said: Said) -> Iterator[str]:
    if isinstance(said, str):
        yield said
    elif said:
        yield from (part["text"] for part in said if isinstance(part, Mapping) and isinstance(part.get("text"), str))


def _quoted(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")
