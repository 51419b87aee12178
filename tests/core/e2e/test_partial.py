"""A run that is not finished can be scored: while it is under way, after Ctrl-C, and after kill -9."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.core.e2e.project import Project, read_lines
from tests.core.e2e.test_judge import LLM
from tests.core.e2e.test_judge import dataset as judged_dataset
from tests.core.e2e.test_suite import journals, served, wait_for, write_suite
from tests.core.unit.report.web.reading import read_report
from tests.support.servers import MockServer
from tests.support.viewer import Visitor

pytestmark = pytest.mark.process


def start_suite(project: Project, server: MockServer) -> Any:
    """A run of three datasets: the first is over, four samples of the second are held back, the third is not begun."""
    server.follow(*({"text": f"part1: {number}+", "latency": 90} for number in (12, 13, 17, 19)))
    write_suite(project, served(server), [10, 10, 5])
    process = project.start("run", "eval.py")

    def is_in_the_middle() -> bool:
        scored = list(project.root.glob("outputs/eval/*/results/fake/part0.json"))
        return bool(scored) and len(journals(project).get("part1", ())) == 6

    wait_for(is_in_the_middle, process)
    return process


@pytest.fixture(scope="module")
def killed_once(running_server: MockServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose run was killed in the middle."""
    project = Project(tmp_path_factory.mktemp("killed"))
    process = start_suite(project, running_server)
    process.kill()
    process.communicate()
    return project.root


@pytest.fixture
def killed(project: Project, server: MockServer, killed_once: Path) -> Project:
    """The same project for each test."""
    shutil.copytree(killed_once, project.root, dirs_exist_ok=True, symlinks=True)
    return project


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    found = json.loads((folder / "summary" / "summary.json").read_text())
    return {row["dataset"]: row for row in found}


def details(folder: Path) -> Any:
    return json.loads((folder / "results/fake/part1.json").read_text())["details"]


def files(folder: Path) -> dict[str, bytes]:
    """Predictions without times, results, and the tables of scores."""
    found = {}
    for path in sorted(folder.rglob("*")):
        kind = path.relative_to(folder).parts[0]
        if kind == "predictions" and path.is_file():
            lines = read_lines(path)
            for line in lines:
                for completion in line["completions"]:
                    del completion["seconds"]
            found[str(path.relative_to(folder))] = json.dumps(lines).encode()
        elif path.is_file() and (kind == "results" or (kind == "summary" and path.stem == "summary")):
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def test_a_run_that_is_under_way_is_scored_and_goes_on_untouched(project: Project, server: MockServer) -> None:
    process = start_suite(project, server)
    try:
        folder = project.folder()
        before = files(folder)
        scored = project.run("score", "eval")
        assert scored.returncode == 0, scored.stderr
        assert "The run is not finished." in scored.stderr
        assert f"-r {folder.name}" in scored.stderr
        assert "6 of 10" in scored.stdout
        assert "fake/part2: not asked yet" in scored.stdout

        viewed = project.run("run", "eval.py", "-r", "-m", "viz")
        assert viewed.returncode == 0, viewed.stderr
        partial = folder / "partial"
        for name in ("summary.txt", "summary.md"):
            assert "6 of 10" in (partial / "summary" / name).read_text()
        assert rows(partial)["part0"]["of"] is None
        assert {key: rows(partial)["part1"][key] for key in ("n", "of", "score", "ci95_low")} == {
            "n": 6,
            "of": 10,
            "score": 1.0,
            "ci95_low": None,
        }
        assert {key: rows(partial)["part2"][key] for key in ("n", "of", "score")} == {"n": 0, "of": 5, "score": None}
        results = json.loads((partial / "results/fake/part1.json").read_text())
        assert (results["scores"][0]["n"], results["scores"][0]["of"]) == (6, 10)
        assert len(results["details"]) == 6
        report = read_report(partial / "report.html").data
        assert report["status"] == "partial"
        assert [(row["n"], row["of"]) for row in report["scores"]] == [(10, None), (6, 10), (0, 5)]
        assert "6,10," in (partial / "summary/summary.csv").read_text()
        assert files(folder) == before
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()

    server.follow({})
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert server.stats()["requests"] == 9
    assert not (folder / "partial").exists()
    continued = files(folder)
    assert project.run("run", "eval.py", "-w", "whole").returncode == 0
    [whole] = (project.root / "whole/eval").iterdir()
    assert continued == files(whole)
    assert project.run("score", "eval").returncode == 0
    assert files(folder) == continued


def test_the_scores_so_far_are_viewed_until_there_are_others(killed: Project) -> None:
    assert killed.run("score", "eval").returncode == 0
    folder = killed.folder()
    viewer = killed.start("view", str(folder), "--no-open")
    try:
        assert viewer.stdout is not None
        visitor = Visitor(viewer.stdout.readline())
        assert visitor.page.endswith(f"/eval/{folder.name}")
        state = visitor.state()
        assert (state["status"], state["answered"], state["samples"]) == ("interrupted", 16, 25)
        assert visitor.json("/rows", "to=100")["length"] == 16
        assert b'"scored": 2, "of": 3' in visitor.read(visitor.page.partition("/eval/")[0] + "/")
        assert killed.run("run", "eval.py", "-r").returncode == 0
        assert visitor.json("/rows", "to=100")["length"] == 25
        assert visitor.state()["status"] == "finished"
        viewer.send_signal(signal.SIGINT)
        viewer.communicate(timeout=60)
    finally:
        viewer.kill()
        viewer.communicate()


