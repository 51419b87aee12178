"""Find where the trajectories of two runs part, for `aisprompt compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from ais_prompt.comparison import FurtherComparison, ScoredTask, StoredRun, pair_tasks
from ais_prompt.store import read_predictions
from ais_prompt.types import Completion, ModelCall, Prediction
from ais_prompt.utils import one_line

SHOWN: Final = 5
"""Samples that are shown of each task."""
_NOTHING: Final = "nothing more"


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


def compare_agents(before: StoredRun, after: StoredRun) -> FurtherComparison | None:
    """Compare the trajectories of each task that both runs have; None if neither has any.

    Raises:
        StoreError, DataError: predictions cannot be read.
    """
    found = {}
    for pair in pair_tasks(before, after):
        old, new = (_trajectories(task) for task in pair)
        if old and new:
            found[pair[1].name] = _compared(old, new)
    if not found:
        return None
    return FurtherComparison({"trajectories": found}, lambda: _show(found), is_empty=False)


def _trajectories(task: ScoredTask) -> Mapping[str, tuple[Prediction, Completion]]:
    """Return sample id → its prediction and its first answer with steps."""
    path = task.folder.predictions(task.model, task.dataset)
    if not path.exists():
        return {}
    found = {}
    for prediction in read_predictions(path, with_prompts=False):
        if with_steps := [one for one in prediction.completions if one.trajectory]:
            found[prediction.sample_id] = (prediction, with_steps[0])
    return found


def _compared(
    old: Mapping[str, tuple[Prediction, Completion]], new: Mapping[str, tuple[Prediction, Completion]]
) -> ComparedTrajectories:
    shared = [name for name in old if name in new]
    partings = []
    for name in shared:
        prediction, completion = old[name]
        steps = [step_line(call) for call in completion.trajectory]
        others = [step_line(call) for call in new[name][1].trajectory]
        for place in range(max(len(steps), len(others))):
            pair = [lines[place] if place < len(lines) else _NOTHING for lines in (steps, others)]
            if pair[0] != pair[1]:
                partings.append(Parting(name, prediction.index, place + 1, *pair))
                break
    return ComparedTrajectories(len(shared), len(shared) - len(partings), partings)


def step_line(call: ModelCall) -> str:
    """Return what the model did in a step: the calls of tools, the text, or the failure."""
    completion = call.completion
    if completion.failure:
        return f"fails: {completion.failure.kind}"
    if completion.tool_calls:
        return "; ".join(f"{one.name} {one.arguments}" for one in completion.tool_calls)
    return f"answers {completion.text!r}"


def _show(found: Mapping[str, ComparedTrajectories]) -> None:
    from ais_prompt.cli.verb import echo

    for task, one in found.items():
        echo(f"{task}: {one.equal} of {one.samples} trajectories are equal")
        for parting in one.partings[:SHOWN]:
            echo(f"  row {parting.row} parts at step {parting.step}")
            echo(f"    before: {one_line(parting.before)}")
            echo(f"    after:  {one_line(parting.after)}")
        if len(one.partings) > SHOWN:
            echo(f"  and {len(one.partings) - SHOWN} more: --json")
