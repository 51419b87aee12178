"""`run -m perf` against the mock server: what is written, what can be computed again, and what is refused.

No number depends on the machine here: those are in the other files.
"""

from __future__ import annotations

import csv
import json
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.report import LiveRun, runs_page
from ais_prompt.store import RunFolder
from tests.core.e2e.project import DATASET, Project, read_lines
from tests.core.e2e.test_servers import noted, noting, use
from tests.core.e2e.test_truncated import run_with_cut_answers
from tests.support.servers import MockServer
from tests.support.waiting import WATCHDOG_SECONDS

SERVED = (
    "dict(type='OpenAIChatModel', abbr='fake', model='mock', base_url='{url}', api_key=None, stream=True, "
    "max_concurrency=4, max_out_len=16{more})"
)


def perf_project(project: Project, server: MockServer, more: str = "", config: str = "") -> Project:
    project.write_data()
    project.write_config(models=SERVED.format(url=server.base_url, more=more), more=config)
    return project


def performances(project: Project) -> dict[str, bytes]:
    folder = project.folder() / "performances" / "fake"
    return {path.name: path.read_bytes() for path in folder.iterdir() if "schedule" not in path.name}


def keep_measurement(folder: Path) -> None:
    """Delete everything in a run folder but the journals and schedules."""
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.parent.name != "journal" and not path.name.endswith("_schedule.jsonl"):
            path.unlink()


def data_of(page: str) -> Any:
    """Return the data in a page."""
    return json.loads(page.partition('id="data">')[2].partition("</script>")[0])


