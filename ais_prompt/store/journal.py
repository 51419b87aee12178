"""The journal of a task: every finished request is stored at once, so that no request is sent twice.

One JSON object a line: ``{"key", "sample_id", "turn", "repeat", "completion"}``. A line may also have

- ``former``: the key of an earlier version whose answer it repeats,
- ``retries``: the key of a truncated answer; the answer of this line takes its place,
- ``files``: the media files that were sent, each with ``path``, ``mime``, ``bytes`` and ``sha256``,
- ``times``: when the steps of a request happened, if a load was measured,
- ``step`` and ``request``: the number of the request in a sample of an agent, with its prompt and options,
- ``begun``: true if a tool was about to be called; the line with its result follows.

The file is append-only. A killed process leaves at most one torn line at the end, which is cut off when the journal is
opened again. The file is flushed to the disk when it is closed; until then the operating system writes it within about
half a minute, which a power failure can lose. Answers are read from the disk when they are needed. Memory holds only
the positions of answers from earlier sessions, because no request is made twice in one run.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

from msgspec import Raw, Struct, convert
from msgspec.json import Decoder

from ais_prompt.secrets import SECRETS
from ais_prompt.store.disk import reading, unwritable, writing
from ais_prompt.store.request_keys import is_former_key
from ais_prompt.types import Completion, FinishReason, Request, decoding_to_json, prompt_to_json
from ais_prompt.utils import Spill, decode_own, encode, encode_plain, noted_files, open_in_folder

logger = logging.getLogger(__name__)
_UNREADABLE: Final = "repair the disk, or start a new run without -r"


class Journal:
    """Finished requests of one task. Not thread-safe; one process at a time (`ais_prompt.store.layout`).

    Attributes:
        path: the file.
        skipped: number of lines that could not be read when it was opened; their requests are sent again.
        has_former_keys: whether it had answers of an earlier version when it was opened.
        steps: number of answers to agents when it was opened.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        """Use `Journal.open`."""
        self.path = path
        self.skipped = 0
        self.has_former_keys = False
        self.steps = 0
        self._begun: set[str] = set()  # keys of calls of tools without a result
        self._descriptor = descriptor
        self._lines: BinaryIO | None = None  # to read, where there is something to be read
        self._answers: dict[str, int] = {}  # key → where its line begins, in bytes
        self._end = 0

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or create a journal. A torn last line is fixed; lines that cannot be read are counted and kept.

        Raises:
            StoreError: the file cannot be read or written.
        """
        with writing(path):
            # `O_APPEND`: no write of ours can land in the middle of a line, whatever moved the position.
            journal = cls(path, open_in_folder(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644))
        try:
            if os.fstat(journal._descriptor).st_size:
                journal._load()
        except BaseException:
            journal._close_files()
            raise
        return journal

    def __len__(self) -> int:
        """Return the number of answers that `get` finds."""
        return len(set(self._answers.values()))

    def get(self, key: str) -> Completion | None:
        """Return the answer under a key; None if there is none. Recorded failures are not answers.

        Raises:
            StoreError: the file cannot be read.
        """
        if (place := self._answers.get(key)) is None:
            return None
        with reading(self.path, fix=_UNREADABLE):
            lines = self._reader()
            lines.seek(place)
            line = lines.readline()
        return _answer_in(line)

    def adopt(self, former: str, key: str, request: Request) -> Completion | None:
        """Return the answer under an earlier version's key, and store it under its present key; None if there is none.

        Raises:
            StoreError: the file cannot be read or written.
        """
        answer = self.get(former)
        if answer is not None:
            # Written under the new key first: a process that is killed here finds it under both, and asks nothing
            # twice.
            self.append(key, request, answer, findable=True, former=former)
            del self._answers[former]
        return answer

    def append(
        self,
        key: str,
        request: Request,
        completion: Completion,
        *,
        findable: bool = False,
        former: str | None = None,
        times: Mapping[str, Any] | None = None,
        begun: bool = False,
    ) -> None:
        """Write a finished request. After this, it survives the end of the process.

        Args:
            key: of the request.
            request: the request.
            completion: the answer or failure.
            findable: whether `get` finds the answer at once, which takes memory; else after the next opening.
            former: the key of an earlier version that the answer was found under.
            times: when its steps happened; None if no load is measured.
            begun: whether the request is about to begin; the completion is the failure that a crash leaves behind.

        Raises:
            StoreError: it cannot be written, for example because the disk is full; the journal is unchanged.
        """
        line = SECRETS.hide_in_json(
            encode_plain(
                {
                    "key": key,
                    **({} if former is None else {"former": former}),
                    **({"retries": request.retries} if request.retries else {}),
                    "sample_id": request.sample_id,
                    "turn": request.turn,
                    "repeat": request.repeat,
                    **({"files": files} if (files := noted_files(request.prompt)) else {}),
                    **({} if times is None else {"times": times}),
                    **({} if request.step is None else {"step": request.step, "request": _asked(request)}),
                    **({"begun": True} if begun else {}),
                    "completion": completion.to_json(),
                }
            )
        )
        self._write(line)
        if findable and completion.failure is None:
            # Only now: an answer that is not on its way to the disk must not be found.
            self._answers[key] = self._end
        self._end += len(line)

    def was_cut_off(self, key: str) -> bool:
        """Return whether an earlier session began a call of a tool, and ended before its result was known."""
        return key in self._begun

    def close(self) -> None:
        """Flush the file to disk and close it. May be called more than once."""
        if self._descriptor < 0:
            return
        try:
            with writing(self.path):
                os.fsync(self._descriptor)
        finally:
            self._close_files()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _reader(self) -> BinaryIO:
        """Return a stream of its own to read: its position does not move when the journal is written."""
        if self._lines is None:
            self._lines = self.path.open("rb")
        return self._lines

    def _close_files(self) -> None:
        if self._lines is not None:
            self._lines.close()
        descriptor, self._descriptor = self._descriptor, -1
        with writing(self.path):  # NFS reports a quota only now
            os.close(descriptor)

    def _load(self) -> None:
        line = b""
        with reading(self.path, fix=_UNREADABLE):
            for line in self._reader():
                self._index(line)
        self.has_former_keys = any(map(is_former_key, self._answers))
        if line and not line.endswith(b"\n"):
            self._repair_last_line(line)
        if self.skipped:
            logger.warning("%s: %d unreadable line(s) skipped; their requests are sent again", self.path, self.skipped)

    def _index(self, line: bytes) -> None:
        try:
            found, is_answer = _parse(line)
        except ValueError:
            # The unfinished line of a killed process is no loss: its request was never reported as done.
            self.skipped += line.endswith(b"\n")
        else:
            if found.begun:
                self._begun.add(found.key)
            if is_answer:
                self._begun.discard(found.key)
                self.steps += found.step is not None and found.key not in self._answers
                # The line repeats the answer of an earlier version, whose key is not looked up any more.
                self._answers.pop(found.former, None)
                self._answers.update(dict.fromkeys(found.keys, self._end))
        self._end += len(line)

    def _repair_last_line(self, line: bytes) -> None:
        """End the last line if only its newline is missing; otherwise cut it off."""
        try:
            _parse(line)
        except ValueError:
            self._end -= len(line)
            with writing(self.path):
                os.ftruncate(self._descriptor, self._end)
            logger.info("%s: an unfinished last line of %d bytes was cut off", self.path, len(line))
        else:
            self._write(b"\n")
            self._end += 1

    def _write(self, data: bytes) -> None:
        try:
            # A full disk accepts a part of a line first and refuses the rest at the next call.
            written = os.write(self._descriptor, data)
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError as error:
            with writing(self.path):
                # The part of the line that was written goes again, so that the next session finds whole lines only.
                os.ftruncate(self._descriptor, self._end)
            raise unwritable(self.path, error) from error


class JournalView:
    """Read finished requests from several journals, to which other processes may add. Nothing is written.

    Unlike `Journal`, it also returns failures, unless there is an answer to the same request. If several files answer
    one request, the first of them counts, and in one file its last line. Completions are kept in a temporary file, so
    that a thousand journals need not be opened again.

    Attributes:
        has_former_keys: whether there are answers of an earlier version.
    """

    def __init__(self, *paths: Path) -> None:
        """Read journals; one that does not exist is empty.

        Raises:
            StoreError: a file cannot be read.
        """
        self._completions = Spill()
        self._places: dict[str, int] = {}  # key → twice the number of its completion, one more if it is an answer
        for path in paths:
            if path.exists():
                with reading(path, fix="repair the disk"), path.open("rb") as lines:
                    self._index(path, lines)
        self.has_former_keys = any(map(is_former_key, self._places))

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self._places)

    def get(self, keys: Iterable[str]) -> Completion | None:
        """Return the answer or failure under the first of these keys that is known; None if there is none.

        Raises:
            StoreError: the temporary file cannot be read.
        """
        for key in keys:
            if (place := self._places.get(key)) is not None:
                return _completion(self._completions[place >> 1])
        return None

    def answer(self, key: str) -> Completion | None:
        """Return the answer to a request; None if there is none, or only a failure.

        Raises:
            StoreError: the temporary file cannot be read.
        """
        place = self._places.get(key, 0)
        return _completion(self._completions[place >> 1]) if place & 1 else None

    def _index(self, path: Path, lines: Iterable[bytes]) -> None:
        first = 2 * len(self._completions)  # the first place of this file
        unreadable = 0
        for line in lines:
            try:
                found, is_answer = _parse(line)
            except ValueError:
                if line.endswith(b"\n"):
                    unreadable += 1
                else:  # it is being written, or its process was killed
                    logger.info("%s: its last line is not finished", path)
                continue
            before = {key: self._places.get(key, 0) for key in found.keys}
            known = [key for key, place in before.items() if not place & 1 or (is_answer and place >= first)]
            if known:
                # An answer takes the place of a failure, and in one file a later answer that of an earlier one.
                self._places.update(dict.fromkeys(known, 2 * len(self._completions) + is_answer))
                self._completions.append(found.completion)
        if unreadable:
            logger.warning("%s: %d unreadable line(s) are not used; the file is kept", path, unreadable)


class _Line(Struct):
    """A line of a journal."""

    key: str
    completion: Raw
    former: str = ""
    retries: str = ""
    step: int | None = None
    begun: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that the answer is found under."""
        return (self.key, self.retries) if self.retries else (self.key,)


