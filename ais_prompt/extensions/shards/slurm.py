"""Shards as an array job of Slurm. submitit writes and submits the script; the run folder says what became of it."""

from __future__ import annotations

import io
import logging
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from getpass import getuser
from itertools import groupby
from typing import Any, Final

from ais_prompt.config import redacted, redacted_override
from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models import check_at_least
from ais_prompt.plan import ShardWork
from ais_prompt.processes import module_command
from ais_prompt.registry import RUNNERS
from ais_prompt.types import Shard
from ais_prompt.utils import digest, require, require_installed

logger = logging.getLogger(__name__)

COMMAND_SECONDS: Final = 60
"""Time for an answer of Slurm's controller. A busy one is asked again later."""
END: Final = """\
code=$?
# It had to end before its time was over: go on in the next job. A job that scancel ends does not get here.
if [ "$code" -eq 143 ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {requeues} ]; then scontrol requeue "$SLURM_JOB_ID"; fi
exit "$code\""""
"""The end of the script, which has to hold the exit code of the shard in ``$?``."""


@RUNNERS.register_module()
class SlurmRunner:
    """Starts shards as the elements of an array job, one task on one node each.

    Args:
        num_shards: number of shards; None for as many as the partitioner makes groups.
        max_num_workers: shards that run at a time (``--array=…%N``); None for as many as Slurm allows.
        partition, account, qos: as of ``sbatch``.
        time: time limit of a shard: minutes, or a text such as ``04:00:00``. A shard that needs more goes on in another
            job.
        gpus: GPUs of each shard; None for those of the model that has most (``run_cfg``).
        cpus: CPUs of each shard.
        mem: memory of each shard, such as ``32G``.
        prefix: command in front of the program, such as ``apptainer exec --nv /images/eval.sif``.
        program: the program; None for this Python's, or with a ``prefix`` for ``aisprompt``.
        setup: lines of shell in front of it, such as ``module load cuda``.
        sbatch: further options of ``sbatch``: ``dict(constraint='h100', exclusive=True)``.
        restarts: how often a shard that dies is submitted again.
        requeues: how often a shard is queued again that ended because its time was over.
        signal_seconds: seconds before the time limit at which a shard gets SIGUSR1.
        poll_seconds: seconds between two looks at the run folder and the queue.

    Raises:
        ConfigError: a number is too small.
    """

    sees_processes = False

    def __init__(
        self,
        num_shards: int | None = None,
        max_num_workers: int | None = None,
        partition: str | None = None,
        account: str | None = None,
        qos: str | None = None,
        time: int | str | None = None,
        gpus: int | None = None,
        cpus: int | None = None,
        mem: str | None = None,
        prefix: str | Sequence[str] = (),
        program: str | Sequence[str] | None = None,
        setup: Sequence[str] = (),
        sbatch: Mapping[str, Any] | None = None,
        restarts: int = 3,
        requeues: int = 50,
        signal_seconds: int = 120,
        poll_seconds: float = 10.0,
    ) -> None:
        check_at_least(1, num_shards=num_shards, max_num_workers=max_num_workers, cpus=cpus)
        check_at_least(0, gpus=gpus, restarts=restarts, requeues=requeues, signal_seconds=signal_seconds)
        self.restarts = restarts
        self.poll_seconds = poll_seconds
        self._num_shards = num_shards
        self._max_num_workers = max_num_workers
        self._gpus = gpus
        self._cpus = cpus
        self._prefix = _words(prefix)
        own = module_command("ais_prompt") if not self._prefix else ["aisprompt"]
        self._program = own if program is None else _words(program)
        self._requeues = requeues
        self._options = {"partition": partition, "account": account, "qos": qos, "time": time, "mem": mem}
        self._setup = list(setup)
        self._sbatch = {"requeue": True, "signal": f"USR1@{signal_seconds}", **(sbatch or {})}
        self._texts = {"prefix": self._prefix, "program": self._program, "setup": self._setup, "sbatch": self._sbatch}
        self._started: set[Shard] = set()
        self._gone: set[Shard] = set()
        self._name = ""

    def count(self, work: ShardWork) -> int:
        """Return the number of shards.

        Raises:
            ConfigError: it is not known.
        """
        return work.count(self._num_shards)

    def preflight(self) -> None:
        """See whether Slurm and submitit are here.

        Raises:
            ConfigError: the config of the runner holds a secret.
            MissingExtra: submitit is not installed.
            ModelError: Slurm is not here.
        """
        self._refuse_secrets()
        require_installed("submitit", extra="slurm", why="SlurmRunner")
        if shutil.which("sbatch") is None:
            raise ModelError(
                "Slurm's program sbatch is not installed on this machine",
                where="runner",
                fix="start this on a login node of the cluster; --dry-run shows the script",
            )

    def preview(self, work: ShardWork, count: int) -> str:
        """Return the script.

        Raises:
            ConfigError, MissingExtra: as `start`.
        """
        executor = self._executor(work, [Shard(index, count) for index in range(count)])
        return str(executor._make_submission_file_text(self._command(work, count), "preview"))

    def start(self, work: ShardWork, shards: Sequence[Shard]) -> None:
        """Submit shards as one array job. Those that are in the queue already, from an earlier call, are followed.

        Raises:
            ConfigError: the command line holds a secret.
            MissingExtra: submitit is not installed.
            ModelError: Slurm refuses the job.
        """
        self._name = _job_name(work, shards[0].count)
        self._started.update(shards)
        known = self._queued() or set()
        if not (to_submit := [shard for shard in shards if shard.index not in known]):
            return
        job = self._submit(work, to_submit)
        logger.info("submitted as job %s: shards %s", job, ", ".join(map(str, to_submit)))
        self._gone.difference_update(to_submit)

    def gone(self) -> Mapping[Shard, int | None]:
        """Return the shards that the queue does not list. If Slurm does not answer, nothing new is known."""
        if self._started and (queued := self._queued()) is not None:
            self._gone = {shard for shard in self._started if shard.index not in queued}
        return dict.fromkeys(self._gone)

    def stop(self) -> None:
        """Cancel all jobs of the run."""
        if self._started:
            _answer("scancel", f"--user={getuser()}", f"--name={self._name}")

    def _queued(self) -> set[int] | None:
        """Return the numbers of the shards that wait or run; None if Slurm does not answer."""
        listed = _answer(
            "squeue", "--noheader", "--array", f"--user={getuser()}", f"--name={self._name}", "--format=%K"
        )
        return None if listed is None else {int(word) for word in listed.split() if word.isdecimal()}

    def _submit(self, work: ShardWork, shards: Sequence[Shard]) -> str:
        """Submit the script, and return the number of the job."""
        executor = self._executor(work, shards)
        for folder in (executor.folder, work.log(shards[0]).parent):
            folder.mkdir(parents=True, exist_ok=True)
        try:
            with redirect_stderr(io.StringIO()):  # the error has what sbatch says
                return str(executor._submit_command(self._command(work, shards[0].count)).job_id)
        except (RuntimeError, OSError) as error:  # submitit's own errors are RuntimeErrors
            said = " ".join(str(error).split()) or type(error).__name__
            fix = "correct the options of the runner; --dry-run shows the script"
            raise ModelError(f"Slurm refuses the job: {said}", where="runner", fix=fix) from error

    def _refuse_secrets(self, command: Sequence[str] = ()) -> None:
        in_command = any(redacted_override(word) != word for word in command)
        if in_command or redacted(self._texts, "runner") != self._texts:
            holder = "the command line" if in_command else "the config of the runner"
            what = f"{holder} holds a secret, which would be written into the script of the job"
            fix = "put it into a variable of the environment, and name the variable: $NAME"
            raise ConfigError(what, where="runner", fix=fix)

    def _executor(self, work: ShardWork, shards: Sequence[Shard]) -> Any:
        """Return submitit's executor with the options of the array job."""
        # Else its import configures logging anew, which closes every log file that is open in this process.
        os.environ.setdefault("SUBMITIT_LOG_LEVEL", "NOCONFIG")
        submitit = require("submitit", extra="slurm", why="SlurmRunner")
        self._refuse_secrets(work.words)

        class Executor(submitit.SlurmExecutor):  # type: ignore[misc, name-defined]
            @classmethod
            def affinity(cls) -> int:
                return 2  # without srun too, so that a script can be shown anywhere

        executor = Executor(work.folder.logs / "slurm")
        throttle = f"%{self._max_num_workers}" if self._max_num_workers else ""
        own = {
            "array": _ranges([shard.index for shard in shards]) + throttle,
            "output": str(work.log(f"%a/{shards[0].count}")).replace("%", "%%").replace("%%a", "%a"),
        }
        gpus = work.num_gpus if self._gpus is None else self._gpus
        executor.update_parameters(
            **self._options,
            job_name=_job_name(work, shards[0].count),
            gpus_per_node=gpus or None,
            cpus_per_task=self._cpus,
            wckey=None,
            stderr_to_stdout=True,
            use_srun=False,  # the command has its own
            setup=[*self._setup, "export PYTHONUNBUFFERED=1"],
            teardown=[END.format(requeues=self._requeues)],
            additional_parameters={**self._sbatch, **own},
        )
        return executor

    def _command(self, work: ShardWork, count: int) -> str:
        # The number of the shard, not auto: an array that is submitted again has gaps.
        cpus = [f"--cpus-per-task={self._cpus}"] if self._cpus else []  # since 22.05, srun does not inherit them
        words = ["srun", "--unbuffered", *cpus, *self._prefix, *self._program, *work.arguments("")[:-1]]
        return f'{shlex.join(words)} "$SLURM_ARRAY_TASK_ID/{count}"'


def _words(command: str | Sequence[str]) -> list[str]:
    return shlex.split(command) if isinstance(command, str) else list(command)


def _ranges(numbers: Sequence[int]) -> str:
    """Return rising numbers as ``0-3,5``: Slurm limits the length of an option."""
    runs = [list(run) for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return ",".join(str(run[0][1]) if len(run) == 1 else f"{run[0][1]}-{run[-1][1]}" for run in runs)


def _job_name(work: ShardWork, count: int) -> str:
    """Return the name by which the jobs of a run are found in the queue, also by a later command."""
    name = re.sub(r"[^\w.-]", "_", work.name)
    return f"{name}-{digest(str(work.folder.root), 8)}-of-{count}"


def _answer(*command: str) -> str | None:
    """Return what a command of Slurm prints; None if it fails, which is logged."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", "") or ""
        logger.warning("Slurm does not answer: %s: %s", error, " ".join(said.split()))
        return None
    return done.stdout
