"""Warn of prompts that follow the rules of the peers, but surprise people.

Nothing here stops a run: each warning says what was seen, where it comes from and what can be done about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Final

from ais_prompt.checks.lost_texts import lost_texts
from ais_prompt.checks.placeholders import unfilled, unfilled_marks, unfilled_warning
from ais_prompt.checks.warning import GOLD, NEUTRAL_TEXT, PromptProbe, PromptWarning, filled_texts, quoted, sent_texts
from ais_prompt.inferencers import Preview
from ais_prompt.prompts.chat_section import CHAT
from ais_prompt.prompts.meta_template import MetaTemplate, Slot
from ais_prompt.prompts.multimodal import has_marker
from ais_prompt.prompts.prompt_list import PromptSection
from ais_prompt.prompts.sections import split_rounds
from ais_prompt.utils.text import listed

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

ESCAPED_NEWLINE: Final = re.compile(
    r"(?<![\\'\"`])\\n(?!['\"`]|(?:abla|atural|e|earrow|eg|eq|ewcommand|ewline|exists|ge|geq|i|le|leq|leftarrow|mid|"
    r"oindent|olimits|onumber|ormalsize|ot|otin|parallel|prec|rightarrow|sim|subseteq|succ|u|warrow)(?![A-Za-z]))"
)
"""A backslash and an n. Not in quotes, where an instruction names it, and not in a command of LaTeX (``\\nabla``)."""


def prompt_warnings(probe: PromptProbe) -> list[PromptWarning]:
    """Return the warnings of a prompt."""
    found = lost_texts(probe)
    if probe.neutral is not None:
        found += [warning for look in _LOOKS for warning in look(probe, probe.neutral)]
    return found


def label_warnings(probes: Sequence[PromptProbe]) -> list[PromptWarning]:
    """Warn if the prompts of all labels of a sample are equal: the first label always wins then."""
    if len(probes) < 2 or any(probe.seen.gold != "every label" for probe in probes):
        return []
    if any(probe.seen.prompt != probes[0].seen.prompt for probe in probes):
        return []
    return [
        PromptWarning(
            f"all {len(probes)} labels have the same prompt, so the first label always wins",
            probes[0].template,
            "write the template as a table by label: template={'A': '... A', 'B': '... B'}",
        )
    ]


def _unfilled_defaults(probe: PromptProbe, neutral: Preview) -> Iterator[PromptWarning]:
    for slot in probe.framing.all_slots if probe.framing else []:
        for mark, column in unfilled_marks([slot.prompt or ""], neutral, probe.columns).items():
            named = f"{mark} in the prompt of the role {slot.role!r}"
            yield unfilled_warning(mark, column, named, probe, _model_template(probe))


def _no_column(probe: PromptProbe, neutral: Preview) -> Iterator[PromptWarning]:
    gold = probe.task.dataset.reader.output_column
    values = [value for name, value in probe.fields.items() if name != gold and value not in (None, "")]
    seen = "\n".join(sent_texts(probe.seen.prompt))
    if not values or any(NEUTRAL_TEXT in text for text in sent_texts(neutral.prompt)):
        return
    if next(unfilled(probe, neutral), None):  # which says the same, and why
        return
    # Only texts are replaced in the neutral prompt; numbers, messages and media are not.
    kept = [value for value in values if not isinstance(value, str) or has_marker(value)]
    if any(not isinstance(value, int | float) or str(value) in seen for value in kept):
        return
    yield PromptWarning(
        "the prompt shows no column of the row, so it is the same for every question",
        probe.template,
        f"write {{{probe.columns[0]}}} into it; the columns are {listed(probe.columns)}",
    )


def shows_gold(probe: PromptProbe) -> bool:
    """Return whether a template writes the gold into the prompt."""
    return probe.neutral is not None and any(GOLD in text for text in sent_texts(probe.neutral.prompt))


def _shown_gold(probe: PromptProbe, neutral: Preview) -> Iterator[PromptWarning]:  # noqa: ARG001
    if shows_gold(probe):
        column = probe.task.dataset.reader.output_column
        yield PromptWarning(
            f"the model is shown the gold answer: the prompt has the output column {column!r} in it",
            probe.template,
            f"take {{{column}}} out of the template; in a label table write the label's own text in its place",
        )


def _escaped_newlines(probe: PromptProbe, neutral: Preview) -> Iterator[PromptWarning]:
    if not any(ESCAPED_NEWLINE.search(text) for text in sent_texts(neutral.prompt)):
        return
    by_dataset = any(ESCAPED_NEWLINE.search(text) for text in filled_texts(neutral.filled))
    yield PromptWarning(
        r"a backslash and an n are sent (\n as two characters), where a newline is probably meant",
        probe.template if by_dataset else _model_template(probe),
        r"write '\n' with one backslash, and no r in front of the text",
    )


def _markers_as_text(probe: PromptProbe, neutral: Preview) -> Iterator[PromptWarning]:
    if any(map(has_marker, sent_texts(neutral.prompt))):
        yield PromptWarning(
            "the markers of images, audio or video (<AIS_IMAGE_START> ...) are sent as text",
            probe.template,
            "use MMPromptTemplate with prompt_mm, for examples too: only it reads the markers",
        )


def _leading_newline(probe: PromptProbe, neutral: Preview) -> Iterator[PromptWarning]:
    if next(iter(sent_texts(neutral.prompt)), "").startswith("\n"):
        yield PromptWarning(
            "the prompt starts with a newline: an empty text comes first, such as the place of missing examples",
            probe.template,
            "remove the empty text or the ice_token; keep it to compare scores with OpenCompass or AISBench",
        )


def _doubled_bos(probe: PromptProbe, neutral: Preview) -> Iterator[PromptWarning]:
    first = next(iter(sent_texts(neutral.prompt)), "")
    found = re.match(rf"\s*({BOS})" if probe.served else rf"\s*({BOS})\s*\1", first)
    if found:
        who = "the server puts it there too" if probe.served else "it is there already"
        yield PromptWarning(
            f"the model sees {found[1]} twice at the beginning: a template writes it, and {who}",
            probe.template if found[1] in "".join(filled_texts(neutral.filled)) else _model_template(probe),
            f"take {found[1]} out of the template",
        )


def _roles_twice(probe: PromptProbe, neutral: Preview) -> Iterator[PromptWarning]:
    if not _is_framed(probe, neutral):
        return
    twice = LABEL_TWICE.search(neutral.prompt) if isinstance(neutral.prompt, str) else None
    twice = twice or next(filter(None, map(SPEAKER.search, filled_texts(neutral.filled))), None)
    if twice is not None:
        yield PromptWarning(
            f"the template says who speaks ({quoted(twice[0].strip())}), and so does the model's format",
            probe.template,
            "leave it to the format: dict(role='HUMAN', prompt='{question}')",
        )


def _empty_slots(probe: PromptProbe, neutral: Preview) -> Iterator[PromptWarning]:
    if probe.meta is None or not probe.meta.round or isinstance(neutral.filled, str):
        return
    roles = dict.fromkeys(role for part in neutral.filled.parts() for role in _silent(part, probe.meta))
    if roles:
        yield PromptWarning(
            f"a round in which {' and '.join(roles)} says nothing is written all the same, with the text around it",
            probe.template,
            "give the role a prompt in the meta template, or a turn in each round; join two turns of one role",
        )


_LOOKS: Final[tuple[Callable[[PromptProbe, Preview], Iterator[PromptWarning]], ...]] = (
    unfilled,
    _unfilled_defaults,
    _no_column,
    _shown_gold,
    _escaped_newlines,
    _markers_as_text,
    _leading_newline,
    _doubled_bos,
    _roles_twice,
    _empty_slots,
)


def _is_framed(probe: PromptProbe, neutral: Preview) -> bool:
    """Return whether the format writes who speaks: always in messages and role templates, else only around turns."""
    if probe.gives_messages or probe.task.model.prompt_template is not None:
        return True
    return probe.meta is not None and not isinstance(neutral.filled, str)


def _silent(part: PromptSection, meta: MetaTemplate) -> Iterator[str]:
    """Return the roles that are silent in some round although their frame is written."""
    if part.name in ("begin", "end"):
        for example in part.body.parts():
            if example.name == "ice":
                yield from _silent(example, meta)
        return
    if part.name == CHAT:  # its turns are written one by one
        return
    rounds = [piece for piece in split_rounds(part.body, meta) if not isinstance(piece, str)]
    for said in rounds:
        yield from _silent_in_round(said, meta, is_asked=said is rounds[-1] and part.name != "ice")


def _silent_in_round(said: Container[int], meta: MetaTemplate, *, is_asked: bool) -> Iterator[str]:
    for index, slot in enumerate(meta.round):
        if not isinstance(slot, Slot) or index in said:
            continue
        if slot.generate and is_asked:  # here the model is to speak
            break
        if slot.prompt is None and slot.text():
            yield slot.role


def _model_template(probe: PromptProbe) -> str:
    key = "meta_template" if probe.task.model.prompt_template is None else "prompt_template"
    return f"{probe.task.model.where}.{key}"
