"""Find the GPUs of this machine, and hand them out."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

GPU_VARIABLE: Final = "CUDA_VISIBLE_DEVICES"
"""The environment variable that decides which GPUs a process sees."""
_TIMEOUT_SECONDS: Final = 30


def visible_gpus() -> tuple[str, ...]:
    """Return the ids of the GPUs that this process may use; empty if there are none.

    They come from ``CUDA_VISIBLE_DEVICES``; CUDA ignores everything after an invalid entry. Without this variable, all
    GPUs that ``nvidia-smi`` lists are returned.
    """
    if (given := os.environ.get(GPU_VARIABLE)) is not None:
        return tuple(takewhile(lambda gpu: gpu and not gpu.startswith("-"), map(str.strip, given.split(","))))
    if (program := shutil.which("nvidia-smi")) is None:
        return ()
    try:
        found = subprocess.run([program, "--list-gpus"], capture_output=True, text=True, timeout=_TIMEOUT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    lines = found.stdout.splitlines() if found.returncode == 0 else []
    return tuple(str(index) for index, _ in enumerate(line for line in lines if line.startswith("GPU ")))


class GpuPool:
    """Hand out GPUs, each to one holder at a time.

    Args:
        gpus: their ids.
    """

    def __init__(self, gpus: Sequence[str]) -> None:
        self._order = tuple(gpus)
        self._free = list(gpus)

    def take(self, number: int) -> tuple[str, ...] | None:
        """Reserve and return this many free GPUs; None if there are not enough."""
        if number > len(self._free):
            return None
        taken, self._free = self._free[:number], self._free[number:]
        return tuple(taken)

    def give_back(self, gpus: Sequence[str]) -> None:
        """Release GPUs that `take` returned."""
        free = {*self._free, *gpus}
        self._free = [gpu for gpu in self._order if gpu in free]
