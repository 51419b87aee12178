"""The registries that wire a config's ``type`` to a class or function.

They are mmengine registries made strict: one name has one owner, and an unknown name offers the nearest one. A shipped
part is imported when it is first asked for (see `ais_prompt.catalog`); a part of your own registers itself::

    from ais_prompt.registry import EVALUATORS

    @EVALUATORS.register_module()
    class MyEvaluator: ...

and is found by name once its module is imported (``custom_imports`` in the config, or the entry point of an installed
package, see `ais_prompt.steps`), or at once by its dotted path.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache, partial
from typing import Any, Final, Protocol, TypeVar, overload, runtime_checkable

from ais_prompt.catalog import PARTS, PROTOCOLS
from ais_prompt.errors import AisPromptError, ConfigError, MissingExtra
from ais_prompt.extension import REINSTALL, missing_extension
from ais_prompt.mmengine_import import Registry
from ais_prompt.parts import (
    GuardedPart,
    defined_at,
    ends_program,
    exception_line,
    guarded_call,
    part_meant,
    refuse_other_kind,
    users_line,
)
from ais_prompt.steps import first_answer, installed_extensions, load_plugins
from ais_prompt.utils import Held, listed, nearest

Part = TypeVar("Part", bound=Callable[..., Any])

PARTS_KEPT: Final = 512
"""Classes whose parameters are kept: a thousand datasets have the same parts."""


@runtime_checkable
class ChecksArguments(Protocol):
    """A class or function that checks its arguments without being called."""

    check_arguments: Callable[..., None]
    """Takes the same arguments, and raises an `AisPromptError` if they do not fit together."""


class PartRegistry(Registry):  # type: ignore[misc]  # mmengine has no types
    """A registry of one kind of part: strict about names, lazy about imports."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind, scope="ais_prompt")
        self.kind = kind
        self.shipped = PARTS[kind]

    def names(self) -> list[str]:
        """Return all names that can be used: shipped, registered, of installed extensions; in alphabetical order."""
        brought = (name for one in installed_extensions() for name in one.parts.get(self.kind, ()))
        return sorted({*self.shipped, *self.module_dict, *brought})

    def get(self, key: str) -> Callable[..., Any]:
        """Return the class or function of a registered name or a dotted path.

        Raises:
            ConfigError: no such name or path; the fix offers the nearest name.
            MissingExtra: the part's module needs a package that is not installed.
        """
        if isinstance(key, Held) and key.value is not None:
            return key.value  # type: ignore[no-any-return]
        package, _, name = key.rpartition(".")
        # Run folders name shipped parts by the paths of modules that have moved since.
        if package.startswith("ais_prompt.") and (name in self.shipped or missing_extension(name)):
            key = name
        if key not in self.module_dict and key in self.shipped:
            importlib.import_module(self.shipped[key])
        if key in self.module_dict:
            part: Callable[..., Any] = self.module_dict[key]
            return part
        if "." in key:
            if foreign := first_answer("foreign_name", self.kind, key, self.names()):
                raise foreign
            return import_dotted(key)
        broken = load_plugins()
        if key in self.module_dict:
            return self.module_dict[key]  # type: ignore[no-any-return]
        if self._import_of_stranger(key):
            return self.module_dict[key]  # type: ignore[no-any-return]
        what = f"there is no {self.kind.removesuffix('s')} named {key!r}"
        if owner := missing_extension(key):
            raise ConfigError(f"{what}: the extension {owner!r} has it, and is not here", fix=REINSTALL)
        raise ConfigError(what, fix="; ".join([self._advice(key), *broken]))

    def make(self, key: str, args: Mapping[str, Any], **offered: Any) -> Any:
        """Build a part. A user-defined one is held by a `GuardedPart`.

        Args:
            key: as for `get`.
            args: its arguments.
            offered: arguments for a part that has parameters of these names, where ``args`` does not give them.

        Raises:
            ConfigError: there is no such part, it refuses its arguments, or it is a part of another kind.
            MissingExtra: as `get`.
        """
        part = self.get(key)
        try:
            wanted = offered.keys() & _parameters(part) if offered else ()
            made = part(**{**{name: offered[name] for name in wanted}, **args})
        except AisPromptError:
            raise
        except BaseException as error:
            if ends_program(error):
                raise
            where = users_line(error) or defined_at(part)
            what = f"{key} cannot be made: {exception_line(error)}"
            raise ConfigError(what, where=where, fix="fix its arguments, or the part itself") from error
        if is_shipped(type(made)):
            refuse_other_kind(made, self.protocols()[0], key)
            return made
        # Evaluators may leave parts of their protocol out: `ais_prompt.evaluators.own` completes and guards them.
        return made if self.kind == "evaluators" else GuardedPart(made, self.protocols(), key)

    @overload
    def register_module(
        self, name: str | list[str] | None = ..., force: bool = ..., module: None = ...
    ) -> Callable[[Part], Part]: ...
    @overload
    def register_module(self, name: str | list[str] | None = ..., force: bool = ..., *, module: Part) -> Part: ...
    def register_module(
        self, name: str | list[str] | None = None, force: bool = False, module: Any = None
    ) -> Callable[[Part], Part] | Part:
        """Register a class or function, as a decorator or with ``module``.

        Args:
            name: the name or names in a config; the name of the class or function if left out.
            force: replace a part of this name.
            module: what is registered; None returns a decorator.

        Raises:
            ConfigError: another module has registered the name.
        """
        registered: Callable[[Part], Part] | Part = super().register_module(name, force, module)
        return registered

    def function(self, key: str, args: Mapping[str, Any]) -> Callable[..., Any]:
        """Return the function of a registered name or dotted path, with options bound.

        Raises:
            ConfigError, MissingExtra: as `get`.
        """
        function = self.get(key)
        bound = partial(function, **args) if args else function
        return bound if is_shipped(function) else guarded_call(bound, Any, key)

    @cache  # noqa: B019  # the registries live as long as the program
    def protocols(self) -> list[type]:
        """Return what the program calls of a part of this kind; every part has the first."""
        return [import_dotted(path) for path in PROTOCOLS[self.kind]]  # type: ignore[misc]

    def _register_module(
        self, module: Callable[..., Any], module_name: str | list[str] | None = None, force: bool = False
    ) -> None:
        names = module_name or module.__name__
        for name in [names] if isinstance(names, str) else list(names):
            registered = self.module_dict.get(name)
            owner = registered.__module__ if registered else self.shipped.get(name)
            if owner not in (None, module.__module__) and not force:
                raise ConfigError(
                    f"two {self.kind} want the name {name!r}: {owner} and {module.__module__}",
                    fix="rename one of them, or pass force=True to replace the first",
                )
        # A module that is loaded a second time (reload, notebooks) replaces its own part.
        super()._register_module(module, module_name, force=True)

    def _import_of_stranger(self, key: str) -> bool:
        """Import the part of an installed extension, and return whether there is one of this name."""
        homes = [one.parts[self.kind][key] for one in installed_extensions() if key in one.parts.get(self.kind, {})]
        for home in homes[:1]:
            importlib.import_module(home)
        return key in self.module_dict

    def _advice(self, key: str) -> str:
        near = nearest(key, self.names(), 0.5)
        is_misspelt = near is not None and difflib.SequenceMatcher(None, key.lower(), near.lower()).ratio() > 0.93
        meant = None if is_misspelt else part_meant(self.kind, key)
        if self.kind == "models" and not key.isidentifier() and meant:
            return f"write type={meant!r}, model={key!r}"
        if found := meant or near:
            return f"did you mean {found!r}?"
        return f"known {self.kind}: {listed(self.names())}; or give a dotted path"


