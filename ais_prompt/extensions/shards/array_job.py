"""The number of a process in its array job, for ``--shard auto/8``.

Sources: sbatch(1), ``SLURM_ARRAY_TASK_ID``, ``_MIN`` and ``_STEP``; Kubernetes, "Indexed Job".
"""

from __future__ import annotations

from collections.abc import Mapping

from ais_prompt.errors import ConfigError


def array_index(environment: Mapping[str, str]) -> int:
    """Return the number of this process in the array job of Slurm or the indexed job of Kubernetes, from 0.

    Args:
        environment: variables of the process.

    Raises:
        ConfigError: there is no array job, or a variable is not a number.
    """
    fix = "give the number: --shard 0/8"
    try:
        if task := environment.get("SLURM_ARRAY_TASK_ID"):
            first, step = (int(environment.get(f"SLURM_ARRAY_TASK_{name}", n)) for name, n in (("MIN", 0), ("STEP", 1)))
            return (int(task) - first) // step
        if index := environment.get("JOB_COMPLETION_INDEX"):
            return int(index)
    except (ValueError, ZeroDivisionError) as error:
        raise ConfigError(
            f"the variable of the array job is not a number: {error}", where="--shard auto", fix=fix
        ) from None
    raise ConfigError(
        "there is no array job: SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX are not set", where="--shard auto", fix=fix
    )
