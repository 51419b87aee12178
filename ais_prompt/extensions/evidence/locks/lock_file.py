"""Read and write the lock file: JSON that people can review, in a stable order, one value per line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.preview import (
    PromptLock,
    TaskPrompts,
    compact_digest,
    messages_of_text,
    text_of_prompt,
)
from ais_prompt.store import reading, replacing
from ais_prompt.types import ChatMessage
from ais_prompt.utils import decode, encode, read_regular

FORMAT: Final = 1
"""Version of the file's format; files of other versions are refused."""

_WRITE_AGAIN: Final = "write it again: aisprompt lock"
_Digests = Annotated[str, Field(pattern=r"^([\w-]{8}( [\w-]{8})*)?$")]


def write_prompt_lock(path: Path, lock: PromptLock) -> None:
    """Write a lock, whole or not at all. Only the prompts in ``texts`` are written in full.

    Raises:
        StoreError: it cannot be written; the old file is unchanged.
    """
    content = PromptLockFile(
        format=FORMAT, config=lock.config, made_with=dict(lock.made_with), tasks=list(map(LockedTask.of, lock.tasks))
    )
    try:
        with replacing(path, json=True) as stream:
            stream.write(encode(content.model_dump(exclude_none=True), indent=2))
    except StoreError as error:
        error.fix = "name another place with --lock-file"
        raise


def read_prompt_lock(path: Path) -> PromptLock:
    """Read a file of `write_prompt_lock`.

    Raises:
        ConfigError: there is no file, it has another format, or it was edited by hand.
        StoreError: it cannot be read.
    """
    if not path.exists():
        raise ConfigError("there is no prompt lock", where=str(path), fix="write one: aisprompt lock CONFIG")
    with reading(path, fix="check its permissions"):
        content = read_regular(path)
    try:
        values = decode(content.decode("utf-8-sig"))
    except ValueError as error:
        fix = f"take it from version control, or {_WRITE_AGAIN}"
        raise ConfigError(f"the lock is not JSON: {error}", where=str(path), fix=fix) from None
    if not isinstance(values, dict) or "format" not in values:
        raise ConfigError("this is not a prompt lock", where=str(path), fix="name another file with --lock-file")
    if values["format"] != FORMAT:
        what = f"the lock has the format {values['format']!r}, this version of ais-prompt reads {FORMAT}"
        raise ConfigError(what, where=str(path), fix=f"{_WRITE_AGAIN}, or use the version that wrote it")
    try:
        file = PromptLockFile.model_validate(values)
    except ValidationError as error:
        raise _edited(_first_fault(error), path) from None
    return PromptLock(file.config, file.made_with, [task.prompts(path) for task in file.tasks])


def _edited(what: str, path: Path) -> ConfigError:
    fix = f"locks are not edited by hand: take it from version control, or {_WRITE_AGAIN}"
    return ConfigError(f"the lock is broken: {what}", where=str(path), fix=fix)


def _first_fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    place = ".".join(map(str, fault["loc"]))
    known = {
        "extra_forbidden": "there is no such key",
        "string_pattern_mismatch": "not digests of 8 characters",
    }
    return f"{place}: {known.get(fault['type'], fault['msg'])}"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class KeptMessage(_Strict):
    """A message. Text is stored as a list of lines, so that a changed line is one line of a git diff."""

    role: str
    content: list[str] | list[dict[str, Any]]


class KeptPrompts(_Strict):
    """The prompts of one sample in full, each as the lines of a text or a list of messages."""

    id: str
    prompts: list[list[str] | list[KeptMessage]]


class LockedTask(_Strict):
    """The prompts of one model on one dataset.

    Attributes:
        model, dataset: their ``abbr``.
        parts: kind (``data``, ``templates``) → what determines the prompts.
        characters: total length of all prompts.
        tokens: total tokens of all prompts; missing without a tokenizer.
        kept: a few prompts in full.
        digests: id of the row → the first 48 bits of SHA-256 of each of its prompts as base64url, between spaces.
    """

    model: str
    dataset: str
    parts: dict[str, dict[str, Any]]
    characters: int
    tokens: int | None = None
    kept: list[KeptPrompts]
    digests: dict[str, _Digests]

    @classmethod
    def of(cls, task: TaskPrompts) -> LockedTask:
        return cls(
            model=task.model,
            dataset=task.dataset,
            parts={kind: dict(named) for kind, named in task.parts.items()},
            characters=task.characters,
            tokens=task.tokens,
            kept=[KeptPrompts(id=sample, prompts=list(map(_lines, texts))) for sample, texts in task.texts.items()],
            digests={sample: " ".join(digests) for sample, digests in task.digests.items()},
        )

    def prompts(self, path: Path) -> TaskPrompts:
        digests = {sample: tuple(written.split()) for sample, written in self.digests.items()}
        texts = {kept.id: tuple(map(_text, kept.prompts)) for kept in self.kept}
        for sample, of_sample in texts.items():
            if digests.get(sample) != tuple(map(compact_digest, of_sample)):
                raise _edited(f"the prompt of {sample} does not match its digest", path)
        return TaskPrompts(self.model, self.dataset, self.parts, digests, texts, self.characters, self.tokens)


class PromptLockFile(_Strict):
    """What the prompts of a config were.

    Attributes:
        format: version of the form.
        config: name of the config.
        made_with: package → its version, of packages that can change a prompt; not compared.
        tasks: the prompts of each model on each dataset.
    """

    format: Literal[1]
    config: str
    made_with: dict[str, str]
    tasks: list[LockedTask]


def _lines(text: str) -> list[str] | list[KeptMessage]:
    turns = [KeptMessage(role=message.role, content=_content_lines(message)) for message in messages_of_text(text)]
    return turns or text.split("\n")


def _content_lines(message: ChatMessage) -> list[str] | list[dict[str, Any]]:
    content = message.content
    return content.split("\n") if isinstance(content, str) else [dict(part) for part in content]


def _text(written: list[str] | list[KeptMessage]) -> str:
    lines = [line for line in written if isinstance(line, str)]
    turns = [turn for turn in written if isinstance(turn, KeptMessage)]
    return text_of_prompt(tuple(map(_message, turns))) if turns else "\n".join(lines)


def _message(turn: KeptMessage) -> ChatMessage:
    lines = [line for line in turn.content if isinstance(line, str)]
    parts = [part for part in turn.content if isinstance(part, dict)]
    return ChatMessage(turn.role, tuple(parts) if not lines else "\n".join(lines))