def test_a_load_is_measured_shown_again_and_scored(project: Project, server: MockServer) -> None:
    perf_project(project, server)
    done = project.run("run", "eval.py", "-m", "perf", "--num-warmups", "2", "--gate", "requests_per_second > 0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("fake/sums · 8 requests from 4 clients · ")
    assert " failed" not in done.stdout
    asked = [request["body"] for request in server.requests()]
    assert len(asked) == 10
    assert all(body["stream"] for body in asked)
    assert ["warm-up" in body["messages"][0]["content"] for body in asked] == [True] * 2 + [False] * 8
    files = performances(project)
    rows = list(csv.reader(files["sums.csv"].decode().splitlines()))
    assert rows[0] == ["Performance Parameters", "Stage", "Average", "Min", "Max", "Median", "P75", "P90", "P99", "N"]
    assert [row[0] for row in rows[1:3]] == ["E2EL", "TTFT"]
    assert json.loads(files["sums.json"])["Success Requests"] == {"total": 8}
    assert json.loads(files["sums_perf.json"])["stages"]["total"]["answered"] == 8
    lines = project.journal()
    assert all(line["times"]["due"] <= line["times"]["taken"] <= line["times"]["end"] for line in lines)
    assert {line["times"]["kinds"] for line in lines} == {"o1a1o2"}
    details = read_lines(project.folder() / "performances" / "fake" / "sums_details.jsonl")
    assert [one["prediction"] for one in details] == [line["completion"]["text"] for line in lines]
    assert {one["input"][0]["content"] for one in details} == {body["messages"][0]["content"] for body in asked[2:]}
    assert {len(one["time_points"]) for one in details} == {5}
    assert "sums_failed.jsonl" not in files
    for page in ("sums_plot.html", "sums_rps_distribution_plot.html"):
        assert data_of(files[page].decode())["charts"] == json.loads(files["sums_charts.json"])
    report = data_of((project.folder() / "report.html").read_text("utf-8"))
    assert (report["status"], report["tasks"], report["scores"]) == ("finished", [], [])
    [listed] = data_of(runs_page(project.folder().parent, {"/eval": RunFolder(project.folder())}))["runs"]
    assert (listed["answers"], listed["datasets"], listed["trouble"], listed["scores"]) == (8, ["sums"], "", [])
    assert [(load["model"], load["answered"], load["failed"]) for load in listed["loads"]] == [("fake", 8, 0)]
    charts = json.loads(files["sums_charts.json"])
    assert report["loads"] == [{**json.loads(files["sums_perf.json"]), "charts": charts}]

    for name in files:
        (project.folder() / "performances" / "fake" / name).unlink()
    theirs = project.run("run", "eval.py", "-m", "perf_viz", "-r", "--as", "aisbench")
    assert "Performance Results of task [fake/sums]: \n╒═══" in theirs.stdout
    for tool, line in {
        "vllm": "Mean TTFT (ms):",
        "guidellm": "Request Latency (Sec)",
        "aiperf": "Time to First Token (ms)",
    }.items():
        shown = project.run("run", "eval.py", "-m", "perf_viz", "-r", "--as", tool)
        assert line in shown.stdout, shown.stderr
    document = json.loads(project.run("run", "eval.py", "-m", "perf_viz", "-r", "--as", "sglang", "--json").stdout)
    assert document["tables"]["fake/sums"][0]["rows"]["Successful requests:"] == [8]
    again = project.run("run", "eval.py", "-m", "perf", "-r")
    assert again.returncode == 0, again.stderr
    assert performances(project) == files
    assert again.stdout.partition("all numbers:")[0].strip() == done.stdout.partition("Gates:")[0].strip()
    shutil.rmtree(project.folder() / "predictions")
    assert project.run("run", "eval.py", "-m", "perf_viz", "-r").returncode == 0
    without = performances(project)
    assert {name for name in files if without[name] != files[name]} == {"sums_details.jsonl"}, "it has the prompts"
    assert len(server.requests()) == 10
    keep_measurement(project.folder())
    last = project.run("run", "eval.py", "-m", "perf_viz", "-r")
    assert last.returncode == 0, last.stderr
    assert not (project.folder() / "report.html").exists(), "it is made from run.json"
    assert performances(project) == without
    assert last.stdout == again.stdout


def test_answers_of_a_load_are_scored(project: Project, server: MockServer) -> None:
    perf_project(project, server)
    assert project.run("run", "eval.py", "-m", "perf").returncode == 0
    done = project.run("run", "eval.py", "-m", "eval", "-r")
    assert done.returncode == 0, done.stderr
    assert [(row["metric"], row["score"]) for row in project.summary()] == [("accuracy", 1.0)]
    report = data_of((project.folder() / "report.html").read_text("utf-8"))
    assert [one["dataset"] for one in report["loads"]] == [one["dataset"] for one in report["tasks"]] == ["sums"]


def test_the_score_under_load_is_that_of_an_ordinary_run(project: Project, server: MockServer) -> None:
    perf_project(project, server, ", request_rate=200")
    server.follow({"text": "3+3", "answer": "7"}, {"text": "5+5", "status": 500, "body": {"error": "no"}})
    project.run("run", "eval.py", "-m", "perf")
    project.run("run", "eval.py", "-m", "eval", "-r")
    project.run("run", "eval.py")
    load, ordinary = sorted((project.root / "outputs" / "eval").iterdir())
    [score], [same] = (json.loads((one / "summary" / "summary.json").read_text()) for one in (load, ordinary))
    assert 0 < score["score"] < 1
    for field in ("score", "n", "scored", "failed"):
        assert score[field] == same[field], field
    texts = [
        {line["id"]: line["prediction"] for line in read_lines(one / "predictions" / "fake" / "sums.jsonl")}
        for one in (load, ordinary)
    ]
    assert texts[0] == texts[1]


def test_a_seed_makes_the_same_requests_at_the_same_times(project: Project, server: MockServer) -> None:
    perf_project(project, server, ", request_rate=400", "perf = dict(unique=True, seed=3)")
    bodies = []
    for _ in range(2):
        server.follow()
        assert project.run("run", "eval.py", "-m", "perf").returncode == 0
        bodies.append(sorted(json.dumps(request["body"]) for request in server.requests()))
    assert bodies[0] == bodies[1]
    first, second = (
        (folder / "performances" / "fake" / "sums_schedule.jsonl").read_text().splitlines()[:-1]
        for folder in (project.root / "outputs" / "eval").iterdir()
    )
    assert first == second
    assert len(set(first)) == 9


def pieces_without_counts(number: int) -> dict[str, object]:
    """Return a rule for a stream of so many pieces without token counts."""
    piece = json.dumps({"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": None}]})
    return {"events": [*[piece] * number, "[DONE]"]}


@pytest.mark.parametrize(
    ("rules", "more", "words"),
    [
        (
            [pieces_without_counts(3)],
            "",
            "WARN  tokens    the server counts no tokens",
        ),
        ([], ", generation_kwargs=dict(ignore_eos=True)", "WARN  lengths   ignore_eos is not obeyed: 100%"),
        (
            [{"requests": [4, 7], "pieces": 2, "drop": "midway"}],
            "",
            "WARN  failures  2 of 8 requests failed (conn",
        ),
        ([{"requests": [4, 7], "status": 429}], "", "WARN  failures  2 of 8 requests failed (http_429 2)"),
    ],
)
def test_odd_servers_get_their_verdict(
    project: Project, server: MockServer, rules: list[dict[str, object]], more: str, words: str
) -> None:
    perf_project(project, server, more)
    server.follow(*rules)
    done = project.run("run", "eval.py", "-m", "perf", "--max-failures", "100%")
    assert words in done.stdout
    assert json.loads(performances(project)["sums.json"])["Total Generated Tokens"]["total"] > 0


