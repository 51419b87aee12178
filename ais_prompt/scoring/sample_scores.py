"""The scores of all samples of one task; few are in memory at a time."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from ais_prompt.types import SampleScore
from ais_prompt.utils.spill import Spilled


class SampleScores(Spilled[SampleScore]):
    """A sequence that also sums up its samples.

    Attributes:
        failed: samples with an answer that failed, whatever it failed for.
    """

    def __init__(self, samples: Iterable[SampleScore]) -> None:
        self.failed = 0
        self._reasons: Counter[str] = Counter()
        self._hashes = array("q")
        super().__init__(samples)

    def append(self, sample: SampleScore) -> None:
        """Add a sample at the end.

        Raises:
            StoreError: the disk does not take it.
        """
        super().append(sample)
        self._hashes.append(hash(sample.sample_id))
        self.failed += any(answer.status == "failed" for answer in sample.repeats or (sample,))
        for answer in sample.repeats or (sample,):
            if answer.reason:
                self._reasons[f"{answer.status}: {answer.reason.partition(':')[0]}"] += 1

    @property
    def reasons(self) -> Mapping[str, int]:
        """``status: reason`` of all answers that are not scored, the most frequent first.

        Text after a colon in a reason is about one sample, and not counted apart.
        """
        return dict(self._reasons.most_common())

    def doubled_ids(self) -> list[str]:
        """Return ids that several samples share."""
        hashes = np.sort(np.frombuffer(self._hashes, dtype=np.int64))
        suspects = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
        if not suspects:
            return []
        counts = Counter(sample.sample_id for sample in self if hash(sample.sample_id) in suspects)
        return [name for name, count in counts.items() if count > 1]
