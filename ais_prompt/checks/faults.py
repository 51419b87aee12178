"""Collect the faults of a config while it is checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from typing import Any, Final, TypeVar

from ais_prompt.errors import AisPromptError, ConfigError, faults_of
from ais_prompt.evaluators.own import is_scoring_function
from ais_prompt.plan.bind import argument_faults
from ais_prompt.registry import EVALUATORS, POSTPROCESSORS, ChecksArguments, PartRegistry
from ais_prompt.types import PartSpec

T = TypeVar("T")
_DOTTED_NAME: Final = re.compile(r"\w+(\.\w+)+")


class FaultList(list[AisPromptError]):
    """A list of faults, each with its place in the config and in the data."""

    def __init__(self, place: Callable[[str], str]) -> None:
        super().__init__()
        self._place = place
        self._checked: dict[str, AisPromptError | None] = {}

    def attempt(self, action: Callable[[], T], where: str) -> T | None:
        """Return what the action returns; note its error and return None if it raises one."""
        try:
            return action()
        except AisPromptError as error:
            for fault in faults_of(error):
                inside, _, elsewhere = fault.where.partition(" · ")
                is_inside = inside.startswith(where)
                self.note(fault, inside if is_inside else where, elsewhere if is_inside else fault.where)
            return None

    def passes(self, action: Callable[[], None], where: str) -> bool:
        """Return whether an action raises no fault; note the fault otherwise."""
        before = len(self)
        self.attempt(action, where)
        return len(self) == before

    def check_part(
        self,
        registry: PartRegistry,
        spec: PartSpec | None,
        *,
        given: int = 0,
        nested: Mapping[str, PartRegistry] | None = None,
    ) -> bool:
        """Resolve a part's type and bind its arguments; True if all is well.

        A part may check its arguments further, in a function ``check_arguments``.

        Args:
            registry: where its type is looked up.
            spec: the part; None is well.
            given: as in `argument_faults`.
            nested: argument → registry, of those arguments that may be parts themselves.
        """
        if spec is None:
            return True
        before = len(self)
        part = self.attempt(lambda: registry.get(spec.type), f"{spec.where}.type")
        if part is not None:
            if registry is EVALUATORS and is_scoring_function(part, spec.args):
                given = 2  # the answer and the gold
            self._check_arguments(part, spec, given)
        for name, inner in (nested or {}).items():
            if isinstance(config := spec.args.get(name), Mapping):
                self._check_nested(inner, config, f"{spec.where}.{name}")
        return len(self) == before

    def _check_arguments(self, part: Callable[..., Any], spec: PartSpec, given: int) -> None:
        """Check the arguments of a part one by one; if all are well, let the part check them together."""
        before = len(self)
        for fault in argument_faults(part, spec.args, spec.where, given=given):
            self.note(fault, fault.where)
        if len(self) == before and isinstance(part, ChecksArguments):
            self.attempt(partial(self._check_once, part.check_arguments, spec), spec.where)

    def _check_once(self, check: Callable[..., None], spec: PartSpec) -> None:
        """Check arguments; those that differ only in texts and numbers are checked once.

        Raises:
            AisPromptError: they are wrong.
        """
        key = repr((spec.type, _outline(spec.args)))
        if key not in self._checked:
            self._checked[key] = None
            try:
                check(**spec.args)
            except AisPromptError as error:
                self._checked[key] = error
        if (found := self._checked[key]) is not None:
            raise copy(found)  # each has its place

    def _check_nested(self, registry: PartRegistry, config: Mapping[str, Any], where: str) -> None:
        if not isinstance(kind := config.get("type"), str):
            fix = f"type='...', one of {', '.join(registry.names())}"
            self.note(ConfigError(f"{where.rpartition('.')[2]!r} needs a 'type'", fix=fix), where)
        else:
            part = PartSpec(kind, {k: v for k, v in config.items() if k != "type"}, where)
            self.check_part(registry, part, given=int(registry is POSTPROCESSORS))

    def note(self, fault: AisPromptError, config_path: str, elsewhere: str = "") -> None:
        """Add a fault.

        Args:
            fault: what is wrong.
            config_path: where in the config.
            elsewhere: where in the data.
        """
        fault.where = " · ".join(place for place in (self._place(config_path), elsewhere) if place)
        self.append(fault)


def _outline(value: Any) -> Any:
    """Return the names in arguments: keys, and dotted names of parts; other values are left out."""
    if isinstance(value, Mapping):
        return {key: _outline(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_outline(inner) for inner in value]
    return value if isinstance(value, str) and _DOTTED_NAME.fullmatch(value) else None
