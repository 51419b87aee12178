"""Warn of prompts that follow the rules of OpenCompass and AISBench, but surprise people.

There are three kinds: placeholders that nothing fills, texts of the config that the model is not sent, and forms such
as a doubled BOS. Nothing here stops a run: each warning says what was seen, where it comes from and what can be done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, Final

from ais_prompt.checks.prompt_warning import (
    GOLD,
    NEUTRAL_TEXT,
    MisspeltPlaceholder,
    PromptProbe,
    PromptWarning,
    filled_texts,
    quoted,
    sent_texts,
    texts_in,
)
from ais_prompt.config import TURN
from ais_prompt.inferencers import Preview
from ais_prompt.prompts import (
    CHAT,
    Item,
    MetaTemplate,
    PromptList,
    PromptSection,
    Slot,
    has_marker,
    mark_of,
    split_rounds,
    text_of,
)
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import RoleSpec
from ais_prompt.utils import late, listed, nearest

BOS: Final = r"<s>|<bos>|<BOS>|\[BOS\]|<\|begin_of_text\|>|<\|startoftext\|>|<｜begin▁of▁sentence｜>"
"""How tokenizers write the beginning of a sequence. Asking the model's own would need files that may not be here."""

SPEAKER: Final = late(
    r"^[ \t#]*(?:human|user|assistant|bot|ai|system)[ \t]*[:：]"
    r"|<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|<\|(?:user|assistant|system)\|>|\[INST\]|<<SYS>>",
    re.IGNORECASE | re.MULTILINE,
)
"""A text that says who speaks: ``User:`` at the start of a line, or a mark of a chat format."""

LABEL_TWICE: Final = late(r"(\b\w+[ \t]?[:：])[ \t]*\1", re.IGNORECASE)
"""``Question: Question:``."""

ESCAPED_NEWLINE: Final = late(
    r"(?<![\\'\"`])\\n(?!['\"`]|(?:abla|atural|e|earrow|eg|eq|ewcommand|ewline|exists|ge|geq|i|le|leq|leftarrow|mid|"
    r"oindent|olimits|onumber|ormalsize|ot|otin|parallel|prec|rightarrow|sim|subseteq|succ|u|warrow)(?![A-Za-z]))"
)
"""A backslash and an n. Not in quotes, where an instruction names it, and not in a command of LaTeX (``\\nabla``)."""

PLACEHOLDER: Final = late(r"(\\[A-Za-z]+)?(\{[^\W\d]\w*\})")
"""``{name}``; what belongs to a LaTeX command, such as ``\\boxed{answer}``, is in the first group too."""

IN_BRACES: Final = late(r"(\\[A-Za-z]+)?(\{([^{}\n]{1,80})\})")
"""Anything short in braces; the groups as in `PLACEHOLDER`, and what is between the braces."""

_FILLED_IN_BRACES: Final = late(rf"(?<![\w\\{{}}])\{{{NEUTRAL_TEXT}\}}(?!\}})")
r"""A value in braces that are no argument of LaTeX, as in ``\boxed{{answer}}``, and no JSON."""

SHORTEST: Final = 3
"""Characters of a name that one edit does not turn into any other name."""

ENDS: Final = "the prompt ends where the model starts to write, so"


def prompt_warnings(probe: PromptProbe) -> list[PromptWarning]:
    """Return the warnings of a prompt."""
    filled = probe.seen.filled
    found = [*_lost_frame(probe), *_lost_end(probe), *_lost_stop_tokens(probe), *_hidden_answers(probe)]
    if isinstance(filled, PromptList):
        found += [warning for look in _LOST_TEXT_CHECKS for warning in look(probe, filled)]
    if probe.neutral is not None:
        found += [warning for look in _LOOKS for warning in look(probe, probe.neutral)]
    return found


