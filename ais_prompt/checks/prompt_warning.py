"""The values that warnings are made of: the warning, and the probe of a prompt.

A probe holds the prompt of a sample, and the same prompt with neutral data, which shows what the templates write.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.config import Note
from ais_prompt.inferencers import InferenceContext, Inferencer, Preview
from ais_prompt.models import AsyncModel
from ais_prompt.plan import knows_stop_tokens
from ais_prompt.prompts import (
    META_TEMPLATE,
    ApiFormat,
    ChatFormat,
    Filled,
    LanguageModelFormat,
    LocalFilesFormat,
    MessagesFormat,
    MetaTemplate,
    RoleTemplateFormat,
    RoleTemplateMessages,
    TokenizerChatFormat,
    has_marker,
    hides_answers,
)
from ais_prompt.terminal import FACT, NOTE
from ais_prompt.types import Prompt, Sample, TaskSpec

GOLD: Final = "\ue000gold\ue000"
"""Replaces the gold in a neutral prompt. Private characters, which occur in no template."""

NEUTRAL_TEXT: Final = "\ue001"
"""Replaces a text of the question: nothing in it looks like a placeholder, a role or a newline of a template."""

NEUTRAL_SHOT: Final = "\ue002"
"""Replaces a text of an in-context example."""

WIDTH: Final = 72
"""Characters of a line of a note; a label is put in front of it."""

SHOWN: Final = 60
"""Characters of a text that a warning quotes."""


class PromptWarning(Struct, frozen=True):
    """Something about a prompt that the user may not expect.

    Attributes:
        what: one sentence that says what was seen.
        where: config path of what causes it.
        fix: what the user can do about it.
    """

    label: ClassVar[str] = "Warning"

    what: str
    where: str
    fix: str

    def __str__(self) -> str:
        return f"{self.what}\n  where: {self.where}\n  fix:   {self.fix}"

    def labelled(self) -> str:
        """Return the text with its label in front."""
        return f"{self.label}: {self}"


class MisspeltPlaceholder(PromptWarning, frozen=True):
    """A placeholder that is nearly a column. Almost surely a mistake, so commands repeat it where they end.

    Attributes:
        mark: the placeholder, as in the template.
        is_fault: whether no template shows the column, so that the model lacks it.
    """

    mark: str = ""
    is_fault: bool = False

    @staticmethod
    def summary(warnings: Sequence[PromptWarning]) -> str:
        """Return one line that names all such placeholders; empty if there are none."""
        marks = dict.fromkeys(one.mark for one in warnings if isinstance(one, MisspeltPlaceholder))
        if not marks:
            return ""
        return f"Misspelt placeholder: {', '.join(marks)}. No column has this name, so the model is sent the braces."


class TranslationNote(PromptWarning, frozen=True):
    """A note on a config: how its words were understood, and what another program would have done.

    Attributes:
        level: as of `ais_prompt.config.Note`.
    """

    label: ClassVar[str] = "Note"

    level: int = NOTE

    def __str__(self) -> str:
        if self.level == FACT:
            return self.what
        text = "; ".join(filter(None, (self.what, self.fix)))
        lines = textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
        return "\n".join([*lines, *([f"  where: {self.where}"] if self.where else [])])

    def labelled(self) -> str:
        """Return the text with its label in front, unless it describes the run."""
        return str(self) if self.level == FACT else super().labelled()


def translation_notes(notes: Sequence[Note], place: Callable[[str], str]) -> list[PromptWarning]:
    """Return each note once, with its first place and the number of the others.

    Args:
        notes: those of a config.
        place: from a config path to the words that tell the user where that is.
    """
    groups: dict[tuple[str, str], list[Note]] = {}
    for note in notes:
        groups.setdefault((note.what, note.fix), []).append(note)
    found: list[PromptWarning] = []
    for first, *others in groups.values():
        more = f" and {len(others):,} more" if others else ""
        where = place(first.where) if first.where else ""
        found.append(TranslationNote(first.what, where + more, first.fix, first.level))
    return found


class PromptProbe(Struct, frozen=True):
    """One prompt of a task, with what is needed to find its warnings.

    Attributes:
        task: the model and the dataset.
        seen: the prompt.
        neutral: the same prompt of a row whose texts are meaningless and whose gold is `GOLD`, so that whatever else
            is in it was written by a template; None if there can be none.
        meta: the meta template with which a language model frames dialogues; None for other formats.
        gives_messages: the model is given messages (that its tokenizer may then write as one text).
        served: the prompt goes to a server, which puts BOS in front of it by itself.
        fields: column → value of the row.
        framing: the meta template of the model, its default included, for whichever format; None if it has none.
        continued: the model is to continue the prompt, which is not scored as it is.
        knows_stop_tokens: the ``eos_token_id`` of a meta template can end its answers.
        hides_answers: the model's role template leaves out what the assistant says.
    """

    task: TaskSpec
    seen: Preview
    neutral: Preview | None
    meta: MetaTemplate | None
    gives_messages: bool
    served: bool
    fields: Mapping[str, Any]
    framing: MetaTemplate | None
    continued: bool
    knows_stop_tokens: bool
    hides_answers: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the row."""
        return tuple(self.fields)

    @property
    def template(self) -> str:
        """Config path of the dataset's template."""
        infer = self.task.dataset.infer
        part = infer.prompt_template or infer.ice_template
        return part.where if part else infer.where


