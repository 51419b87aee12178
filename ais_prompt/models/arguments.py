"""Arguments that several models have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ais_prompt.errors import ConfigError


def check_at_least(least: int, **values: float | None) -> None:
    """Refuse arguments that are too small; None is not checked.

    Raises:
        ConfigError: names the argument and its value.
    """
    for name, value in values.items():
        if value is not None and value < least:
            raise ConfigError(f"{name} must be at least {least}, not {value}", fix=f"set another {name}")


def check_more_than_0(**values: float | None) -> None:
    """Refuse arguments that are 0 or less; None is not checked.

    Raises:
        ConfigError: names the argument and its value.
    """
    for name, value in values.items():
        if value is not None and not value > 0:
            raise ConfigError(f"{name} must be more than 0, not {value}", fix=f"set another {name}")


def join_stops(own: Sequence[str], asked: Iterable[str]) -> tuple[str, ...]:
    """The stop texts of a model and of a dataset, each once; empty ones would end every answer and are left out."""
    return tuple(dict.fromkeys(word for word in (*own, *asked) if word))
