"""Read the config of a run folder. It is data: nothing in it is executed.

The folder may come from anybody. Of a run of others, parts that do not come with this program are renamed so that no
registry finds them, and keys that start programs, import modules or run code of others are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from ais_prompt.config.keys import CONFIG
from ais_prompt.config.load import LoadedConfig
from ais_prompt.config.overrides import apply_overrides
from ais_prompt.config.redact import register_secrets
from ais_prompt.config.render import literal_values
from ais_prompt.errors import ConfigError
from ais_prompt.parts import place
from ais_prompt.types import ELSEWHERE

ISOLATIONS: Final = ("bubblewrap", "landlock")
"""What ``sandbox`` may name besides a command."""


class Dropped(Struct, frozen=True):
    """A value that a run of others may not decide.

    Attributes:
        where: its config path.
        what: what was left out, for a note.
    """

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}; give the config that you trust with --config"


def load_stored(
    path: Path, content: str, overrides: Sequence[str] = (), *, trusted: bool, is_code: Callable[[str], bool]
) -> tuple[LoadedConfig, list[Dropped]]:
    """Read the config of a run folder, and apply the overrides of the command line.

    Args:
        path: the file.
        content: its text.
        overrides: ``path=value``, as given to ``--set``.
        trusted: whether this user made the run here. Of other runs, what `without_permissions` names is left out.
        is_code: as for `without_permissions`.

    Returns:
        The config, and what was left out.

    Raises:
        ConfigError: it is more than plain data, or an override is wrong.
    """
    try:
        values = literal_values(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise ConfigError(
            "the config of a run folder must be plain data; it is not executed",
            where=place(path, line) if line else place(path),
            fix="undo the change to that file, or name a config that you trust: aisprompt score RUN --config CONFIG",
        ) from error
    dropped: list[Dropped] = []
    if not trusted:
        values, dropped = without_permissions(values, is_code)
    values = apply_overrides(values, overrides) if overrides else values
    loaded = LoadedConfig(values, path.stem, path, trusted=trusted)
    register_secrets({key: loaded.values[key] for key in CONFIG.names if key in loaded.values})
    return loaded, dropped


def without_permissions(
    values: Mapping[str, Any], is_code: Callable[[str], bool], *, keeps_judges: bool = False
) -> tuple[dict[str, Any], list[Dropped]]:
    """Return a config without what a run of others may not decide.

    These are modules to import, commands and servers to start, code that comes with a model, the permission to execute
    programs, and judges, who are sent keys. A type that is code becomes ``elsewhere:my_parts:Mine``, and so does a
    function.

    Args:
        values: the config, as plain data.
        is_code: whether a type names code that does not come with this program.
        keeps_judges: whether the judges stay.
    """
    dropped: list[Dropped] = []

    def walked(value: Any, where: str, key: str) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(walked(item, f"{where}[{number}]", key) for number, item in enumerate(value))
        if not isinstance(value, Mapping):
            return value
        kept = {}
        for name, item in value.items():
            below = f"{where}.{name}" if where else str(name)
            if why := _permission(name, item, value):
                dropped.append(Dropped(below, why))
            elif name == "function" and "type" in value and isinstance(item, str):
                kept[name] = _elsewhere(item)
            else:
                kept[name] = walked(item, below, str(name))
        found = kept.get("type")
        is_judge = key == "judge_cfg" and not keeps_judges and found != "ScriptedModel"
        if isinstance(found, str) and not found.startswith(ELSEWHERE) and (is_judge or is_code(found)):
            kept["type"] = _elsewhere(found)
        return kept

    return walked(values, "", ""), dropped


def _elsewhere(path: str) -> str:
    return f"{ELSEWHERE}{path.replace('.', ':')}"


def _permission(name: Any, value: Any, owner: Mapping[Any, Any]) -> str:
    """Return what a key lets a run do, for a note; empty if it is harmless."""
    if value in (None, False) or (isinstance(value, list | tuple | dict) and not value):
        return ""
    is_part = "type" in owner
    match name:
        case "custom_imports":
            return "modules that the run names are not imported"
        case "trust_remote_code":
            return "code that comes with a model is not run"
        case "allow_code_execution":
            return "the permission to run programs is not taken over"
        case "sandbox" if is_part and value not in ISOLATIONS:
            return f"the command of the sandbox is not used: {value!r:.60}"
        case "server" if is_part:
            return "no server is started"
        case "token_provider":
            return "the function that gives a token is not called"
        case "client" if is_part and isinstance(value, str):
            return f"the client is not used: {value!r:.60}"
        case "prompt_template" if is_part and any("." in text for text in _role_templates(value)):
            return "the role template is not imported"
    return ""


def _role_templates(value: Any) -> Iterator[str]:
    """Yield the dotted paths in a role template of a model: itself, or its values; a part has a ``type``."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and "type" not in value:
        yield from (item for item in value.values() if isinstance(item, str))


def unusable_parts(values: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Yield the config path and the name of every part that `without_permissions` renamed."""
    if isinstance(values, Mapping):
        name = values.get("type")
        if isinstance(name, str) and name.startswith(ELSEWHERE):
            yield where, name.removeprefix(ELSEWHERE).replace(":", ".")
        for key, value in values.items():
            yield from unusable_parts(value, f"{where}.{key}" if where else str(key))
    elif isinstance(values, list | tuple):
        for number, value in enumerate(values):
            yield from unusable_parts(value, f"{where}[{number}]")
