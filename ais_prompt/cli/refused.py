"""The end of a run whose tasks were all refused: a wrong key, an unknown model, or a server that is not reached."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ais_prompt.errors import ModelError

if TYPE_CHECKING:
    from ais_prompt.scoring import TaskOutcome
    from ais_prompt.verbs import RunResult

_REFUSAL: Final = re.compile(
    r"(?:every request would fail|the first request failed): (?:http_(?P<status>\d{3})|unreachable): "
    r"(?P<words>.*?) \((?P<address>https?://[^\s;()]+?)(?:(?:/chat)?/(?:completions|responses|messages))?"
    r"(?:; (?P<hint>.*))?\)",
    re.DOTALL,
)
"""The message with which `FailureWatch` gives up a model of a server."""


@dataclass(frozen=True)
class _Refusal:
    """What a server says to every request; ``status`` is None if it cannot be reached."""

    status: str | None
    words: str
    address: str
    hint: str | None

    @property
    def remedy(self) -> str:
        if self.status is None:
            return "start the server"
        if self.status == "401":
            return "name the key in api_key" if self.hint == "no key is sent" else "set it"
        return "correct that"


def refusals(result: RunResult) -> list[str]:
    """Return the lines of a run of which each task ended with a refusal by its server; none for any other run.

    Args:
        result: of a run.
    """
    models: dict[_Refusal, set[str]] = {}
    for outcome in result.outcomes:
        refusal = _refusal_of(outcome)
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
        remedies = " or ".join(dict.fromkeys(refusal.remedy for refusal in models))
        lines.append(f"  nothing was answered; {remedies} and run the same command with -r")
    return lines


def _refusal_of(outcome: TaskOutcome) -> _Refusal | None:
    if not isinstance(outcome.error, ModelError) or not (found := _REFUSAL.fullmatch(outcome.error.what)):
        return None
    return _Refusal(found["status"], found["words"], found["address"], found["hint"])


def _of(names: Sequence[str], models: int) -> str:
    """Return `` for all 8 models``; nothing if the run has one model."""
    if models == 1:
        return ""
    if len(names) == 1:
        return f" for {names[0]}"
    return f" for {'all ' if len(names) == models else ''}{len(names)} models"
