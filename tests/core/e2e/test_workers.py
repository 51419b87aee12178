"""Local models in worker processes: the same answers, GPUs of their own, and nothing left behind."""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from tests.core.e2e.project import DATASET, Project
from tests.support.waiting import WATCHDOG_SECONDS, wait_until

pytestmark = pytest.mark.process

MODELS = """
import os, time
from pathlib import Path

from ais_prompt.types import Completion, Decoding

class Telling:
    '''Tells in which process it computes, and with which GPUs.'''
    prompt_style, max_out_len, max_seq_len, batch_size = "text", 8, None, 4
    def __init__(self, name="x", num_gpus=None): self.name = name
    def identity(self): return {"name": self.name}
    def decoding(self, max_out_len, stop): return Decoding(max_out_len=8)
    def tokenizer(self): return None
    def count_tokens(self, prompt): return None
    def preflight(self): pass
    def close(self): pass
    def load(self): Path(f"loaded-{os.getpid()}").write_text(self.name)
    def generate(self, requests):
        if self.name == "fatal" and any("3+3" in request.prompt for request in requests):
            os._exit(9)
        if self.name == "slow":
            time.sleep(600)
        if self.name == "raises":
            raise ValueError(f"no answer in {os.getpid()}")
        time.sleep(0.05)
        text = f"{os.getpid()} {os.environ.get('CUDA_VISIBLE_DEVICES')}"
        return [Completion(text=text) for _ in requests]
"""


def use(project: Project, *models: str, gpus: str = "", datasets: int = 2) -> None:
    (project.root / "my_models.py").write_text(MODELS)
    project.environment["CUDA_VISIBLE_DEVICES"] = gpus
    project.write_config(
        models=", ".join(models),
        datasets=", ".join(DATASET.replace("'sums'", f"'sums{index}'") for index in range(datasets)),
    )


def model(name: str, num_gpus: int | None = None) -> str:
    run_cfg = f", run_cfg=dict(num_gpus={num_gpus})" if num_gpus is not None else ""
    return f"dict(type='my_models.Telling', abbr={name!r}, name={name!r}{run_cfg})"


def told(project: Project, name: str, dataset: str) -> set[tuple[str, str]]:
    """Process and its GPUs, of each answer."""
    answers = [line["prediction"].split(" ", 1) for line in project.predictions(name, dataset)]
    return {(pid, gpus) for pid, gpus in answers}


def runs(pid: int) -> bool:
    with suppress(OSError):
        return b") Z " not in Path(f"/proc/{pid}/stat").read_bytes()
    return False


def workers_of(project: Project) -> list[int]:
    return [int(path.name.removeprefix("loaded-")) for path in project.root.glob("loaded-*")]


def test_without_the_option_a_model_computes_in_the_process_of_the_run(project: Project) -> None:
    use(project, model("one"), gpus="0,1")
    done = project.run("run", "eval.py", "-m", "infer")
    assert done.returncode == 0, done.stderr
    assert told(project, "one", "sums0") == {(str(os.getpid()), "0,1")}


def test_each_worker_has_gpus_of_its_own(project: Project) -> None:
    use(project, model("one", 1), model("two", 2), model("none", 0), gpus="4,5,6")
    done = project.run("run", "eval.py", "-m", "infer", "--max-num-workers", "3")
    assert done.returncode == 0, done.stderr
    for name, number in (("one", 1), ("two", 2), ("none", 0)):
        for pid, gpus in told(project, name, "sums0") | told(project, name, "sums1"):
            assert int(pid) != os.getpid()
            assert len(gpus.split(",") if gpus else []) == number
            assert set(gpus.split(",") if gpus else []) <= {"4", "5", "6"}
    assert not any(map(runs, workers_of(project)))


def test_datasets_of_one_model_are_computed_side_by_side(project: Project) -> None:
    use(project, model("one"), gpus="0,1", datasets=4)
    done = project.run("run", "eval.py", "-m", "infer", "--max-num-workers", "8")
    assert done.returncode == 0, done.stderr
    told_by_all = set().union(*(told(project, "one", f"sums{index}") for index in range(4)))
    assert len(workers_of(project)) <= 2, "as many as there are GPUs"
    assert {gpus for _, gpus in told_by_all} <= {"0", "1"}