def label_warnings(probes: Sequence[PromptProbe]) -> list[PromptWarning]:
    """Warn if the prompts of all labels of a sample are equal: the first label always wins then."""
    if len(probes) < 2 or any(probe.seen.gold != "every label" for probe in probes):
        return []
    if any(probe.seen.prompt != probes[0].seen.prompt for probe in probes):
        return []
    from ais_prompt.inferencers import label_fix  # of a module that most runs do not use

    what = f"all {len(probes)} labels have the same prompt, so the first label always wins"
    fix = label_fix(len(probes), "write the template as a table by label: template={'A': '... A', 'B': '... B'}")
    return [PromptWarning(what, probes[0].template, fix)]


def shows_gold(probe: PromptProbe) -> bool:
    """Return whether a template writes the gold into the prompt."""
    return probe.neutral is not None and any(GOLD in text for text in sent_texts(probe.neutral.prompt))


def unfilled(probe: PromptProbe, neutral: Preview) -> Iterator[PromptWarning]:
    """Yield a warning for each placeholder of the dataset's templates that is sent as it is."""
    texts = list(filled_texts(neutral.filled))
    for mark, column in unfilled_marks(texts, neutral, probe.columns).items():
        yield unfilled_warning(mark, column, mark, probe, probe.template)


def unfilled_warning(mark: str, column: str, named: str, probe: PromptProbe, where: str) -> PromptWarning:
    """Return the warning for a placeholder that is sent as it is.

    Args:
        mark, column: from `unfilled_marks`.
        named: the placeholder in words.
        probe: the prompt.
        where: config path of the text.
    """
    near = column or nearest(mark.strip("{}"), probe.columns) or ""
    fix = f"did you mean {{{near}}}? " * bool(near) + f"the columns are {listed(probe.columns)}"
    what = f"{named} is sent as it is: nothing is filled in there"
    if not column:
        return PromptWarning(what, where, fix)
    infer = probe.task.dataset.infer
    templates = [str(part.args) for part in (infer.prompt_template, infer.ice_template) if part]
    return MisspeltPlaceholder(what, where, fix, mark, not any(mark_of(column) in text for text in templates))


def unfilled_marks(texts: Sequence[str], neutral: Preview, columns: Sequence[str]) -> dict[str, str]:
    """Return each placeholder in the texts that is sent, with the column that it misspells; "" if it is near none."""
    marks: dict[str, str] = {}
    texts = [text for text in texts if "{" in text]
    if not texts:
        return marks
    sent = "\n".join(sent_texts(neutral.prompt))
    for text in texts:
        plain = {found[2] for found in PLACEHOLDER.finditer(text) if not found[1]}
        for found in IN_BRACES.finditer(text):
            column = _misspelt_column(found[3], columns)
            if not found[1] and found[2] in sent and (column or found[2] in plain):
                marks[found[2]] = column
    return marks


def _misspelt_column(name: str, columns: Sequence[str]) -> str:
    """Return the column that a name in braces misspells: by blanks, by case, or by one edit; "" if it is near none."""
    folded = name.strip().casefold()
    for column in columns:
        known = column.casefold()
        if folded == known or (min(len(folded), len(known)) >= SHORTEST and is_one_edit(folded, known)):
            return column
    return ""


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


def _shown_gold(probe: PromptProbe, neutral: Preview) -> Iterator[PromptWarning]:  # noqa: ARG001
    if shows_gold(probe):
        column = probe.task.dataset.reader.output_column
        yield PromptWarning(
            f"the model is shown the gold answer: the prompt has the output column {column!r} in it",
            probe.template,
            f"take {{{column}}} out of the template; in a label table write the label's own text in its place",
        )


def _escaped_newlines(probe: PromptProbe, neutral: Preview) -> Iterator[PromptWarning]:
    if getattr(INFERENCERS.get(probe.task.dataset.infer.inferencer.type), "shows_python", False):
        return
    if not any(ESCAPED_NEWLINE.search(text) for text in sent_texts(neutral.prompt)):
        return
    by_dataset = any(ESCAPED_NEWLINE.search(text) for text in filled_texts(neutral.filled))
    yield PromptWarning(
        r"a backslash and an n are sent (\n as two characters), where a newline is probably meant",
        probe.template if by_dataset else _model_template(probe),
        r"write '\n' with one backslash, and no r in front of the text",
    )


