"""Find entries of the reference by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.reference.configs import config_entries, environment_entry, error_entries
from ais_prompt.reference.entry import Argument, Entry
from ais_prompt.reference.files import file_entries
from ais_prompt.reference.parts import name_entries, option_entries, part_entries, provider_entry
from ais_prompt.utils.text import listed


def entries() -> Iterator[Entry]:
    """Yield every entry but those of commands, which the command line itself knows."""
    yield from part_entries()
    yield from option_entries()
    yield provider_entry()
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
    near = _near(name, known)
    raise ConfigError(
        f"there is nothing called {name!r}",
        fix=f"did you mean {listed(near)}?"
        if near
        else "aisprompt list shows the names of parts, aisprompt list PATTERN finds configs",
    )


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
