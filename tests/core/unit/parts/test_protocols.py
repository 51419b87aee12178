"""Whether a part has the members of a protocol: kept for our classes, looked at again for those of users."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ais_prompt.evaluators import AccEvaluator, Evaluator, JudgeEvaluator
from ais_prompt.models import AsyncModel, BatchModel, ScriptedModel
from ais_prompt.parts import KeptChecks


@runtime_checkable
class Sings(Protocol, metaclass=KeptChecks):
    song: str


class Own:
    """A part of a user, whose members differ from one object to the next."""

    def __init__(self, song: str | None = None) -> None:
        if song:
            self.song = song


def test_parts_of_users_are_looked_at_each_time() -> None:
    assert [isinstance(part, Sings) for part in (Own(), Own("la"), Own(), Own("la"))] == [False, True, False, True]


def test_shipped_parts_have_the_protocols_that_they_implement() -> None:
    for _ in range(2):
        assert isinstance(AccEvaluator(), Evaluator)
        assert not isinstance(AccEvaluator(), JudgeEvaluator)
        assert isinstance(ScriptedModel(), AsyncModel)
        assert not isinstance(ScriptedModel(), BatchModel)
