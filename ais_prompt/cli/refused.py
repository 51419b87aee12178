"""The end of a run whose tasks were all refused: a wrong key, an unknown model, or a server that is not reached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ais_prompt.errors import ModelError, Refusal

if TYPE_CHECKING:
    from ais_prompt.verbs import RunResult


def refusals(result: RunResult) -> list[str]:
    """Return the lines of a run of which each task ended with a refusal by its server; none for any other run.

    Args:
        result: of a run.
    """
    models: dict[Refusal, set[str]] = {}
    for outcome in result.outcomes:
        refusal = outcome.error.refusal if isinstance(outcome.error, ModelError) else None
        if refusal is None or result.used.output_tokens:
            return []
        models.setdefault(refusal, set()).add(outcome.model)
    every = {outcome.model for outcome in result.outcomes}
    lines: list[str] = []
    for refusal, names in models.items():
        who = f"{refusal.status} from" if refusal.status else "no answer from"
        lines.append(f"{who} {refusal.address}{_of(sorted(names), len(every))}: {refusal.words}")
        lines += [f"  {refusal.hint}"] if refusal.hint else []
    if models:
        remedies = " or ".join(dict.fromkeys(map(_remedy, models)))
        lines.append(f"  nothing was answered; {remedies} and run the same command with -r")
    return lines


def _remedy(refusal: Refusal) -> str:
    if not refusal.status:
        return "start the server"
    if refusal.status == "401":
        return "name the key in api_key" if refusal.hint == "no key is sent" else "set it"
    return "correct that"


def _of(names: Sequence[str], models: int) -> str:
    """Return `` for all 8 models``; nothing if the run has one model."""
    if models == 1:
        return ""
    if len(names) == 1:
        return f" for {names[0]}"
    return f" for {'all ' if len(names) == models else ''}{len(names)} models"
