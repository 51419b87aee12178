"""Shards as jobs of a real Slurm, and what is refused without one."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.e2e.project import MODEL, Project
from tests.extensions.shards.one_node_slurm import SYSTEM, OneNodeSlurm, missing_slurm
from tests.extensions.shards.test_runners import answers, assert_same_scores, shards
from tests.support.waiting import WATCHDOG_SECONDS, wait_until

ROWS = [{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(48)]
SLOW = MODEL.replace("default=", "delay=1.5, max_concurrency=1, default=")
ON_SLURM = ("--runner", "slurm", "--set", "runner.num_shards=6", "--set", "runner.poll_seconds=0.5")
real = [pytest.mark.slow, pytest.mark.process, pytest.mark.skipif(bool(missing_slurm()), reason=missing_slurm())]


@pytest.fixture(scope="module")
def cluster() -> Iterator[OneNodeSlurm]:
    folder = Path(tempfile.mkdtemp(prefix="slurm"))
    slurm = OneNodeSlurm(folder, cpus=3)
    try:
        slurm.start()
        yield slurm
    finally:
        slurm.stop()
        shutil.rmtree(folder)


@pytest.fixture
def on_cluster(project: Project, cluster: OneNodeSlurm) -> Project:
    project.write_data(ROWS)
    project.write_config(models=SLOW)
    project.environment |= {**cluster.environment, "PATH": SYSTEM}
    return project


def start(project: Project) -> tuple[subprocess.Popen[str], Path]:
    """Start a run on the cluster, and wait until three shards have answered something."""
    process = project.start("run", "eval.py", *ON_SLURM)
    folder = project.root / "outputs" / "eval"
    wait_until(lambda: process.poll() is not None or _answering(folder) == 3, "three shards answer")
    assert process.poll() is None, process.communicate()
    return process, project.folder()


def _answering(folder: Path) -> int:
    return sum(path.stat().st_size > 0 for path in folder.glob("*/shards/*/journal/*/*.jsonl"))


def states(folder: Path, shard: int) -> list[str]:
    """How the sessions of a shard ended, oldest first."""
    found = (path / "run.json" for path in shards(folder) if f"_{shard}-of-6_" in path.name)
    return [json.loads(path.read_text())["status"] for path in found]


class TestRealSlurm:
    pytestmark = real

    def test_cancelled_jobs_a_preempted_one_and_a_restarted_node_change_nothing(
        self, on_cluster: Project, cluster: OneNodeSlurm
    ) -> None:
        process, folder = start(on_cluster)
        [array] = {job.partition("_")[0] for job in cluster.queue()}
        assert {job for job, state in cluster.queue().items() if state == "RUNNING"} == {
            f"{array}_{n}" for n in range(3)
        }
        cluster.command("scancel", f"{array}_1")  # runs
        cluster.command("scancel", f"{array}_5")  # waits
        # What Slurm sends before the time limit. The job queues itself again, and scancel asks until it runs.
        scancel = subprocess.Popen(
            ["scancel", "--signal=USR1", f"{array}_0"],
            env=on_cluster.variables(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(lambda: states(folder, 0) == states(folder, 1) == ["preempted"], "two shards end early")
        cluster.stop_node()
        cluster.start_node()
        wait_until(lambda: cluster.queue().get(f"{array}_0") == "PENDING", "the shard is queued again")
        scancel.kill()
        scancel.wait()
        cluster.command("scontrol", "update", f"JobId={array}_0", "StartTime=now")  # else two minutes later
        out, err = process.communicate(timeout=WATCHDOG_SECONDS)
        assert process.returncode == 0, (out, err)
        assert "48" in out
        assert "shard 1/6 is started again: preempted" in err
        assert "shard 5/6 is started again: missing" in err
        assert answers(folder) == len(ROWS)
        assert states(folder, 0) == states(folder, 1) == ["preempted", "finished"]
        assert on_cluster.run("run", "eval.py", "--set", "models.0.delay=0", "-w", "whole").returncode == 0
        [whole] = (on_cluster.root / "whole" / "eval").iterdir()
        assert_same_scores(folder, whole)

    def test_a_runner_that_was_killed_leaves_jobs_that_the_next_one_follows(
        self, on_cluster: Project, cluster: OneNodeSlurm
    ) -> None:
        process, folder = start(on_cluster)
        process.kill()
        process.communicate()
        jobs = set(cluster.queue())
        again = on_cluster.start("run", "eval.py", *ON_SLURM, "-r")
        seen: set[str] = set()
        wait_until(lambda: seen.update(cluster.queue()) or again.poll() is not None, "the run ends")
        assert again.returncode == 0, again.communicate()
        again.communicate()
        assert seen == jobs
        assert answers(folder) == len(ROWS)

    def test_a_stopped_runner_cancels_its_jobs(self, on_cluster: Project, cluster: OneNodeSlurm) -> None:
        process, folder = start(on_cluster)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=WATCHDOG_SECONDS)
        assert process.returncode == 130, err
        wait_until(lambda: not cluster.queue(), "all jobs end")
        assert [states(folder, shard) for shard in range(6)] == [["preempted"]] * 3 + [[]] * 3

    def test_what_slurm_refuses_is_shown(self, on_cluster: Project) -> None:
        done = on_cluster.run_process("run", "eval.py", *ON_SLURM, "--set", "runner.partition=gpus")
        assert done.returncode == 3
        assert "Slurm refuses the job: sbatch: error: invalid partition specified: gpus" in done.stderr


def test_a_dry_run_shows_the_script(project: Project) -> None:
    options = {"time": "04:00:00", "partition": "gpu", "account": "lab", "gpus": 2, "cpus": 8, "mem": "64G"}
    given: list[str] = []
    for name, value in options.items():
        given += ["--set", f"runner.{name}={value!r}"]
    given += [
        "--set",
        "runner.prefix=apptainer exec --nv /images/eval.sif",
        "--set",
        "runner.setup=['module load cuda']",
    ]
    given += ["--set", "runner.sbatch={'constraint': 'h100'}", "--max-num-workers", "4"]
    project.environment["PATH"] = str(project.root)  # without Slurm
    done = project.run("run", "eval.py", *ON_SLURM, *given, "--dry-run")
    assert done.returncode == 0, done.stderr
    script = done.stdout.splitlines()
    for line in (
        *("--array=0-5%4", "--time=04:00:00", "--partition=gpu", "--account=lab", "--gpus-per-node=2", "--mem=64G"),
        *("--cpus-per-task=8", "--constraint=h100", "--requeue", "--signal=USR1@120"),
    ):
        assert f"#SBATCH {line}" in script
    [command] = (line for line in script if line.startswith("srun"))
    assert command.startswith(
        "srun --unbuffered --cpus-per-task=8 apptainer exec --nv /images/eval.sif aisprompt run eval.py"
    )
    assert command.endswith('-m infer --shard "$SLURM_ARRAY_TASK_ID/6"')
    assert "runner" not in command
    assert "module load cuda" in script
    assert not (project.root / "outputs").exists()


@pytest.mark.process
def test_the_import_of_submitit_leaves_open_logs_alone() -> None:
    script = """