def test_two_loads_are_compared_request_by_request(project: Project, server: MockServer) -> None:
    perf_project(project, server)
    for latency in (0.0, 0.1):
        server.follow({"latency": latency})
        assert project.run("run", "eval.py", "-m", "perf").returncode == 0
    before, after = sorted(str(folder) for folder in (project.root / "outputs" / "eval").iterdir())
    done = project.run("compare", before, after)
    assert done.returncode == 0, done.stderr
    assert "fake/sums: load, 8 requests that both have answered" in done.stdout
    values = json.loads(project.run("compare", before, after, "--json").stdout)["loads"]["fake/sums"]
    ratios = {one["metric"]: one for one in values["ratios"]}
    assert ratios["ttft_seconds_p50"]["interval"][0] > 1
    assert ratios["requests_per_second"]["ratio"] < 1
    for folder in (before, after):
        assert project.run("score", folder).returncode == 0
    both = project.run("compare", before, after).stdout
    assert both.index("requests that both have answered") < both.index("accuracy")


def test_rates_are_planned_before_anything_is_sent(project: Project, server: MockServer) -> None:
    perf_project(project, server, ", request_rate=400, traffic_cfg=dict(burstiness=0)", "perf = dict(unique=True)")
    dry = project.run("run", "eval.py", "-m", "perf", "--dry-run")
    assert "fake/sums: 8 requests at 400/s, in 0.02 s" in dry.stdout
    assert "not streamed" not in dry.stdout
    whole = project.run("run", "eval.py", "-m", "perf", "--dry-run", "--set", "models.0.stream=False")
    assert "no TTFT, TPOT or ITL: set stream=True (models[0])" in whole.stdout
    assert not server.requests()
    done = project.run("run", "eval.py", "-m", "perf")
    assert done.returncode == 0, done.stderr
    assert "8 requests at 400/s" in done.stdout
    head, *rows = read_lines(project.folder() / "performances" / "fake" / "sums_schedule.jsonl")
    assert head["schedule"]["kind"] == "rate"
    assert [row["due"] for row in rows[:8]] == [round((number + 1) / 400, 6) for number in range(8)]
    assert rows[8]["client"]["interrupted"] is False
    prompts = [request["body"]["messages"][0]["content"].splitlines()[0] for request in server.requests()[1:]]
    assert len(set(prompts)) == 8


def test_users_pause_after_an_answer(project: Project, server: MockServer) -> None:
    perf_project(project, server, "", "perf = dict(load='users', users=4, think_seconds=0.2)")
    done = project.run("run", "eval.py", "-m", "perf")
    assert done.returncode == 0, done.stderr
    assert "8 requests from 4 users, 0.2 s apart" in done.stdout
    times = [line["times"] for line in project.journal()]
    ends = sorted(one["end"] for one in times)
    assert sorted(one["due"] for one in times)[4] >= ends[0] + 0.19


def test_pressure_asks_the_rows_again_until_the_time_is_over(project: Project, server: MockServer) -> None:
    perf_project(project, server)
    server.follow({"latency": 0.05})
    done = project.run("run", "eval.py", "-m", "perf", "--pressure", "--pressure-time", "0.4")
    assert done.returncode == 0, done.stderr
    repeats = {line["repeat"] for line in project.journal()}
    assert {0, 1} <= repeats
    assert "of the prompts were sent before" in done.stdout


def test_a_trace_is_replayed_from_the_column_timestamp(project: Project, server: MockServer) -> None:
    perf_project(project, server, ", use_timestamp=True")
    project.write_data([{"question": f"{n}+{n}=?", "answer": str(2 * n), "timestamp": 500 + 20 * n} for n in range(4)])
    done = project.run("run", "eval.py", "-m", "perf")
    assert done.returncode == 0, done.stderr
    assert sorted(line["times"]["due"] for line in project.journal()) == [0.0, 0.02, 0.04, 0.06]
    project.write_data()
    done = project.run("run", "eval.py", "-m", "perf")
    assert done.returncode == 2
    assert "a trace needs a column 'timestamp'" in done.stderr
    for wrong in ("NaN", "null", "[1]", "Infinity"):
        line = f'{{"question": "1+1=?", "answer": "2", "timestamp": {wrong}}}\n'
        (project.root / "data" / "sums.jsonl").write_text(line)
        done = project.run("run", "eval.py", "-m", "perf")
        assert done.returncode == 2
        assert "row 0 has" in done.stderr
        assert done.stderr.count("Error") == 1