@pytest.mark.parametrize(("datasets", "given", "share"), [(2, None, 2), (5, None, 3), (1, "7", None)])
def test_workers_share_the_cores(project: Project, datasets: int, given: str | None, share: int | None) -> None:
    """No more threads compute than there are cores, and none of them idles where there are few datasets."""
    project.environment["OMP_NUM_THREADS"] = given
    use(project, model("one"), datasets=datasets)
    text = MODELS.replace("os.environ.get('CUDA_VISIBLE_DEVICES')", "os.environ.get('OMP_NUM_THREADS')")
    (project.root / "my_models.py").write_text(text)
    done = project.run("run", "eval.py", "-m", "infer", "--max-num-workers", "3")
    assert done.returncode == 0, done.stderr
    expected = given if share is None else str(max(1, len(os.sched_getaffinity(0)) // share))
    told_by_all = set().union(*(told(project, "one", f"sums{index}") for index in range(datasets)))
    assert {threads for _, threads in told_by_all} == {expected}


def test_a_worker_that_dies_ends_its_task_only(project: Project) -> None:
    use(project, model("fatal"), model("fine"))
    done = project.run("run", "eval.py", "-m", "infer", "--max-num-workers", "2")
    assert done.returncode == 3
    assert "2 of 4 tasks failed" in done.stderr
    assert "the worker process of fatal ended: exit code 9" in done.stderr
    assert told(project, "fine", "sums0")


def test_what_a_model_raises_fails_its_samples_as_in_this_process(project: Project) -> None:
    use(project, model("raises"), datasets=1)
    here = project.run("run", "eval.py", "-m", "infer")
    there = project.run("run", "eval.py", "-m", "infer", "--max-num-workers", "1")
    shown = [re.sub(r"\d{3,}", "N", done.stderr.partition("failed, with ")[2]) for done in (here, there)]
    assert shown[0] == shown[1]
    assert "raised ValueError: no answer in N" in shown[0]
    assert here.returncode == there.returncode == 3


def test_a_model_that_a_worker_cannot_build_ends_its_tasks(project: Project) -> None:
    use(project, model("one"), gpus="0")
    (project.root / "my_models.py").write_text(MODELS.replace("def load(self):", "def load(self): 1 / 0;"))
    done = project.run("run", "eval.py", "-m", "infer", "--max-num-workers", "2")
    assert "raised ZeroDivisionError" in done.stderr
    assert done.returncode == 2
    use(project, model("one", 3), gpus="0")
    done = project.run("run", "eval.py", "-m", "infer", "--max-num-workers", "2")
    assert "3 GPUs are needed, and this machine shows 1" in done.stderr
    assert done.returncode == 3


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGKILL])
def test_workers_end_with_the_program(project: Project, number: signal.Signals) -> None:
    use(project, model("slow"), model("one"))
    process = project.start("run", "eval.py", "-m", "infer", "--max-num-workers", "2")
    wait_until(
        lambda: "slow" in {path.read_text() for path in project.root.glob("loaded-*")}, "the slow model is loaded"
    )
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=WATCHDOG_SECONDS)
    assert process.returncode == {signal.SIGINT: 130, signal.SIGUSR1: 143}.get(number, -number), err
    wait_until(lambda: not any(map(runs, workers_of(project))), "the workers end")


@pytest.mark.slow
def test_the_demo_model_answers_alike_in_a_worker(project: Project) -> None:
    base = "dict(type='HuggingFaceBaseModel', abbr='fake', path='data/demo_model', max_out_len=8)"
    choice = (project.root / "eval.py").read_text()
    assert choice
    project.write_config(
        models=base,
        datasets=DATASET.replace("GenInferencer", "PPLOnlyInferencer")
        .replace("Gsm8kEvaluator", "AccEvaluator")
        .replace("'sums',", "'ppl',", 1)
        + ", "
        + DATASET,
    )
    here = project.run("run", "eval.py", "-m", "infer", "-w", "here")
    there = project.run("run", "eval.py", "-m", "infer", "-w", "there", "--max-num-workers", "2")
    assert (here.returncode, there.returncode) == (0, 0), there.stderr
    found = []
    for work_dir in ("here", "there"):
        [folder] = (project.root / work_dir / "eval").iterdir()
        lines = [path.read_text() for path in sorted(folder.glob("predictions/fake/*.jsonl"))]
        found.append([re.sub(r'"seconds":[\d.e-]+', "", text) for text in lines])
    assert len(found[0]) == 2
    assert found[0] == found[1]