def test_after_kill_9_the_score_is_that_of_a_run_on_exactly_those_samples(killed: Project) -> None:
    folder, answered = killed.folder(), set(journals(killed)["part1"])
    with (folder / "journal/fake/part1.jsonl").open("a") as journal:
        journal.write('{"key": "12ab", "sample')
    done = killed.run("score", str(folder))
    assert done.returncode == 0, done.stderr
    partial = rows(folder / "partial")["part1"]

    whole = {line["id"]: line["index"] for line in read_lines(folder / "partial/predictions/fake/part1.jsonl")}
    assert whole.keys() == answered
    data = read_lines(killed.root / "data/part1.jsonl")
    killed.write_data([data[index] for index in whole.values()], "part1.jsonl")
    assert killed.run("run", "eval.py", "-w", "exact").returncode == 0
    [exact] = (killed.root / "exact/eval").iterdir()
    same = ("score", "n", "scored", "unparsed", "truncated", "failed", "questions")
    assert {key: partial[key] for key in same} == {key: rows(exact)["part1"][key] for key in same}
    details = [
        json.loads((one / "results/fake/part1.json").read_text())["details"] for one in (folder / "partial", exact)
    ]
    assert details[0] == details[1]


def test_gates_and_baselines_of_an_unfinished_run(killed: Project) -> None:
    for gate, code, mark in (
        ("part1: accuracy >= 60%", 0, "ok  "),  # 6 of 10 are right already
        ("part1: accuracy >= 61%", 1, "????"),
        ("part1: failed <= 4", 0, "ok  "),
        ("part1: failed <= 3", 1, "????"),
        ("part1: accuracy < 60%", 1, "FAIL"),
        ("part1: accuracy >= 10% @95%", 1, "????"),
        ("part2: accuracy >= 0%", 1, "FAIL"),
    ):
        done = killed.run("score", "eval", "--gate", gate)
        assert done.returncode == code, (gate, done.stdout)
        assert f"{mark}  {gate}" in done.stdout
    for run in ("eval", str(killed.folder() / "partial")):
        refused = killed.run("baseline", run, "-o", "base.json")
        assert refused.returncode == 2
        assert "no baseline" in refused.stderr
    refused = killed.run("run", "eval.py", "-r", str(killed.folder() / "partial"))
    assert refused.returncode == 2
    assert "cannot be taken up again" in refused.stderr


def test_failures_of_an_unfinished_run_count(project: Project, server: MockServer) -> None:
    server.follow(
        {"text": "part0: 3", "status": 400, "body": {"error": {"message": "no"}}}, {"text": "part0: 4", "latency": 90}
    )
    write_suite(project, served(server), [6])
    process = project.start("run", "eval.py")
    wait_for(lambda: len(journals(project).get("part0", [])) == 5, process)
    process.kill()
    process.communicate()
    done = project.run("score", "eval")
    assert done.returncode == 1, done.stderr
    assert "1 of 5 samples failed" in done.stderr
    assert "http_400 1" in done.stdout
    row = rows(project.folder() / "partial")["part0"]
    assert (row["n"], row["of"], row["failed"], row["score"]) == (5, 6, 1, 1.0)


def test_a_task_that_could_not_go_on_is_scored_as_far_as_it_came(project: Project, server: MockServer) -> None:
    refusal = {"status": 401, "body": {"error": {"message": "key expired"}}}
    server.follow({"text": "part1: 7", **refusal})
    write_suite(project, served(server, concurrency=1), [3, 6])
    failed = project.run("run", "eval.py")
    assert failed.returncode == 3, failed.stderr
    done = project.run("score", "eval")
    found = rows(project.folder() / "partial")
    assert (found["part0"]["n"], found["part0"]["of"]) == (3, None)
    assert (found["part1"]["n"], found["part1"]["of"]) == (5, 6), done.stderr
    assert rows(project.folder())["part1"]["note"].startswith("error")


def test_verdicts_about_a_partial_run_are_not_asked_again(project: Project) -> None:
    project.write_data([{"question": f"Q{number}", "answer": "4"} for number in range(6)])
    model = "dict(type='ScriptedModel', abbr='fake', default='4', die_after=4, max_concurrency=1)"
    project.write_config(models=model, datasets=judged_dataset(LLM))
    assert project.run_process("run", "eval.py").returncode == -signal.SIGKILL
    assert project.run("score", "eval").returncode == 0
    verdicts = "judge/fake/journal/judge/sums.jsonl"
    judged = read_lines(project.folder() / "partial" / verdicts)
    assert len(judged) >= 3
    project.write_config(models=model.replace("die_after=4, ", ""), datasets=judged_dataset(LLM))
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    lines = read_lines(project.folder() / verdicts)
    assert lines[: len(judged)] == judged
    assert len(lines) == len({line["key"] for line in lines}) == 6


def test_a_run_is_watched_while_it_is_under_way(project: Project, server: MockServer) -> None:
    """The viewer scores what is new by itself, and says when the run was killed."""
    process = start_suite(project, server)
    viewer = project.start("view", "eval", "--no-open")
    try:
        assert viewer.stdout is not None
        visitor = Visitor(viewer.stdout.readline())
        assert visitor.state()["status"] == "running"
        wait_for(lambda: visitor.state()["answered"] == 16, viewer)
        assert visitor.state()["samples"] == 25
        assert visitor.json("/rows", "to=100")["length"] == 16
        process.kill()
        process.communicate()
        wait_for(lambda: visitor.state()["status"] == "interrupted", viewer)
    finally:
        for one in (process, viewer):
            one.kill()
            one.communicate()
