"""What ``agents`` prints with ``--json``, and what ``compare`` adds to its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from ais_prompt.extensions.agents.agents_table import AgentRow
from ais_prompt.types import Document


class AgentsDocument(Document, kw_only=True):
    """What ``agents`` prints.

    Attributes:
        agents: a row for each agent and dataset.
    """

    kind: Literal["agents"]
    agents: Sequence[AgentRow] = field(default_factory=list)


class Parting(Struct, frozen=True):
    """Where the trajectories of one sample part.

    Attributes:
        sample, row: id of the sample, and its row.
        step: number of the first step that differs, from 1.
        before, after: what the agent did there: the calls of tools, the answer, or nothing more.
    """

    sample: str
    row: int
    step: int
    before: str
    after: str


class ComparedTrajectories(Struct, frozen=True):
    """The trajectories of one task in two runs.

    Attributes:
        samples: in both runs.
        equal: with the same steps.
        partings: of the others, in the order of the rows.
    """

    samples: int
    equal: int
    partings: Sequence[Parting]


class TrajectoryFields(Struct, frozen=True):
    """What ``compare`` has further.

    Attributes:
        trajectories: task → its trajectories.
    """

    trajectories: Mapping[str, ComparedTrajectories] = {}