def test_failures_are_counted_and_exceed_the_limit(project: Project, server: MockServer) -> None:
    perf_project(project, server)
    server.follow({"requests": [3, 5], "status": 500, "body": {"error": "no"}})
    done = project.run("run", "eval.py", "-m", "perf")
    assert done.returncode == 1
    assert "WARN  failures  2 of 8 requests failed (http_500 2)" in done.stdout
    assert "2 of 8 requests failed; --max-failures is 0" in done.stderr
    folder = project.folder() / "performances" / "fake"
    failures = read_lines(folder / "sums_failed.jsonl")
    assert [one["error_info"].partition(" (")[0] for one in failures] == ["http_500: no"] * 2
    details = {one["id"]: one for one in read_lines(folder / "sums_details.jsonl")}
    assert {one["id"] for one in failures} == {number for number, one in details.items() if not one["success"]}
    assert all({**details[one["id"]], **one} == details[one["id"]] for one in failures)
    assert sum(json.loads((folder / "sums_charts.json").read_text())["requests"]["failed"]) == 2


@pytest.mark.parametrize(
    ("rules", "options", "words"),
    [
        ([{"status": 401, "body": {"error": "no key"}}], (), "the warm-up failed: http_401: no key"),
        (
            [{"status": 500, "body": {"error": "no"}}],
            ("--num-warmups", "0"),
            "none of 8 requests was answered: http_500",
        ),
    ],
)
def test_a_server_that_answers_nothing_is_one_error(
    project: Project, server: MockServer, rules: list[dict[str, object]], options: tuple[str, ...], words: str
) -> None:
    perf_project(project, server)
    server.follow(*rules)
    done = project.run("run", "eval.py", "-m", "perf", *options)
    assert done.returncode == 3
    assert words in done.stderr
    assert done.stderr.count("ModelError") == 1


