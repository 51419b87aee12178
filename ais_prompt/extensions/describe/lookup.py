"""Find entries of the reference by name, and show them in a terminal."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypedDict

from msgspec import field
from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.extension import REINSTALL, missing_extension
from ais_prompt.extensions.describe.code_entries import (
    config_entries,
    data_entries,
    environment_entry,
    error_entries,
    name_entries,
    option_entries,
    part_entries,
    provider_entry,
)
from ais_prompt.extensions.describe.file_entries import file_entries
from ais_prompt.parts import key_meaning
from ais_prompt.steps import first_answer
from ais_prompt.types import REQUIRED, Argument, Document, Entry
from ais_prompt.utils import listed

_INDENT = "  "
_IN_REPORTS: Final = "A failure of this kind is ``{}`` in predictions and reports; see docs/troubleshooting.md."
_ADDRESS: Final = "The server does not know the address or the model: --url usually ends with /v1."
_LIMIT: Final = (
    "Too many requests or tokens: the request waits as long as the server says, and is sent again. To ask more slowly, "
    "set max_concurrency or request_rate of the model."
)
_SERVER: Final = "The server failed: the request is sent again, as often as retry of the model says."
STATUSES: Final[Mapping[int, str]] = {
    400: "The server refuses the request, and its words say why: often a field that it does not know.",
    401: "The key is missing or wrong: api_key of the model names the environment variable that holds it.",
    402: "The account is used up: the run is paused, and -r goes on.",
    403: "The key may not use this model.",
    404: _ADDRESS,
    405: _ADDRESS,
    408: _SERVER,
    413: "The prompt is too long.",
    422: "The server refuses a field of the request, and its words say which.",
    429: _LIMIT,
    500: _SERVER,
    502: _SERVER,
    503: _LIMIT,
    504: _SERVER,
    529: _LIMIT,
}
"""HTTP status → what it means, and what to do."""
_NETWORK: Final[Mapping[str, tuple[str, str]]] = {
    "unreachable": (
        "The server cannot be reached: it is not started, or the address, the port or a proxy is wrong.",
        "econnrefused connectionrefused ehostunreach enetunreach enotfound eai_again eai_noname gaierror",
    ),
    "connection": (
        "The connection broke before the answer was there: the request is sent again, as often as retry of the model "
        "says.",
        "econnreset econnaborted epipe connectionreset connectionaborted brokenpipe serverdisconnected",
    ),
    "timeout": (
        "There was no answer within the timeout of the model: the request is sent again. Raise timeout, or lower "
        "max_concurrency.",
        "etimedout esockettimedout readtimeout connecttimeout timedout",
    ),
    "certificate": (
        "The certificate of the server is not trusted. If you trust it, set SSL_CERT_FILE to its PEM file.",
        "sslerror sslcertverification certificate_verify_failed",
    ),
}
"""Kind of failure of a connection → what it means and what to do, and what systems and clients call it."""


def entries() -> Iterator[Entry]:
    """Yield every entry but those of commands, which the command line itself knows."""
    yield from part_entries()
    yield from option_entries()
    yield provider_entry()
    yield from data_entries()
    yield from config_entries()
    yield from error_entries()
    yield from file_entries()
    yield from name_entries()
    yield environment_entry()


def find(name: str, more: Iterable[Entry] = ()) -> list[Entry]:
    """Return the entries of a name; else those that have an argument of this name or one that mentions it, cut to it.

    Args:
        name: of a part, a dict of a config, an error, a file, a function or an argument. ``reader_cfg.test_range`` is
            one key of a dict.
        more: further entries: of commands, and of installed packages.

    Raises:
        ConfigError: there is none; the fix offers near names.
    """
    known = [*entries(), *more]
    if found := _called(name, known):
        return found
    owner, _, argument = name.rpartition(".")
    owners = _called(owner, known) if owner else known
    marked = f"`{argument}`"
    if cut := _cut(owners, lambda one: argument in one.names) or _cut(owners, lambda one: marked in one.meaning):
        return cut
    if meant := _meant(name):
        return [meant]
    if extension := missing_extension(name):
        what = f"there is nothing called {name!r}: the extension {extension!r} has it, and is not here"
        raise ConfigError(what, fix=REINSTALL)
    near = _near(name, known)
    if owner := next(filter(None, map(missing_extension, (name, f"{name}=", f"-m {name}"))), ""):
        fix = f"the extension {owner!r} has it, and is not here: {REINSTALL}"
    elif foreign := first_answer("foreign_name", "entry", name, near):
        fix = foreign.fix
    elif near:
        fix = f"did you mean {listed(near)}?"
    else:
        fix = "aisprompt list shows the names of parts, aisprompt list PATTERN finds configs"
    raise ConfigError(f"there is nothing called {name!r}", fix=fix)


def _meant(name: str) -> Entry | None:
    """Return an entry for a word that has another name here: a key of other programs, or the status of a reply."""
    if key := key_meaning(name):
        return Entry(name, "keys", "key of other programs", key)
    word = re.sub(r"error$|[ -]", "", name.lower())
    for kind, (meaning, others) in _NETWORK.items():
        if word in (kind, *others.split()):
            return Entry(name, "failures", "kind of failure", meaning, _IN_REPORTS.format(kind))
    status = re.fullmatch(r"(?:http[ _]?)?([45]\d\d)", name, re.IGNORECASE)
    if status is None or (meaning := STATUSES.get(int(status[1]), "")) == "":
        return None
    return Entry(status[1], "statuses", "HTTP status", meaning, _IN_REPORTS.format(f"http_{status[1]}"))


def _called(name: str, known: Iterable[Entry]) -> list[Entry]:
    """Return the entries of a name, in any case."""
    wanted = name.casefold()
    return [entry for entry in known if wanted in map(str.casefold, (entry.name, *entry.also))]


def _near(name: str, known: Sequence[Entry]) -> list[str]:
    """Return names of entries and arguments that contain a name, then those that look like it; at most ten."""
    names = [one for entry in known for one in (entry.name, *entry.also)]
    names += [one for entry in known for argument in entry.arguments for one in argument.names]
    near = [one for one in dict.fromkeys(names) if name.casefold() in one.casefold()][:5]
    return near + [one for one in difflib.get_close_matches(name, dict.fromkeys(names), n=5) if one not in near]


def _cut(entries: Iterable[Entry], chosen: Callable[[Argument], bool]) -> list[Entry]:
    """Return the entries that have such arguments, with these arguments alone."""
    kept = ((entry, tuple(filter(chosen, entry.arguments))) for entry in entries)
    return [replace(entry, arguments=arguments, text="", facts=()) for entry, arguments in kept if arguments]


def entry_text(entry: Entry, width: int) -> str:
    """Return an entry as text; no line is longer than ``width`` but those of code."""
    return "\n".join(line.rstrip() for line in _lines(entry, width)) + "\n"


def plain(text: str) -> str:
    """Return a text without the marks of Markdown and docstrings."""
    text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r"\1 (\2)", text)
    text = re.sub(r"``(.+?)``", r"\1", text)
    return re.sub(r"(?<!`)`(?:~|ais_prompt\.)?([^`\n]+)`", r"\1", text)


def _lines(entry: Entry, width: int) -> Iterator[str]:
    yield f"{entry.name} ({entry.kind})"
    yield from _wrapped(plain(entry.summary), width, _INDENT)
    if entry.usage:
        yield ""
        yield from _wrapped(entry.usage, width, _INDENT, _INDENT * 2)
    for block in filter(None, entry.text.split("\n\n")):
        yield ""
        if block.startswith((" ", ">>>", "|")):
            yield from (f"{_INDENT}{line}" for line in plain(block).splitlines())
            continue
        for item in re.split(r"\n(?=- )", plain(block).replace("::", ":")):
            yield from _wrapped(
                " ".join(item.split()), width, _INDENT, _INDENT * 2 if item.startswith("- ") else _INDENT
            )
    for argument in entry.arguments:
        yield ""
        yield from _argument(argument, width)
    if entry.facts:
        yield ""
    for title, text in entry.facts:
        yield from _wrapped(f"{plain(title)}: {plain(text)}", width, _INDENT, _INDENT * 2)


def _argument(argument: Argument, width: int) -> Iterator[str]:
    default = argument.default
    words = [
        plain(argument.kind),
        "required" if default == REQUIRED else f"default {plain(default)}" if default else "",
    ]
    yield from _wrapped(f"{argument.name}  {', '.join(filter(None, words))}", width, _INDENT, _INDENT * 4)
    yield from _wrapped(plain(argument.meaning), width, _INDENT * 3)


def _wrapped(text: str, width: int, first: str, rest: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


class ArgumentEntry(TypedDict):
    """An argument, key or option: its default as it is written, empty if there is nothing to say."""

    name: str
    kind: str
    default: str
    meaning: str


class DescribedEntry(TypedDict):
    """What the reference says of a name; ``facts`` are further pairs of a title and a text."""

    name: str
    group: str
    kind: str
    summary: str
    text: str
    arguments: list[ArgumentEntry]
    usage: str
    also: list[str]
    facts: list[tuple[str, str]]


class DescribeDocument(Document, kw_only=True):
    """What ``describe`` prints.

    Attributes:
        entries: all things of that name.
    """

    kind: Literal["describe"]
    entries: list[DescribedEntry] = field(default_factory=list)
