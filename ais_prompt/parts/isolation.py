"""The interface of parts that run programs."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ais_prompt.parts.guarded import KeptChecks


@runtime_checkable
class RunsPrograms(Protocol, metaclass=KeptChecks):
    """An inferencer or evaluator that runs programs which a model wrote.

    Attributes:
        isolation: how they are kept apart from the machine, as people read it.
    """

    isolation: str
