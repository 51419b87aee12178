"""All errors of this program, in one tree.

AisPromptError                 what happened, where, how to fix it, exit code
 ├── ConfigError        (2)    the config or the command line is wrong
 │    └── ConfigFaults  (2)    all faults of a config at once
 ├── DataError          (2)    a data file or its columns are not what the config says
 │    └── GoldError     (2)    the gold answer of a sample cannot be used
 ├── PromptError        (2)    a template cannot be used, or not with this data
 ├── PartError          (2)    a part of the user's own raises, or returns something of the wrong type
 │    └── SandboxError  (2)    the sandbox of one program does not start
 ├── StoreError         (3)    the run folder cannot be read or written
 │    └── ReadError     (3)    a file of one task cannot be read; other tasks continue
 ├── ModelError         (3)    a model or its server cannot be used
 │    └── MissingExtra  (3)    an optional package is not installed
 ├── InternalError      (70)   a fault of the program itself, which ended one task
 ├── Paused             (4)    a budget or a quota is used up; the run can be taken up again
 └── Interrupted        (130)  stopped by the user; the run can be taken up again
      └── Terminated    (143)  stopped by SIGTERM or SIGUSR1, such as by a batch system
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple


class AisPromptError(Exception):
    """The root of all errors that users see without a traceback.

    Attributes:
        what: one sentence that says what happened.
        where: config path, ``file:line``, row or address; empty when unknown.
        fix: what the user can do about it; empty when there is nothing to advise.
        exit_code: the exit code of the command line when this error ends it.
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        return " · ".join(part for part in (self.what, self.where, self.fix) if part)

    def __reduce__(self) -> tuple[object, ...]:
        # Errors travel between processes; keyword-only arguments need their own way of pickling.
        return partial(type(self), where=self.where, fix=self.fix), (self.what,), vars(self)

    def lines(self) -> list[str]:
        """Return what, where and fix as at most three lines for standard error. The place is in one of them."""
        what = self.what.replace(f" ({self.where})", "") if self.where else self.what
        lines = [f"{type(self).__name__}: {what}"]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.fix:
            lines.append(f"  fix:   {self.fix}")
        return lines


class ConfigError(AisPromptError):
    """The config or the command line is wrong."""


_ITEM = re.compile(r"(models|datasets)\[\d+\]")


def without_index(text: str) -> str:
    """Return a text with ``datasets[]`` in place of ``datasets[3]``, equal for all items of a list."""
    return _ITEM.sub(r"\1[]", text)


def _kind_of(fault: AisPromptError) -> tuple[str, ...]:
    """Return what is equal in all faults that one mistake causes in the items of a list."""
    # Behind the dot is a place in the data, which is another file for each dataset. A package is missing everywhere.
    place = "" if isinstance(fault, MissingExtra) else fault.where.partition(" · ")[0]
    return type(fault).__name__, *map(without_index, (fault.what, place, fault.fix))


class ConfigFaults(ConfigError):
    """All faults of a config, found in one go.

    Attributes:
        faults: the single errors, in the order of the config.
    """

    def __init__(self, faults: Sequence[AisPromptError]) -> None:
        super().__init__(f"{len(faults)} fault{'s' if len(faults) != 1 else ''} in the config")
        self.faults = tuple(faults)

    def __str__(self) -> str:
        return "\n".join([f"{self.what}:", *self.lines()[:-1]])

    def __reduce__(self) -> tuple[object, ...]:
        return ConfigFaults, (self.faults,)

    def lines(self) -> list[str]:
        """Return the lines of every fault, then their number. Repeats in other items of a list are only counted."""
        groups: dict[tuple[str, ...], list[AisPromptError]] = {}
        for fault in self.faults:
            groups.setdefault(_kind_of(fault), []).append(fault)
        lines = []
        for first, *others in groups.values():
            lines += first.lines()
            if others:
                item = None if isinstance(first, MissingExtra) else _ITEM.match(first.where)
                kind = (item[1] if item else "places").removesuffix("s")
                lines.append(f"  and in {len(others):,} more {kind}{'s' if others[1:] else ''}")
        return [*lines, self.what]


@contextmanager
def located(where: str) -> Iterator[None]:
    """Give errors of the body that have no place this place."""
    try:
        yield
    except AisPromptError as error:
        error.where = error.where or where
        raise


def raise_all(faults: Iterable[AisPromptError]) -> None:
    """Raise the one fault as it is, or several as `ConfigFaults`; nothing happens if there is none."""
    found = list(faults)
    if len(found) == 1:
        raise found[0]
    if found:
        raise ConfigFaults(found)


def faults_of(error: AisPromptError) -> tuple[AisPromptError, ...]:
    """Return the single faults of an error: itself, or those of `ConfigFaults`."""
    return error.faults if isinstance(error, ConfigFaults) else (error,)


class DataError(AisPromptError):
    """A data file or its columns are not what the config says."""


class GoldError(DataError):
    """The gold answer of a sample cannot be used; where only some cannot, the others are scored."""


class MissingGoldError(GoldError):
    """A sample has no gold answer: its cell is empty, null or NaN."""


class PromptError(AisPromptError):
    """A template cannot be used, or not with this data."""


class PartError(AisPromptError):
    """A user-defined part raises, or returns something of the wrong type; ``where`` is a line of its file."""


class SandboxError(PartError):
    """The sandbox of one program does not start. Only the sample of this program fails."""


class StoreError(AisPromptError):
    """The run folder cannot be read or written."""

    exit_code = 3


class ReadError(StoreError):
    """A file cannot be read. Only what needs it fails, unlike a full disk, which ends the run."""


class Refusal(NamedTuple):
    """What a server says to every request, or why it cannot be reached; the message of the error has it in one text.

    Attributes:
        status: HTTP status, such as ``401``; empty if the server cannot be reached.
        words: the message of the server or the system.
        address: of the server, without secrets.
        hint: what may be wrong in the config, or which key was sent; empty if nothing is known.
    """

    status: str
    words: str
    address: str
    hint: str


class ModelError(AisPromptError):
    """A model or its server cannot be used.

    Attributes:
        refusal: of the server, if every request would be refused in the same way; else None.
    """

    exit_code = 3

    def __init__(self, what: str, *, where: str = "", fix: str = "", refusal: Refusal | None = None) -> None:
        super().__init__(what, where=where, fix=fix)
        self.refusal = refusal


class MissingExtra(ModelError):
    """An optional package is not installed; the fix is the command that installs it."""


class Paused(AisPromptError):
    """A budget or the quota of a provider is used up; what was answered is kept, and the run can be taken up again."""

    exit_code = 4


class InternalError(AisPromptError):
    """A fault of the program itself, which ended one task; the others went on."""

    exit_code = 70


class Interrupted(AisPromptError):
    """Stopped by the user; what was finished is kept and the run can be taken up again."""

    exit_code = 130


class Terminated(Interrupted):
    """Stopped by a signal, such as by a batch system that needs the machine; the run can be taken up again."""

    exit_code = 143
