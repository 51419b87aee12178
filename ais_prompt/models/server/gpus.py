"""Find the GPUs of this machine, and hand them out. NPUs of Ascend count as GPUs; this was not tried on hardware."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

CUDA: Final = "CUDA_VISIBLE_DEVICES"
ASCEND: Final = "ASCEND_RT_VISIBLE_DEVICES"
"""The environment variables that decide which GPUs of NVIDIA, or NPUs of Ascend, a process sees."""
_TIMEOUT_SECONDS: Final = 30
_CHIPS: Final = re.compile(r"Chip Count\s*:\s*(\d+)")
"""In the output of ``npu-smi info -l``, once for each NPU; the numbers of devices go over all chips."""


def gpu_variable() -> str:
    """Return the variable that hands GPUs to a process: that of Ascend where it is set, or where only NPUs are."""
    if CUDA in os.environ:
        return CUDA
    has_npus_only = shutil.which("nvidia-smi") is None and shutil.which("npu-smi") is not None
    return ASCEND if ASCEND in os.environ or has_npus_only else CUDA


def visible_gpus() -> tuple[str, ...]:
    """Return the ids of the GPUs or NPUs that this process may use; empty if there are none.

    They come from `gpu_variable`; CUDA ignores everything after an invalid entry. Without this variable, all that
    ``nvidia-smi`` or ``npu-smi`` lists are returned.
    """
    variable = gpu_variable()
    if (given := os.environ.get(variable)) is not None:
        return tuple(takewhile(lambda gpu: gpu and not gpu.startswith("-"), map(str.strip, given.split(","))))
    if variable == ASCEND:
        count = sum(map(int, _CHIPS.findall(_output("npu-smi", "info", "-l"))))
    else:
        count = sum(line.startswith("GPU ") for line in _output("nvidia-smi", "--list-gpus").splitlines())
    return tuple(map(str, range(count)))


def _output(program: str, *args: str) -> str:
    """Return what a program prints; nothing if there is no such program, or it fails."""
    if (path := shutil.which(program)) is None:
        return ""
    try:
        found = subprocess.run([path, *args], capture_output=True, text=True, timeout=_TIMEOUT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout if found.returncode == 0 else ""


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
