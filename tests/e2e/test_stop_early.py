"""``--stop-early`` with an evaluator of the user's own, which is not called in the process that asks."""

from __future__ import annotations

import pytest

from tests.e2e.project import Project
from tests.e2e.test_suite import ENDS, journals, scores, served, write_suite
from tests.support.servers import MockServer, mock_server

pytestmark = pytest.mark.process

SAMPLES = 200
GATE = ["--gate", "accuracy < 1%", "--stop-early"]


def test_a_task_with_an_own_evaluator_stops_early_and_is_scored_elsewhere(project: Project) -> None:
    with mock_server([{"latency": 0.1}]) as server:
        write_suite(project, served(server, concurrency=2), [SAMPLES], {0: "probe.NotingEvaluator"})
        process = project.start("run", "eval.py", *GATE)
        _, err = process.communicate(timeout=100)
    assert process.returncode == 1, err
    assert "its gates are decided after" in err
    asked = len(journals(project)["part0"])
    assert 0 < asked < SAMPLES
    [row] = project.summary()
    assert (row["n"], row["of"]) == (asked, SAMPLES)
    noted = {path.name for path in project.root.glob("scored-by-*")}
    assert noted
    assert f"scored-by-{process.pid}" not in noted


def test_an_evaluator_that_ends_its_process_ends_its_task_only(project: Project, server: MockServer) -> None:
    server.follow({"latency": 0.05})
    write_suite(project, served(server), [40, 3], {0: "ending.EndingEvaluator"})
    (project.root / "ending.py").write_text(ENDS.format(end="os._exit(7)"))
    done = project.run_process("run", "eval.py", *GATE)
    assert done.returncode in (1, 2), done.stderr  # the gate cannot be decided; the other task fails it
    assert "1 of 2 tasks failed" in done.stderr
    assert len(journals(project)["part0"]) == 40, "every sample is asked"
    assert scores(project)[0] == ("part0", None)