import logging, tempfile
from pathlib import Path
from ais_prompt import SlurmRunner
from ais_prompt.plan import ShardWork
from ais_prompt.store.layout import RunFolder

folder = Path(tempfile.mkdtemp())
log = logging.FileHandler(folder / "run.log", mode="w")
logging.getLogger().addHandler(log)
SlurmRunner(num_shards=2).preview(ShardWork(RunFolder(folder), "eval", ("run", "eval.py")), 2)
logging.getLogger().warning("still written")
assert "still written" in (folder / "run.log").read_text()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_slurm_is_missing(project: Project) -> None:
    project.environment["PATH"] = str(project.root)
    done = project.run("run", "eval.py", *ON_SLURM)
    assert done.returncode == 3
    assert "Slurm's program sbatch is not installed on this machine" in done.stderr
    assert "--dry-run shows the script" in done.stderr
    assert not (project.root / "outputs").exists()


@pytest.mark.parametrize(("runner", "package"), [("ray", "ray"), ("slurm", "submitit")])
def test_a_runner_whose_package_is_missing_starts_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch, runner: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    args = ["run", "eval.py", "--runner", runner, "--set", "runner.num_shards=2"]
    done = project.run(*args)
    assert done.returncode == 3
    assert f"needs the package '{package}', which is not installed" in done.stderr
    assert not (project.root / "outputs").exists()


def test_submitit_is_missing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "submitit", None)
    done = project.run("run", "eval.py", *ON_SLURM, "--dry-run")
    assert done.returncode == 3
    assert "SlurmRunner needs the package 'submitit', which is not installed" in done.stderr
    assert "[slurm]" in done.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    "option",
    [
        "setup=['module load cuda', 'export HF_TOKEN=Zq71x']",
        "prefix='docker run -e API_KEY=Zq71x image'",
        "program=['aisprompt', '--password', 'Zq71x']",
        "sbatch=dict(export='ALL,HF_TOKEN=Zq71x')",
    ],
)
def test_a_secret_is_not_written_into_the_script(project: Project, option: str) -> None:
    project.write_config(more=f"runner = dict(type='SlurmRunner', num_shards=2, {option})")
    for more in ((), ("--dry-run",)):
        done = project.run("run", "eval.py", *more)
        assert (done.returncode, "holds a secret" in done.stderr) == (2, True), done.stderr
        assert "Zq71x" not in done.stdout + done.stderr
    written = [file for file in project.root.rglob("*") if file.is_file() and file.name != "eval.py"]
    assert not [file for file in written if "Zq71x" in file.read_text("utf-8", "replace")]
    project.write_config(
        more=f"runner = dict(type='SlurmRunner', num_shards=2, {option})".replace("Zq71x", "$MY_TOKEN")
    )
    assert project.run("run", "eval.py", "--dry-run").returncode == 0


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--runner", "slurm"), "the number of shards is not known"),
        (("--runner", "slrum"), "did you mean 'slurm'?"),
        ((*ON_SLURM, "--set", "runner.partitoin=gpu"), "did you mean 'partition'?"),
        ((*ON_SLURM, "--set", "runner.cpus=0"), "cpus must be at least 1"),
        ((*ON_SLURM, "--set", "models.0.base_url=http://me:secret-word@127.0.0.1:9/v1"), "holds a secret"),
    ],
)
def test_bad_options(project: Project, args: tuple[str, ...], words: str) -> None:
    if "base_url" in args[-1]:
        project.write_config(
            models="dict(type='OpenAIChatModel', abbr='fake', model='m', base_url='http://127.0.0.1:9/v1')"
        )
    done = project.run("run", "eval.py", *args, "--dry-run")
    assert done.returncode == 2
    assert words in done.stderr
