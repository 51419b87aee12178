"""What is seen of agents: the page, the table, comparisons and exports."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import run_cli
from tools.chromium import Page

pytestmark = [pytest.mark.process, pytest.mark.thorough]
CONFIG = """
answers = {r'(?s)one.*2': %r, 'one': dict(tool_calls=[dict(name='add', arguments=dict(a=1))]), 'nil': '2'}
models = [dict(type='ScriptedModel', abbr='model', answers=answers)]
datasets = [dict(type='LocalDataset', abbr='tasks', path='rows.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'),
        inferencer=dict(type='ToolLoopInferencer', tools=['own:add'])),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text("def add(a: int) -> int:\n    return a + 1\n", "utf-8")
    rows = [{"question": "one", "answer": "2"}, {"question": "nil", "answer": "2"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    for name, answer in (("old", "2"), ("new", "two")):
        (tmp_path / f"{name}.py").write_text(CONFIG % answer, "utf-8")
        done = run_cli("run", f"{name}.py", "-w", "out", folder=tmp_path, environment={"AISPROMPT_LANG": "en"})
        assert done.returncode == 0, done.stderr
    return tmp_path


def test_a_table_has_what_each_agent_scored_and_needed(runs: Path) -> None:
    done = run_cli("agents", "old", "new", "-w", "out", folder=runs)
    assert "accuracy 1" in done.stdout
    assert "1.5 [-4.85, 7.85]" in done.stdout
    rows = json.loads(run_cli("agents", "old", "-w", "out", "--json", folder=runs).stdout)["agents"]
    assert rows[0]["steps"]["mean"] == 1.5
    assert rows[0]["tool_calls"]["mean"] == 0.5
    assert (rows[0]["samples"], rows[0]["failed"], rows[0]["cost"]) == (2, 0, None)


def test_compare_says_where_trajectories_part(runs: Path) -> None:
    done = run_cli("compare", "old", "new", "-w", "out", folder=runs)
    assert "model/tasks: 1 of 2 trajectories are equal" in done.stdout
    assert "row 0 parts at step 2" in done.stdout
    assert "before: answers '2'" in done.stdout
    found = json.loads(run_cli("compare", "old", "new", "-w", "out", "--json", folder=runs).stdout)
    [parting] = found["trajectories"]["model/tasks"]["partings"]
    assert (parting["row"], parting["step"], parting["after"]) == (0, 2, "answers 'two'")


def test_exports_have_each_step(runs: Path) -> None:
    for form in ("otel", "inspect"):
        done = run_cli("export", "old", "-w", "out", "--to", form, "-o", form, folder=runs)
        assert done.returncode == 0, done.stderr
    [path] = (runs / "otel").glob("*.json")
    [resource] = json.loads(path.read_text("utf-8"))["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    names = [span["name"] for span in spans]
    assert names == [
        "invoke_agent model",
        "chat model",
        "chat model",
        "execute_tool add",
        "invoke_agent model",
        "chat model",
    ]
    chat = facts(spans[1])
    assert chat["gen_ai.operation.name"] == "chat"
    assert chat["gen_ai.response.finish_reasons"] == {"values": [{"stringValue": "stop"}]}
    assert json.loads(chat["gen_ai.tool.definitions"])[0]["function"]["name"] == "add"
    assert facts(spans[3])["gen_ai.tool.call.result"] == "2"
    assert {span["parentSpanId"] for span in spans[1:4]} == {spans[0]["spanId"]}
    assert all(len(span["traceId"]) == 32 and len(span["spanId"]) == 16 for span in spans)
    [log] = (runs / "inspect").glob("*.eval")
    with zipfile.ZipFile(log) as archive:
        events = [
            event
            for name in archive.namelist()
            if name.startswith("samples/")
            for event in json.loads(archive.read(name))["events"]
        ]
    assert len(events) == 3
    assert events[0]["tools"][0]["name"] == "add"


def facts(span: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


@pytest.mark.browser
def test_steps_are_folded_and_open_to_the_whole_request(runs: Path, chromium: Page) -> None:
    [report] = runs.glob("out/old/*/report.html")
    chromium.open(report.as_uri())
    chromium.press("j")
    chromium.press("Enter")
    chromium.wait_for("document.querySelectorAll('details.step').length === 2")
    assert "calls add" in chromium.texts("details.step > summary")[0]
    chromium.click("details.step > summary", 1)
    chromium.wait_for("document.querySelectorAll('details.step[open] .message').length === 3")
    assert chromium.texts("details.step[open] .message .role") == ["user", "assistant", "tool"]
