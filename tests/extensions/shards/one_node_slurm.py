"""A Slurm cluster of one node: munged, slurmctld and slurmd with a folder, ports and a config of their own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

from tests.support.waiting import WATCHDOG_SECONDS, wait_until

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol")
SYSTEM = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
"""Where daemons are installed."""


def missing_slurm() -> str:
    """Why no cluster can be started here; empty if one can."""
    if os.name != "posix" or os.geteuid() != 0:
        return "slurmd starts the jobs of other users, and needs root"
    absent = [name for name in PROGRAMS if shutil.which(name, path=SYSTEM) is None]
    return f"not installed: {', '.join(absent)} (apt-get install slurm-wlm munge)" if absent else ""


class OneNodeSlurm:
    """A running cluster, without accounting: there is no sacct.

    Args:
        folder: for its state; the path of a socket must be short.
        cpus: jobs of one CPU each that run at a time.

    Attributes:
        environment: variables that make its commands find it.
    """

    def __init__(self, folder: Path, cpus: int) -> None:
        self.folder = folder
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        host = socket.gethostname().partition(".")[0]
        ports = [_free_port() for _ in range(2)]
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o400)
        (folder / "slurm.conf").write_text(
            f"ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={ports[0]}\nSlurmdPort={ports[1]}\n"
            f"SlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\nAuthInfo=socket={folder}/munge.sock\n"
            f"CredType=cred/munge\nStateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool\n"
            f"SlurmctldPidFile={folder}/slurmctld.pid\nSlurmdPidFile={folder}/slurmd.pid\n"
            f"SlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/slurmd.log\n"
            "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n"
            "SelectTypeParameters=CR_CPU\nJobAcctGatherType=jobacct_gather/none\nMpiDefault=none\n"
            "AccountingStorageType=accounting_storage/none\nReturnToService=2\nSlurmdParameters=config_overrides\n"
            f"NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN\n"
            f"PartitionName=main Nodes={host} Default=YES MaxTime=60 State=UP\n"
        )

    def start(self) -> None:
        """Start the daemons, and wait until jobs can run."""
        key, files = f"--key-file={self.folder}/munge.key", ("socket=munge.sock", "pid-file=munge.pid")
        options = [f"--{name}={self.folder}/{file}" for name, file in (pair.split("=") for pair in files)]
        options += [f"--{name}-file={self.folder}/munge.{name}" for name in ("log", "seed")]
        self._start("munged", "--foreground", "--force", key, *options)
        wait_until((self.folder / "munge.sock").exists, "munged answers")
        self._start("slurmctld", "-D")
        self.start_node()

    def start_node(self) -> None:
        """Start the daemon of the node, and wait until it takes jobs."""
        self._start("slurmd", "-D")
        wait_until(lambda: self.command("sinfo", "-h", "-o", "%T").strip() in ("idle", "mixed", "allocated"), "a node")

    def stop_node(self) -> None:
        """Stop the daemon of the node. Jobs that run go on."""
        self._end("slurmd")

    def stop(self) -> None:
        """Cancel all jobs, and stop the daemons."""
        if "slurmctld" in self._daemons:
            self.command("scancel", "--user=root")
            wait_until(lambda: not self.command("squeue", "-h"), "all jobs end")
        for name in reversed(list(self._daemons)):
            self._end(name)

    def command(self, *words: str) -> str:
        """Return what a command of Slurm prints; empty if it fails."""
        environment = {**os.environ, **self.environment, "PATH": SYSTEM}
        return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=WATCHDOG_SECONDS).stdout

    def queue(self) -> dict[str, str]:
        """Job and element (``7_3``) → state, of all that wait or run."""
        lines = self.command("squeue", "-h", "-r", "-o", "%F_%K %T").splitlines()
        return {job: state for job, _, state in (line.partition(" ") for line in lines)}

    def _start(self, program: str, *options: str) -> None:
        path = shutil.which(program, path=SYSTEM)
        assert path
        with (self.folder / f"{program}.out").open("ab") as output:
            self._daemons[program] = subprocess.Popen(
                [path, *options],
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _end(self, program: str) -> None:
        process = self._daemons.pop(program)
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
            return
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