def _parameters(part: Callable[..., Any]) -> AbstractSet[str]:
    return _kept_parameters(part) if isinstance(part, type) else inspect.signature(part).parameters.keys()


@lru_cache(PARTS_KEPT)
def _kept_parameters(part: type) -> AbstractSet[str]:
    return inspect.signature(part).parameters.keys()


def is_shipped(part: Any) -> bool:
    """Return whether a class or function belongs to ais_prompt."""
    return str(getattr(part, "__module__", "")).startswith("ais_prompt.")


def import_dotted(path: str) -> Callable[..., Any]:
    """Import ``package.module.name``.

    Raises:
        ConfigError: the module or the name in it does not exist.
        MissingExtra: the module exists but imports a package that is not installed.
    """
    module_name, _, attribute = path.rpartition(".")
    owner = _import_module(module_name, path)
    try:
        part = getattr(owner, attribute)
    except AttributeError:
        near = nearest(attribute, {*dir(owner), *getattr(owner, "__all__", ())})
        fix = f"did you mean {module_name}.{near}?" if near else "check the spelling"
        raise ConfigError(f"module {module_name!r} has no {attribute!r}", fix=fix) from None
    if not callable(part):
        what = f"{path!r} is a {type(part).__name__}, not a class or function"
        raise ConfigError(what, fix="name the class or function itself")
    return part  # type: ignore[no-any-return]


def _import_module(module_name: str, path: str) -> Any:
    """Import the module that the part at ``path`` is in."""
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise _missing_module(error.name or "", module_name, path) from error
    except ImportError as error:
        fix = "repair the import in its module, or install what it needs"
        raise ConfigError(f"cannot import {path!r}: {error}", fix=fix) from error
    except BaseException as error:  # a module of the user's own can raise whatever it likes
        if ends_program(error):
            raise
        what = f"importing {module_name!r} failed: {exception_line(error)}"
        raise ConfigError(what, where=users_line(error), fix="fix that module") from error


def _missing_module(missing: str, module_name: str, path: str) -> AisPromptError:
    """Return the error for a module that is not there: that of the part itself, or one that it imports."""
    foreign = first_answer("foreign_name", "module", missing, ()) if missing else None
    advice = foreign.fix if foreign else ""
    if missing and not f"{module_name}.".startswith(f"{missing}."):
        return MissingExtra(f"{path} needs the package {missing!r}", fix=advice or f"pip install {missing}")
    if not advice:
        near = nearest(missing, (module.name for module in pkgutil.iter_modules()), 0.8)
        advice = f"did you mean {near}{path.removeprefix(missing)}?" if near else "check the spelling, or install it"
    return ConfigError(f"no module {missing!r} for the type {path!r}", fix=advice)


MODELS = PartRegistry("models")
TRANSPORTS = PartRegistry("transports")
READERS = PartRegistry("readers")
RETRIEVERS = PartRegistry("retrievers")
ENCODERS = PartRegistry("encoders")
TEMPLATES = PartRegistry("templates")
INFERENCERS = PartRegistry("inferencers")
POSTPROCESSORS = PartRegistry("postprocessors")
EVALUATORS = PartRegistry("evaluators")
PARTITIONERS = PartRegistry("partitioners")
RUNNERS = PartRegistry("runners")


def runs_code(name: str) -> bool:
    """Return whether a shipped part runs code that does not ship with this program: its ``runs_code`` says so."""
    parts = (globals()[kind.upper()].get(name) for kind, homes in PARTS.items() if name in homes)
    return any(getattr(part, "runs_code", False) for part in parts)