def _doubled_braces(probe: PromptProbe, neutral: Preview) -> Iterator[PromptWarning]:
    if any(_FILLED_IN_BRACES.search(text) for text in filled_texts(neutral.filled)):
        yield PromptWarning(
            "a column in double braces is sent with braces around its value: {{column}} becomes {value}",
            probe.template,
            "write {column}",
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
    # The format writes who speaks: always in messages and role templates, else only around turns.
    always = probe.gives_messages or probe.task.model.prompt_template is not None
    if not always and (probe.meta is None or isinstance(neutral.filled, str)):
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


_LOOKS: Final[tuple[Callable[[PromptProbe, Preview], Iterator[PromptWarning]], ...]] = (
    unfilled,
    _unfilled_defaults,
    _no_column,
    _shown_gold,
    _doubled_braces,
    _escaped_newlines,
    _markers_as_text,
    _leading_newline,
    _doubled_bos,
    _roles_twice,
    _empty_slots,
)


def _lost_items(probe: PromptProbe, filled: PromptList) -> Iterator[PromptWarning]:
    sent = "\n".join(sent_texts(probe.seen.prompt))
    lost = [item for item in filled if text_of(item).strip() not in sent and not _is_answer(item, probe)]
    texts = [item for item in lost if isinstance(item, str)]
    turns = [text_of(item) for item in lost if not isinstance(item, str)]
    if texts and probe.gives_messages:
        yield PromptWarning(
            f"messages have no place for a text that no role says, so it is not sent: {_first(texts)}",
            probe.template,
            "write it as a turn, dict(role='SYSTEM', fallback_role='HUMAN', prompt='...'); examples as a dialogue",
        )
    elif texts:
        what = f"{ENDS} a text behind that is not sent: {_first(texts)}"
        yield PromptWarning(what, probe.template, "put it into begin or round")
    # A role template may be code of the user's own, which changes what is said.
    if turns and probe.task.model.prompt_template is None:
        what = f"{ENDS} a turn behind that is not sent: {_first(turns)}"
        yield PromptWarning(what, probe.template, "put it into begin or round")


def _is_answer(item: Item, probe: PromptProbe) -> bool:
    """Return whether this turn is the answer that the model generates."""
    if isinstance(item, str) or not probe.continued:
        return False
    slot = probe.framing and (
        probe.framing.slot(str(item.get("role"))) or probe.framing.slot(str(item.get("fallback_role")))
    )
    return bool(item.get("generate", slot.generate if slot else item.get("role") == "BOT"))


def _text_in_round(probe: PromptProbe, filled: PromptList) -> Iterator[PromptWarning]:
    if probe.meta is None or not probe.meta.round:
        return
    rounds = [part.body for part in filled.parts() if part.name == "round"]
    for text in [item for items in rounds for item in items if isinstance(item, str) and item.strip()]:
        yield PromptWarning(
            f"a text in 'round' has no role, so it is written in front of the whole round: {quoted(text)}",
            probe.template,
            "put it into begin, or into the prompt of a turn",
        )


def _no_role_generates(probe: PromptProbe, filled: PromptList) -> Iterator[PromptWarning]:
    meta = probe.framing
    has_rounds = any(part.name == "round" for part in filled.parts())
    if meta is None or not meta.round or meta.generates or not has_rounds or not probe.continued:
        return
    if not any(not isinstance(item, str) and item.get("generate") for item in filled):
        yield PromptWarning(
            "no role of the meta template has generate=True, so the prompt is sent whole: the last BOT turn, what "
            "follows it, and the meta template's end",
            f"{probe.task.model.where}.meta_template",
            "give the role that the model speaks generate=True",
        )


def _frame_without_meta(probe: PromptProbe, filled: PromptList) -> Iterator[PromptWarning]:
    if probe.framing is not None or probe.gives_messages:
        return
    frames = [item[key] for item in filled if not isinstance(item, str) for key in ("begin", "end") if item.get(key)]
    if frames:
        yield PromptWarning(
            f"without a meta template, begin and end of a turn are not sent: {_first(frames)}",
            probe.template,
            "give the model a meta_template, dict(begin='') will do, or write the text into the turn's prompt",
        )


def _keys_without_meaning(probe: PromptProbe, filled: PromptList) -> Iterator[PromptWarning]:
    turns = [item for item in filled if not isinstance(item, str) and "content" not in item]
    for key, fix in {key: fix for turn in turns for key, fix in TURN.unknown(turn)}.items():
        yield PromptWarning(f"the key {key!r} of a turn has no meaning here", probe.template, fix)


def _lost_frame(probe: PromptProbe) -> Iterator[PromptWarning]:
    """Warn of turns of a chat model that are not sent, as in OpenCompass: beside a text, and beside whole messages."""
    spec = probe.task.model.meta_template
    if spec is None or not probe.gives_messages:
        return
    is_text = isinstance(probe.seen.filled, str)
    begin = spec.begin if isinstance(spec.begin, list | tuple) else [spec.begin]
    frame = [*(turn.get("prompt") if isinstance(turn, Mapping) else turn for turn in begin), *spec.messages]
    frame += [slot.prompt for slot in spec.round or () if is_text and isinstance(slot, RoleSpec)]
    texts = [text for part in frame for text in texts_in(getattr(part, "content", part)) if "{" not in text]
    sent = "\n".join(sent_texts(probe.seen.prompt))
    if lost := [text for text in texts if text.strip() not in sent]:
        yield PromptWarning(
            f"the model's meta_template is not applied to {'a text' if is_text else 'these messages'}, so it is not "
            f"sent: {_first(lost)}",
            probe.template,
            "write the template as turns: dict(round=[dict(role='HUMAN', prompt='{question}')])",
        )


def _lost_end(probe: PromptProbe) -> Iterator[PromptWarning]:
    if probe.gives_messages and probe.framing is not None and probe.framing.end:
        yield PromptWarning(
            f"the end of a chat model's meta template is not sent: {quoted(str(probe.framing.end))}",
            f"{probe.task.model.where}.meta_template.end",
            "write it as a turn of the dataset's template, or as begin",
        )


def _lost_stop_tokens(probe: PromptProbe) -> Iterator[PromptWarning]:
    if probe.framing is not None and probe.framing.end_tokens and probe.continued and not probe.knows_stop_tokens:
        yield PromptWarning(
            "the server knows no ids of tokens, so eos_token_id is not sent",
            f"{probe.task.model.where}.meta_template.eos_token_id",
            "use stop_words of the model",
        )


def _hidden_answers(probe: PromptProbe) -> Iterator[PromptWarning]:
    if probe.hides_answers:
        yield PromptWarning(
            "the role template leaves out what the assistant says, so no answer is sent: neither those of examples "
            "and earlier turns, nor the text in which the model starts to write",
            f"{probe.task.model.where}.prompt_template",
            "keep the content of the assistant's messages, and write text before and behind it",
        )


def _first(texts: list[Any]) -> str:
    more = f", and {len(texts) - 1} more" if len(texts) > 1 else ""
    return quoted(str(texts[0])) + more


def is_one_edit(one: str, other: str) -> bool:
    """Return whether two texts are equal, or one character was added, left out, replaced, or swapped with the next.

    Source: the optimal string alignment distance of Damerau and Levenshtein, at most 1.
    """
    if abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    one, other = one[start:], other[start:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return (len(one) <= 1 and len(other) <= 1) or (len(one) == len(other) == 2 and one == other[::-1])


_LOST_TEXT_CHECKS: Final[tuple[Callable[[PromptProbe, PromptList], Iterator[PromptWarning]], ...]] = (
    _lost_items,
    _text_in_round,
    _no_role_generates,
    _frame_without_meta,
    _keys_without_meaning,
)
