"""Results of τ-bench and τ²-bench: the numbers are those of their own code on the same files."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import pytest

from ais_prompt.config import Options
from ais_prompt.extensions.logs.import_log import import_log
from ais_prompt.report import StoredTask, read_stored_results
from ais_prompt.store import ImportedLog
from tests.support.cli import ROOT, run_cli

LOGS: Final = ROOT / "tests/data/other_logs"
THEIRS: Final[dict[str, dict[str, float]]] = {
    # display_metrics of tau_bench/run.py at 59a200c of https://github.com/sierra-research/tau-bench (MIT)
    "tau_bench.json": {
        "reward": 0.6666666666666666,
        "pass^2": 0.38888888888888884,
        "pass^3": 0.16666666666666666,
        "pass^4": 0.0,
    },
    # compute_metrics of tau2/metrics/agent_metrics.py at a2c0247 of https://github.com/sierra-research/tau2-bench (MIT)
    # with pandas 2.3.3, the version of its lock file
    "tau2_bench.json": {"reward": 0.7222222222222222, "pass^2": 0.5, "pass^3": 0.3333333333333333},
}
NOTE: Final = (
    "average reward 0.7273 over 11 simulations; agent cost 0.0527; read actions 40/40; write actions 2/4; "
    "database 8/10; ended by user_stop 10, infrastructure_error 5, max_steps 1"
)
"""As the same ``compute_metrics`` has it."""


def imported(path: Path, work_dir: Path) -> tuple[ImportedLog, StoredTask]:
    log = import_log(path, Options(work_dir=str(work_dir)), "aisprompt import")
    [task] = read_stored_results(log.folder).tasks
    return log, task


def results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((LOGS / "tau2_bench.json").read_text())
    return found


@pytest.mark.parametrize("name", THEIRS)
def test_scores_are_those_of_their_own_code(name: str, tmp_path: Path) -> None:
    _, task = imported(LOGS / name, tmp_path)
    assert {score.metric: score.value for score in task.scores} == pytest.approx(THEIRS[name])


def test_what_it_reports_further_is_a_note(tmp_path: Path) -> None:
    log, _ = imported(LOGS / "tau2_bench.json", tmp_path)
    assert f"gpt-4.1/retail: {NOTE}" in log.notes


def test_trials_that_never_ran_are_failures(tmp_path: Path) -> None:
    _, task = imported(LOGS / "tau2_bench.json", tmp_path)
    scores = {sample.prediction.sample_id: sample.score for sample in task.samples()}
    ends = {name: [one.reason for one in score.repeats] for name, score in scores.items() if score is not None}
    assert list(ends) == ["1", "2", "10", "12"]
    assert ends["2"] == ["infrastructure_error"] * 4
    assert ends["12"] == ["max_steps", "user_stop", "user_stop", "infrastructure_error"]


def test_each_answer_of_the_agent_is_a_step(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    first = [trial["traj"] for trial in json.loads((LOGS / "tau_bench.json").read_text())]
    second = [one["messages"][1:] for one in results()["simulations"] if one["messages"]]  # without the greeting
    for name, conversations in (("tau_bench.json", first), ("tau2_bench.json", second)):
        answers = [[one for one in messages if one["role"] == "assistant"] for messages in conversations]
        steps = fmean(map(len, answers))
        calls = fmean(sum(len(one.get("tool_calls") or ()) for one in each) for each in answers)
        log, _ = imported(LOGS / name, folder)
        found = run_cli("agents", str(log.folder.root), "--json", folder=tmp_path)
        [row] = json.loads(found.stdout)["agents"]
        assert (row["steps"]["mean"], row["tool_calls"]["mean"]) == pytest.approx((steps, calls))
        given = row["cost"], row["tokens"], row["seconds"]
        if name == "tau_bench.json":  # it has none of these
            assert given == (None, None, None)
        else:
            assert row["cost"]["mean"] == pytest.approx(0.052670909090909095)  # avg_agent_cost of compute_metrics
            assert None not in given


def test_a_step_shows_what_the_agent_saw(tmp_path: Path) -> None:
    _, task = imported(LOGS / "tau2_bench.json", tmp_path)
    first = next(task.samples()).prediction
    assert first.columns["question"].startswith("You received your order #W2378156")
    assert first.gold.splitlines()[0].startswith('find_user_id_by_name_zip {"first_name": "Yusuf"')
    call, after, *_ = first.completions[0].trajectory
    assert [message["role"] for message in call.messages] == ["assistant", "user"]
    assert [one.name for one in call.completion.tool_calls] == ["find_user_id_by_name_zip"]
    assert after.messages[1]["content"] == [{"type": "tool_result", "id": "c0", "text": "yusuf_rossi_9620"}]
    assert (after.shared, after.completion.usage.prompt_tokens) == (2, 1995)


def test_simulations_in_files_of_their_own_are_the_same(tmp_path: Path) -> None:
    whole = results()
    folder = tmp_path / "run" / "simulations"
    folder.mkdir(parents=True)
    for one in whole.pop("simulations"):
        (folder / f"{one['id']}.json").write_text(json.dumps(one))
    (folder.parent / "results.json").write_text(json.dumps(whole))
    _, task = imported(folder.parent, tmp_path / "runs")
    assert {score.metric: score.value for score in task.scores} == pytest.approx(THEIRS["tau2_bench.json"])


def test_calls_of_the_user_are_not_the_agents(tmp_path: Path) -> None:
    whole = results()
    whole["simulations"] = whole["simulations"][:1]
    call = {"id": "u0", "name": "toggle_data", "arguments": {}, "requestor": "user"}
    whole["simulations"][0]["messages"][2:2] = [
        {"role": "user", "content": None, "tool_calls": [call]},
        {"role": "tool", "id": "u0", "content": "data is on", "requestor": "user"},
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(whole))
    _, task = imported(path, tmp_path / "runs")
    [completion] = next(task.samples()).prediction.completions
    assert [message["role"] for message in completion.trajectory[0].messages] == ["assistant", "user"]


def test_two_runs_part_at_a_step(tmp_path: Path) -> None:
    whole = results()
    whole["simulations"][0]["messages"][2]["tool_calls"][0]["name"] = "find_user_id_by_email"
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(whole))
    logs = [imported(one, tmp_path / "runs")[0] for one in (LOGS / "tau2_bench.json", path)]
    compared = run_cli("compare", *(str(log.folder.root) for log in logs), folder=tmp_path)
    assert "gpt-4.1/retail: 2 of 3 trajectories are equal" in compared.stdout
    assert "parts at step 1" in compared.stdout