class _Answered(Struct):
    """A line of a journal of which only the answer is wanted."""

    completion: Completion


def _asked(request: Request) -> dict[str, Any]:
    """Return a request as an agent made it; that of other samples can be made again from the data."""
    return {"prompt": prompt_to_json(request.prompt), "decoding": decoding_to_json(request.decoding)}


class _Stored(Completion, frozen=True, kw_only=True):
    """A completion as it must be in a line: the defaults of these fields must not pass for an answer."""

    text: str
    finish_reason: FinishReason | None


_LINE: Final = Decoder(_Line)
_ANSWERED: Final = Decoder(_Answered)
_STORED: Final = Decoder(_Stored)
_COMPLETION: Final = Decoder(Completion)


def _parse(line: bytes) -> tuple[_Line, bool]:
    """Return a line and whether it has an answer; raise ValueError if it is not of a journal."""
    try:
        found = _LINE.decode(line)
        return found, _STORED.decode(found.completion).failure is None
    except (ValueError, RecursionError):  # a lone surrogate or NaN, an earlier version, or no line of a journal
        pass
    values = decode_own(line)
    try:
        completion = Completion.from_json(values["completion"])
        return convert({**values, "completion": Raw(encode(completion.to_json()))}, _Line), completion.failure is None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"the line is not of a journal: {error!r}") from None


def _answer_in(line: bytes) -> Completion:
    """Read the completion in a line that `_parse` has accepted."""
    try:
        return _ANSWERED.decode(line).completion
    except (ValueError, RecursionError):  # a lone surrogate or NaN, or an earlier version
        return _completion(_parse(line)[0].completion)


def _completion(content: bytes | Raw) -> Completion:
    """Read the completion of a line that `_parse` has accepted."""
    try:
        return _COMPLETION.decode(content)
    except ValueError:  # a lone surrogate or NaN
        return Completion.from_json(decode_own(bytes(content)))
