"""``gates = ['gsm8k*: accuracy >= 80%', 'failed <= 1%']``: the gates of a run."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Final

from ais_prompt.config.parse.section import ConfigSection
from ais_prompt.errors import ConfigError
from ais_prompt.types import Gate

_GATE: Final = re.compile(
    r"""
    (?: (?P<pattern> \S.*?) \s* : \s+ )?
    (?P<name> [^\s<>=] [^<>=]*? ) \s*
    (?P<comparator> >=|<=|>|<) \s*
    (?P<limit> \d+ (?:\.\d+)? | \.\d+ ) \s* (?P<percent> % | pts? \b | points? \b)?
    (?: \s* @ \s* (?P<confidence> \d+ (?:\.\d+)? ) \s* % )?
    """,
    re.VERBOSE,
)
_FORM: Final = (
    "write 'accuracy >= 80%', 'failed <= 3', with datasets 'gsm8k*: accuracy >= 0.8', or 'accuracy >= 80% @95%'"
)


def parse_gates(top: ConfigSection) -> tuple[Gate, ...]:
    """Parse the ``gates`` of a config, which may be missing; note faults."""
    texts: Any = top.get("gates", (list, tuple), "a list of conditions", ())
    gates = []
    for number, text in enumerate(texts or ()):
        where = f"gates[{number}]"
        try:
            gates.append(parse_gate(text, where))
        except ConfigError as error:
            top.fault("gates", f"{where}: {error.what}", error.fix)
    return tuple(gates)


def parse_gate(text: Any, where: str) -> Gate:
    """Parse one condition.

    Raises:
        ConfigError: it is none.
    """
    found = _GATE.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        raise ConfigError(f"{text!r} is no condition", where=where, fix=_FORM)
    return Gate(
        text=text.strip(),
        pattern=found["pattern"] or "*",
        name=found["name"],
        comparator=found["comparator"],  # type: ignore[arg-type]  # the expression allows no others
        limit=Fraction(found["limit"]),
        percent=found["percent"] is not None,
        where=where,
        confidence=None if found["confidence"] is None else Fraction(found["confidence"]) / 100,
    )