@pytest.mark.parametrize(
    ("more", "config", "options", "words"),
    [
        (", traffic_cfg=dict(adaptive=True)", "", (), "adaptive changes the load"),
        (", request_rate=1e9", "", (), "a load needs a request_rate from 0.001 to 100,000"),
        ("", "perf = dict(lode='closed')", (), "did you mean 'load'?"),
        ("", "perf = dict(load='open')", (), "load is 'open' (str), not 'closed'"),
        ("", "", ("--gate", "ttft_p99 < 1"), "did you mean 'ttft_seconds_p99'?"),
        ("", "", ("--shard", "0/2"), "-m perf has no --shard"),
        ("", "", ("--pressure-time", "3"), "--pressure-time needs --pressure"),
        ("", "", ("--slo", "p99 ttft is fine"), "'p99 ttft is fine' is no goal for a latency"),
        ("", "perf = dict(slo=['p99 itl <= 1s'])", (), "'itl' is not ttft, tpot or e2el"),
        ("", "perf = dict(slo=3)", (), "3 is no goal for a latency"),
        ("", "perf = dict(duration=0)", (), "perf.duration is 0 (int), not a number above 0"),
        ("", "", ("--sweep", "concurrency"), "'concurrency' is no sweep"),
        ("", "", ("--sweep", "concurrency=1,0"), "max_concurrency must be at least 1, not 0"),
        ("", "", ("--sweep", "concurency=1,2"), "concurency"),
        ("", "", ("--find-rate",), "--find-rate searches a rate that meets goals"),
        ("", "", ("--find-rate", "--sweep", "concurrency=1,2"), "--find-rate chooses its own points"),
        ("", "", ("--runs", "2", "--as", "vllm"), "--as shows one load"),
        ("", "", ("--grace", "3"), "--grace needs --duration"),
        ("", "", ("-r", "--sweep", "concurrency=1,2"), "--sweep measures, and a stored run is shown"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    project: Project, server: MockServer, more: str, config: str, options: tuple[str, ...], words: str
) -> None:
    perf_project(project, server, more, config)
    done = project.run("run", "eval.py", "-m", "perf", *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert not server.requests()


def test_a_config_of_aisbench_runs_unmodified(project: Project, server: MockServer) -> None:
    project.write_data()
    port = server.base_url.split(":")[2].split("/")[0]
    model = (
        "dict(attr='service', type='ais_bench.benchmark.models.VLLMCustomAPIChat', abbr='fake', path='', model='mock', "
        f"stream=True, request_rate=0, use_timestamp=False, retry=2, api_key='', host_ip='127.0.0.1', "
        f"host_port={port}, url='', max_out_len=512, batch_size=2, trust_remote_code=False, "
        "generation_kwargs=dict(temperature=0.01, ignore_eos=False))"
    )
    calculator = (
        "dict(type='ais_bench.benchmark.calculators.StablePerfMetricCalculator', stats_list=['Average', 'P90'])"
    )
    kind = "ais_bench.benchmark.summarizers.DefaultPerfSummarizer"
    summarizer = f"summarizer = dict(attr='performance', type='{kind}', calculator={calculator})"
    project.write_config(models=model, datasets=DATASET, more=summarizer)
    server.follow({"latency": 0.03})
    done = project.run("run", "eval.py", "-m", "perf")
    assert done.returncode == 0, done.stderr
    header = performances(project)["sums.csv"].decode().splitlines()[:2]
    assert header[0] == "Performance Parameters,Stage,Average,P90,N"
    assert header[1].startswith("E2EL,stable,")


def test_a_trace_of_aisbench_runs_unmodified(project: Project, server: MockServer) -> None:
    rows = [{"timestamp": 20 * n, "input_length": 30, "output_length": 5 + n, "hash_ids": [n]} for n in (1, 2)]
    project.write_data(rows)
    package = "ais_bench.benchmark"
    trace = (
        f"dict(abbr='sums', type='{package}.datasets.MooncakeTraceDataset', path='data/sums.jsonl', "
        "generated_prompts_path='', random_seed=None, fixed_schedule_end_offset=-1, "
        "reader_cfg=dict(input_columns=['prompt', 'timestamp', 'max_out_len'], output_column='answer'), infer_cfg=dict("
        f"prompt_template=dict(type='{package}.openicl.icl_prompt_template.PromptTemplate', template='{{prompt}}'), "
        f"retriever=dict(type='{package}.openicl.icl_retriever.ZeroRetriever'), "
        f"inferencer=dict(type='{package}.openicl.icl_inferencer.GenInferencer')), "
        f"eval_cfg=dict(evaluator=dict(type='{package}.datasets.MooncakeTraceEvaluator')))"
    )
    project.write_config(models=SERVED.format(url=server.base_url, more=", use_timestamp=True"), datasets=trace)
    done = project.run("run", "eval.py", "-m", "perf")
    assert done.returncode == 0, done.stderr
    assert [line["times"]["due"] for line in project.journal()] == [0.0, 0.02]
    assert {request["body"]["max_tokens"] for request in server.requests()} == {6, 7}


def test_an_interrupted_load_keeps_what_is_there(project: Project, server: MockServer) -> None:
    perf_project(project, server)
    server.follow({"requests": list(range(1, 6))}, {"latency": WATCHDOG_SECONDS})
    process = project.start("run", "eval.py", "-m", "perf")
    deadline = time.monotonic() + WATCHDOG_SECONDS
    while len(server.requests()) < 9:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    live = LiveRun(RunFolder(project.folder()), rescore=lambda _: None)
    while not ((state := live.state()).tabs and state.tabs["loads"]["answered"] == 4):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    counts = {"sent": 8, "in_flight": 4, "answered": 4, "failed": 0}
    assert {name: state.tabs["loads"][name] for name in counts} == counts
    assert not state.is_due, "scoring would slow the load down"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=WATCHDOG_SECONDS)
    assert process.returncode == 130
    assert "interrupted after 4 of 8" in out
    assert "stopped; what was answered is kept" in err
    assert not live.state().tabs
    assert json.loads((project.folder() / "run.json").read_text())["status"] == "interrupted"
    assert Path(project.folder() / "performances" / "fake" / "sums.csv").exists()


def test_a_server_is_measured_without_a_config(project: Project, server: MockServer) -> None:
    options = ("--input-tokens", "20-30", "--output-tokens", "7", "--request-rate", "100", "--num-prompts", "5")
    done = project.run("run", "--url", server.base_url, "-m", "perf", *options)
    assert done.returncode == 0, done.stderr
    assert "mock/synthetic · 5 requests at 100/s" in done.stdout
    bodies = [request["body"] for request in server.requests()[1:]]
    assert {(body["max_tokens"], body["stream"]) for body in bodies} == {(7, True)}
    assert all(20 <= len(body["messages"][0]["content"].split()) <= 30 for body in bodies)
    assert server.requests()[0]["body"]["max_tokens"] == 7, "of the warm-up too"
    done = project.run("run", "--url", server.base_url, *options)
    assert done.returncode == 2
    assert "add -m perf" in done.stderr
    project.write_data()
    done = project.run("run", "--url", server.base_url, "--data", "data/sums.jsonl", "-m", "perf", *options)
    assert done.returncode == 2
    assert "name no config and no dataset" in done.stderr


def test_without_data_prompts_are_made_up_and_enough_for_what_is_shown(project: Project, server: MockServer) -> None:
    done = project.run("run", "--url", server.base_url, "-m", "perf", "--input-tokens", "3")
    assert done.returncode == 0, done.stderr
    assert "mock/synthetic · 500 requests from 16 clients" in done.stdout
    assert {"p50", "p90", "p99"} <= set(done.stdout.split())
    assert "p99 needs" not in done.stdout
    again = project.run("run", "--url", server.base_url, "-m", "perf_viz", "-r")
    assert again.stdout == done.stdout, again.stderr
    dry = project.run("run", "--url", server.base_url, "-m", "perf", "--dry-run")
    assert "mock/synthetic: 500 requests from 16 clients" in dry.stdout


def test_later_turns_of_a_dialogue_are_due_when_the_answer_before_them_is_there(
    project: Project, server: MockServer
) -> None:
    project.write_data([{"question": ["1+1=?", "2+2=?"], "answer": ["2", "4"]}] * 3)
    template = "dict(round=[dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')])"
    talk = (
        "dict(abbr='sums', type='LocalDataset', path='data/sums.jsonl', "
        "reader_cfg=dict(input_columns=['question'], output_column='answer'), infer_cfg=dict("
        f"prompt_template=dict(type='MultiTurnPromptTemplate', template={template}), "
        "inferencer=dict(type='MultiTurnGenInferencer', infer_mode='every')))"
    )
    project.write_config(models=SERVED.format(url=server.base_url, more=", request_rate=50"), datasets=talk)
    done = project.run("run", "eval.py", "-m", "perf")
    assert done.returncode == 0, done.stderr
    first, later = ([line["times"] for line in project.journal() if line["turn"] == turn] for turn in (0, 1))
    assert len(first) == len(later) == 3
    assert all(any(0 <= after["due"] - before["end"] < 1 for before in first) for after in later)
    assert all(line["prediction"] == ["2", "4"] for line in project.predictions())
    details = read_lines(project.folder() / "performances" / "fake" / "sums_details.jsonl")
    assert len({one["uuid"] for one in details}) == 3
    asked = {one["turn_id"]: [message["content"] for message in one["input"]] for one in details}
    assert asked == {0: ["1+1=?"], 1: ["1+1=?", "2", "2+2=?"]}


def test_many_loads_are_a_line_each_and_a_verdict_is_said_once(project: Project, server: MockServer) -> None:
    project.write_data()
    names = ["one", "two", "three", "four"]
    datasets = ", ".join(DATASET.replace("'sums'", f"'{name}'") for name in names)
    project.write_config(models=SERVED.format(url=server.base_url, more=""), datasets=datasets)
    done = project.run("run", "eval.py", "-m", "perf")
    assert done.returncode == 0, done.stderr
    assert [len([line for line in done.stdout.splitlines() if line.startswith(f"fake/{name} ")]) for name in names] == [
        *(1, 1, 1, 1)
    ]
    assert "values" not in done.stdout, "no percentile of too few values is shown"
    shown = project.run("run", "eval.py", "-m", "perf_viz", "-r", "--json")
    rows = json.loads(shown.stdout)["scores"]
    assert {row["dataset"] for row in rows if row["metric"] == "ttft_seconds_p50"} == {*names}


def test_goals_have_verdicts_goodput_and_gates(project: Project, server: MockServer) -> None:
    perf_project(project, server, "", "perf = dict(slo=['p90 e2el <= 60s'])")
    done = project.run("run", "eval.py", "-m", "perf", "--gate", "goodput_share >= 1", "--gate", "slo >= 1")
    assert done.returncode == 0, done.stderr
    assert "ok    slo       p90 e2el <= 60s: it is" in done.stdout
    assert "meet every goal, 100.0% of all" in done.stdout
    shown = project.run("run", "eval.py", "-m", "perf_viz", "-r", "--slo", "p50 ttft <= 0.001ms")
    assert shown.returncode == 1
    assert "FAIL  slo       p50 ttft <= 0.001ms: it is" in shown.stdout
    assert json.loads(performances(project)["sums_perf.json"])["goodput"]["share"] == 0
    perf_project(project, server, "", "perf = dict(slo=['p90 e2el <= 0.001ms'])")
    assert project.run("run", "eval.py", "-m", "perf_viz", "-r").returncode == 1
    swept = project.run("run", "eval.py", "-m", "perf", "--sweep", "concurrency=2,4", "--json")
    assert (swept.returncode, json.loads(swept.stdout)["exit_code"]) == (1, 1)


def test_probes_are_timed_beside_the_load_and_are_no_part_of_it(
    project: Project, server: MockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ais_prompt.extensions.perf.probe.INTERVAL", 0.05)
    more = ", generation_kwargs=dict(min_tokens=3, top_k=1)"
    perf_project(project, server, more, "perf = dict(probe=True)")
    server.follow({"text": "probe 2", "status": 500, "body": {"error": "no"}}, {"text": "probe"}, {"latency": 0.2})
    done = project.run("run", "eval.py", "-m", "perf", "--num-warmups", "0", "--gate", "probe_seconds_p50 <= 60")
    assert done.returncode == 0, done.stderr
    assert "PROBE ms" in done.stdout
    bodies = [request["body"] for request in server.requests()]
    probes = [body for body in bodies if "probe" in body["messages"][0]["content"]]
    assert len(probes) == len(bodies) - 8 > 3
    assert {(body["max_tokens"], body.get("min_tokens"), body["top_k"]) for body in probes} == {(1, None, 1)}
    found = json.loads(performances(project)["sums_perf.json"])
    times = sorted(found["probes"], key=lambda one: one["sent"])
    assert [one["failure"] for one in times].count("http_500") == sum(one["failure"] is not None for one in times) == 1
    assert all(one["sent"] >= 0.05 * number and one["seconds"] > 0 for number, one in enumerate(times))
    measured = found["stages"]["total"]["distributions"]["probe_seconds"]
    assert (measured["n"], measured["most"]) == (len(times), None), "a failed probe is infinite"
    assert len(project.journal()) == found["stages"]["total"]["requests"] == 8
    shown = project.run("run", "eval.py", "-m", "perf_viz", "-r")
    assert "PROBE ms" in shown.stdout
    assert json.loads(performances(project)["sums_perf.json"]) == found


def test_what_the_client_sent_and_where_it_ran_is_stored(project: Project, server: MockServer) -> None:
    perf_project(project, server)
    assert project.run("run", "eval.py", "-m", "perf").returncode == 0
    found = json.loads(performances(project)["sums_perf.json"])
    first = next(request["body"] for request in server.requests()[1:])
    sent = {name: value for name, value in first.items() if name not in ("stream", "stream_options")}
    assert {**found["first_body"], "messages": sent["messages"]} == sent
    assert {"processor", "python", "platform", "ais-prompt"} <= set(found["client"]["machine"])
    served = {line["times"]["served"] for line in project.journal()}
    assert len(served) == len({line["times"]["body"] for line in project.journal()}) == 1
    assert f"{served.pop()} answered" in {one["name"]: one["text"] for one in found["verdicts"]}["server"]


@pytest.mark.parametrize("more", ["", ", request_rate=20"])
def test_a_load_may_have_a_duration_and_is_cut_after_its_grace(project: Project, server: MockServer, more: str) -> None:
    perf_project(project, server, more)
    server.follow({"requests": [6], "latency": WATCHDOG_SECONDS}, {"latency": 0.05})
    done = project.run("run", "eval.py", "-m", "perf", "--duration", "0.6", "--grace", "0.5", "--max-failures", "1")
    assert done.returncode == 0, done.stderr
    assert "of 12 requests failed (cut 1)" in done.stdout or not more
    times = [line["times"] for line in project.journal()]
    assert len(times) > 8, "the rows are asked again"
    assert all(one["due"] <= 0.61 for one in times)
    assert [
        line["completion"]["failure"]["kind"] for line in project.journal() if line["completion"].get("failure")
    ] == ["cut"]


def test_a_sweep_is_a_load_for_each_point_and_shown_again(project: Project, server: MockServer) -> None:
    perf_project(project, server)
    server.follow({"latency": 0.02})
    dry = project.run("run", "eval.py", "-m", "perf", "--sweep", "concurrency=1,2,8", "--dry-run")
    assert "concurrency=8: fake/sums: 8 requests from 8 clients" in dry.stdout
    done = project.run("run", "eval.py", "-m", "perf", "--sweep", "concurrency=1,2,8", "--runs", "2")
    assert done.returncode == 0, done.stderr
    assert "fake/sums: 6 loads" in done.stdout
    assert "concurrency=8" in (project.folder() / "report.html").read_text()
    assert "fake has no /reset_prefix_cache" in done.stdout
    rows = list(csv.DictReader((project.folder() / "summary" / "perf.csv").read_text().splitlines()))
    assert [(row["model"], row["dataset"], row["point"], row["run"]) for row in rows] == [
        ("fake", "sums", f"concurrency={number}", run) for number in (1, 2, 8) for run in ("1", "2")
    ]
    assert all(float(row["ttft_seconds_p50"]) >= 0.02 for row in rows)
    folders = sorted((project.folder() / "loads").iterdir())
    assert folders[0].name == "01-concurrency=1-run1"
    asked = [json.loads((one / "run.json").read_text())["status"] for one in folders]
    assert asked == ["finished"] * 6
    heads = [read_lines(one / "performances" / "fake" / "sums_schedule.jsonl")[0] for one in folders]
    assert [head["schedule"]["places"] for head in heads] == [1, 1, 2, 2, 8, 8]
    assert len({head["seed"] for head in heads}) == 6
    [listed] = data_of(runs_page(project.folder().parent, {"/eval": RunFolder(project.folder())}))["runs"]
    assert [load["point"] for load in listed["loads"]][::2] == [f"concurrency={number} run 1" for number in (1, 2, 8)]
    one = project.run("run", "eval.py", "-m", "perf_viz", "-r", str(folders[2]), "--as", "vllm")
    assert "Mean TTFT (ms):" in one.stdout, one.stderr
    keep_measurement(project.folder())
    again = project.run("run", "eval.py", "-m", "perf_viz", "-r", "--json")
    assert again.returncode == 0, again.stderr
    document = json.loads(again.stdout)
    assert {one["point"] for one in document["loads"]} == {f"concurrency={number}" for number in (1, 2, 8)}
    assert document["best_rate"] is None
    assert list(csv.DictReader((project.folder() / "summary" / "perf.csv").read_text().splitlines())) == rows


@pytest.mark.parametrize(
    ("answered", "options", "loads"),
    [
        (12, ("--sweep", "concurrency=4,2,1"), ["concurrency=4", "concurrency=2"]),
        (9, ("--find-rate", "--slo", "p50 e2el <= 60s"), ["request_rate=800"]),
    ],
)
def test_several_loads_that_are_interrupted_are_kept_and_said_to_be_no_whole(
    project: Project, server: MockServer, answered: int, options: tuple[str, ...], loads: list[str]
) -> None:
    perf_project(project, server, ", timeout=600" + ", request_rate=800" * ("--slo" in options))
    server.follow({"requests": list(range(1, answered + 1))}, {"latency": WATCHDOG_SECONDS})
    process = project.start("run", "eval.py", "-m", "perf", *options)
    deadline = time.monotonic() + WATCHDOG_SECONDS
    while len(server.requests()) <= answered:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=WATCHDOG_SECONDS)
    assert process.returncode == 130
    assert "stopped after 1 load; what was measured is kept" in err
    assert "Traceback" not in err
    assert "the run has not come to its end, so loads are missing" in out
    assert json.loads((project.folder() / "run.json").read_text())["status"] == "interrupted"
    again = project.run("run", "eval.py", "-m", "perf", "-r")
    assert again.returncode == 0, again.stderr
    assert "the run has not come to its end, so loads are missing" in again.stdout
    rows = list(csv.DictReader((project.folder() / "summary" / "perf.csv").read_text().splitlines()))
    assert [row["point"] for row in rows] == loads


def test_a_rate_is_searched_and_its_failures_are_its_result(project: Project, server: MockServer) -> None:
    perf_project(project, server, ", request_rate=800")
    done = project.run("run", "eval.py", "-m", "perf", "--find-rate", "--slo", "p50 e2el <= 0.001ms")
    assert done.returncode == 1
    assert "no rate passed" in done.stdout
    rows = list(csv.DictReader((project.folder() / "summary" / "perf.csv").read_text().splitlines()))
    assert [row["point"] for row in rows] == [f"request_rate={rate}" for rate in (800, 400, 200, 100, 50, 25)]
    assert {row["slo"] for row in rows} == {"0.0"}


def test_a_search_ends_where_no_server_answers(project: Project, server: MockServer) -> None:
    perf_project(project, server, ", request_rate=800")
    nowhere = "models.0.base_url=http://127.0.0.1:9/v1"
    done = project.run("run", "eval.py", "-m", "perf", "--find-rate", "--slo", "p50 e2el <= 1s", "--set", nowhere)
    assert done.returncode == 3
    assert "1 of 1 task failed" in done.stderr
    assert [one.name for one in (project.folder() / "loads").iterdir()] == ["01-request_rate=800"]


def test_a_server_without_counters_is_said_in_the_file_of_speculative_decoding(
    project: Project, server: MockServer
) -> None:
    perf_project(project, server)
    done = project.run("run", "eval.py", "-m", "perf", "--spec-decode")
    assert done.returncode == 0, done.stderr
    host = server.base_url.split("/")[2].replace(":", "_")
    found = json.loads(performances(project)[f"spec_decode_{host}.json"])
    assert (found["status"], found["error"]) == ("error", "GET /metrics: HTTP 404")
    assert found["url"] == server.base_url.replace("/v1", "/metrics")
    assert json.loads(performances(project)["sums_perf.json"])["counters"][0]["error"] == found["error"]


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_load_that_is_stopped_while_its_server_starts_is_measured_again(project: Project) -> None:
    use(project, noting(project))
    process = project.start("run", "eval.py", "-m", "perf")
    noted(project, "server")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=WATCHDOG_SECONDS)
    assert process.returncode == 130
    assert "fix:   measure it again" in err


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (("-m", "perf"), "ScriptedModel has no server"),
        (("-m", "perf_viz"), "add -r"),
        (("-r", "--retry-truncated", "max_out_len=64", "-m", "perf"), "truncated answers"),
        (("--slo", "p99 ttft <= 2s"), "add -m perf"),
    ],
)
def test_a_load_that_makes_no_sense_is_an_error_with_a_hint(project: Project, args: tuple[str, ...], hint: str) -> None:
    run_with_cut_answers(project)
    done = project.run("run", "eval.py", *args)
    assert done.returncode == 2
    assert hint in done.stderr
