"""`aisprompt run --runner ray` on a real cluster: three nodes, each of which is processes of this machine."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.core.e2e.project import MODEL, Project, read_lines
from tests.extensions.shards.test_runners import FILES, processes_of, shards
from tests.extensions.shards.test_shards import without_times
from tests.support.waiting import WATCHDOG_SECONDS, wait_until

pytest.importorskip("ray", reason="needs ray: pip install -e '.[ray]'")
pytestmark = [pytest.mark.slow, pytest.mark.process]

NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
# No shard may end before a node is lost: on a busy machine, shards start many seconds apart.
SLOW = MODEL.replace("default=", "delay=1.5, max_concurrency=1, default=")
ROWS = [{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(48)]


@contextmanager
def ray_cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    handler = signal.getsignal(signal.SIGTERM)
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    try:
        for _ in range(2):
            cluster.add_node(wait=False, **NODE)
        cluster.wait_for_nodes(timeout=WATCHDOG_SECONDS)
        yield cluster
    finally:
        cluster.shutdown()
        signal.signal(signal.SIGTERM, handler)  # each node of the cluster has set its own


@pytest.fixture
def cluster() -> Iterator[Any]:
    with ray_cluster() as made:
        yield made


def keys_of(journal: Path) -> list[str]:
    """Which requests a journal holds answers to; its last line may not be whole yet."""
    return [json.loads(line)["key"] for line in journal.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def options(cluster: Any, count: int, **others: Any) -> list[str]:
    given = {"num_shards": count, "address": repr(cluster.address), **others}
    return ["--runner", "ray", *(word for name, value in given.items() for word in ("--set", f"runner.{name}={value}"))]


def test_a_node_that_is_lost_costs_time_and_no_answers(project: Project, cluster: Any) -> None:
    project.write_data(ROWS)
    project.write_config(models=SLOW)
    process = project.start("run", "eval.py", *options(cluster, 4))
    journals = "outputs/eval/*/shards/*/journal/*/*.jsonl"
    wait_until(lambda: sum(path.stat().st_size > 0 for path in project.root.glob(journals)) >= 3, "three shards ask")
    finished = [key for journal in project.root.glob(journals) for key in keys_of(journal)]
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    _, err = process.communicate(timeout=WATCHDOG_SECONDS)
    assert process.returncode == 0, err
    folder = project.folder()
    assert len(shards(folder)) == 5, err  # one of the four was started again
    assert "is started again" in err
    keys = [key for journal in folder.glob("shards/*/journal/*/*.jsonl") for key in keys_of(journal)]
    assert len({*keys}) == len(ROWS)
    assert all(keys.count(key) == 1 for key in finished)  # the lost node's processes go on here until they notice
    assert project.run("run", "eval.py", "-w", "whole").returncode == 0
    [whole] = (project.root / "whole" / "eval").iterdir()
    for file in FILES:
        if file.endswith("l"):
            assert without_times(read_lines(folder / file)) == without_times(read_lines(whole / file))
        else:
            assert (folder / file).read_bytes() == (whole / file).read_bytes()
    assert not processes_of(project)


def test_a_stopped_command_stops_its_shards_on_all_nodes(project: Project, cluster: Any) -> None:
    project.write_config(models=MODEL.replace("default=", "delay=600.0, default="))
    process = project.start("run", "eval.py", *options(cluster, 2))
    wait_until(lambda: len(list(project.root.glob("outputs/eval/*/shards/*/run.json"))) == 2, "two shards")
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=WATCHDOG_SECONDS)
    assert process.returncode in (130, 143), err
    assert not processes_of(project)


def test_shards_get_the_variables_that_are_named(project: Project, cluster: Any) -> None:
    project.environment["SAID"] = "It is 4."
    (project.root / "eval.py").write_text(
        f"import os\n{(project.root / 'eval.py').read_text()}models[0]['default'] = os.environ.get('SAID', 'nothing')\n"
    )
    assert "not set" in project.run_process("run", "eval.py", *options(cluster, 2, variables=["NO_SUCH"])).stderr
    done = project.run_process("run", "eval.py", *options(cluster, 2, variables=["SAID"]))
    assert done.returncode == 0, done.stderr
    assert "25.0 %" in done.stdout


def test_without_a_cluster_the_error_says_how_to_start_one(project: Project) -> None:
    nowhere = "runner.address='127.0.0.1:9'"
    done = project.run_process("run", "eval.py", "--runner", "ray", "--set", "runner.num_shards=2", "--set", nowhere)
    assert done.returncode == 3
    assert "ray start --head" in done.stderr
