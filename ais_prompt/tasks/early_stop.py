"""Asking no more than a gate needs.

A gate is decided when it would hold, or fail, whatever the rest of the samples answers. Nothing is guessed: a run that
stops early passes exactly the gates that it would have passed in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ais_prompt.tasks.score import sample_scores
from ais_prompt.types import Gate, Prediction, SampleScore, Status, TaskSpec


class GateWatch:
    """Says when all gates of a task are decided.

    Of metrics it knows those that are means of values from 0 to 1; a gate on another one is never decided early.

    Args:
        gates: all gates of the run; without any that concerns the task it asks every sample.
        task: whose predictions they are.
        total: how many samples there are.
    """

    def __init__(self, gates: Sequence[Gate], task: TaskSpec, total: int) -> None:
        self.decided = False
        self._gates = [gate for gate in gates if gate.concerns(task.model.abbr, task.dataset.abbr)]
        self._task = task
        self._left = total
        self._total = total
        self._statuses: Counter[Status] = Counter()
        self._sums: dict[str, float] = {}
        self._beyond: set[str] = set()  # metrics with values that are not from 0 to 1

    def see(self, prediction: Prediction) -> None:
        """Score the prediction, and see whether that decides what is left.

        Raises:
            AisPromptError: it cannot be scored.
        """
        self._left -= 1
        if self._gates and not self.decided:
            for score in sample_scores(self._task, [prediction]):
                self._add(score)
            self.decided = all(self._is_decided(gate) for gate in self._gates)

    def _add(self, score: SampleScore) -> None:
        self._statuses[score.status] += 1
        for metric, value in score.values.items():
            self._sums[metric] = self._sums.get(metric, 0.0) + value
            if not 0 <= value <= 1:
                self._beyond.add(metric)

    def _is_decided(self, gate: Gate) -> bool:
        ends = self._ends_of_count(gate) if gate.counts_answers else self._ends_of_mean(gate)
        return ends is not None and gate.holds(ends[0]) == gate.holds(ends[1])

    def _ends_of_count(self, gate: Gate) -> tuple[float, float]:
        """The lowest and the highest value that can come out."""
        count = self._statuses[gate.name]  # type: ignore[index]  # it is one of them
        ends = (count, count + self._left)
        return (100 * ends[0] / self._total, 100 * ends[1] / self._total) if gate.percent else ends

    def _ends_of_mean(self, gate: Gate) -> tuple[float, float] | None:
        """The same for a mean; None if nothing can be said of it."""
        if gate.name not in self._sums or gate.name in self._beyond:
            return None
        scale = 100 if gate.percent else 1
        most = self._statuses.total() - self._statuses["failed"] + self._left
        low = self._sums[gate.name]
        return scale * low / most, scale * (low + self._left) / most
