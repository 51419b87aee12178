"""``FunctionModel(proxy=True)`` in a config: the function is an agent, and gets the address of its model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ais_prompt.config import Note

_FUNCTION: Final = "FunctionModel"


def translate(
    values: dict[str, Any],
    options: Mapping[str, Any],  # noqa: ARG001
    *,
    foreign_summary: bool,  # noqa: ARG001
    folder: Path | None,  # noqa: ARG001
    place: Callable[[str], str],  # noqa: ARG001
) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """Return the config with a `FunctionAgentModel` for each function with ``proxy=True``; see `STEPS`."""
    models = values.get("models")
    if not isinstance(models, list) or not any(map(_says_proxy, models)):
        return values, ()
    return {**values, "models": [_as_agent(model) if _says_proxy(model) else model for model in models]}, ()


def _says_proxy(model: Any) -> bool:
    if not isinstance(model, Mapping) or "proxy" not in model:
        return False
    kind = model.get("type")
    return str(getattr(kind, "__name__", kind)).rpartition(".")[2] == _FUNCTION


def _as_agent(model: Mapping[str, Any]) -> dict[str, Any]:
    others = {key: value for key, value in model.items() if key != "proxy"}
    return {**others, "type": "FunctionAgentModel"} if model["proxy"] else others