def probe_prompts(
    task: TaskSpec, inferencer: Inferencer, context: InferenceContext, sample: Sample, shots: Sequence[Sample]
) -> list[PromptProbe]:
    """Build every prompt of a sample.

    Raises:
        AisPromptError: one of them cannot be built.
    """
    seen = inferencer.preview(sample, shots, context)
    meta = context.chat.meta if isinstance(context.chat, LanguageModelFormat) else None
    chat = context.chat.inner if isinstance(context.chat, LocalFilesFormat) else context.chat
    answers_hidden = isinstance(chat, RoleTemplateFormat | RoleTemplateMessages) and hides_answers(chat.template)
    return [
        PromptProbe(
            task,
            preview,
            neutral,
            meta,
            gives_messages=task.model.prompt_template is None and context.model.prompt_style != "text",
            served=isinstance(context.model, AsyncModel),
            fields=sample.fields,
            framing=_meta_template_of(context.chat),
            continued=inferencer.mask is not None,
            knows_stop_tokens=knows_stop_tokens(context.model),
            hides_answers=answers_hidden,
        )
        for preview, neutral in zip(
            seen, _neutral_previews(task, inferencer, context, sample, shots, len(seen)), strict=True
        )
    ]


def filled_texts(filled: Filled) -> Iterator[str]:
    """Return the texts that the dataset's templates write."""
    for item in [filled] if isinstance(filled, str) else filled:
        if isinstance(item, str):
            yield item
        else:
            for key in ("prompt", "prompt_mm", "content"):
                yield from texts_in(item.get(key))


def sent_texts(prompt: Prompt) -> Iterator[str]:
    """Return the texts that the model gets: the prompt, or its messages."""
    if isinstance(prompt, str):
        yield prompt
    else:
        for message in prompt:
            yield from texts_in(message.content)


def texts_in(content: Any) -> Iterator[str]:
    """Yield the texts of a text, of a list of parts in OpenAI form, or of nothing."""
    if isinstance(content, str):
        yield content
    elif content:
        yield from (part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str))


def quoted(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")


HARMLESS: Final = str.maketrans("{}\\", "()/")
"""What becomes of braces and backslashes in messages and media of the data, which keep their texts otherwise."""


def _meta_template_of(chat: ChatFormat | MessagesFormat) -> MetaTemplate | None:
    """Return the meta template of a format; None if it has none."""
    match chat:
        case RoleTemplateFormat():
            return META_TEMPLATE
        case LocalFilesFormat():
            return _meta_template_of(chat.inner)
        case TokenizerChatFormat():
            return _meta_template_of(chat.messages)
        case ApiFormat() | LanguageModelFormat():
            return chat.meta
        case _:
            return None


def _neutral_previews(
    task: TaskSpec,
    inferencer: Inferencer,
    context: InferenceContext,
    sample: Sample,
    shots: Sequence[Sample],
    count: int,
) -> Sequence[Preview | None]:
    """Build the same prompts with neutral data; None for each if a user-defined part cannot handle such data."""
    gold = task.dataset.reader.output_column
    try:
        found = inferencer.preview(
            _with_gold_mark(neutral_sample(sample), gold),
            [neutral_sample(shot, NEUTRAL_SHOT) for shot in shots],
            context,
        )
    except Exception:  # templates and formats may be the user's own, and expect whatever they like of a value
        found = []
    return found if len(found) == count else [None] * count


def neutral_sample(sample: Sample, text: str = NEUTRAL_TEXT) -> Sample:
    """Return the sample under another id, since ids distinguish examples; its label stays, for label tables."""
    return replace(
        sample,
        id=f"neutral {sample.id}",
        fields={name: _neutral_value(value, text) for name, value in sample.fields.items()},
    )


def _neutral_value(value: Any, text: str) -> Any:
    if isinstance(value, list | tuple):
        return [_neutral_value(entry, text) for entry in value]
    if isinstance(value, Mapping):  # a message: its role and its shape must stay
        return {key: _harmless(entry) for key, entry in value.items()}
    if has_marker(value):
        return _harmless(value)
    return text if isinstance(value, str) and value.strip() else value


def _harmless(value: Any) -> Any:
    """Return a text without placeholders and escaped newlines, which would look like those of a template."""
    return value.translate(HARMLESS) if isinstance(value, str) else value


def _with_gold_mark(sample: Sample, column: str | None) -> Sample:
    if column is None or column not in sample.fields:
        return sample
    value = sample.fields[column]
    # Of a dialogue only the last answer is asked for; the earlier ones are part of the question.
    marked = [*value[:-1], GOLD] if isinstance(value, list) and value else GOLD
    return replace(sample, fields={**sample.fields, column: marked})
