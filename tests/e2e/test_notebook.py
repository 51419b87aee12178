"""Notebooks: that of the documents, and a run that is interrupted in one."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
jupyter_client = pytest.importorskip("jupyter_client")
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

from tests.support.waiting import WATCHDOG_SECONDS, wait_until  # noqa: E402
from tools.notebook import NOTEBOOK, executed  # noqa: E402

pytestmark = [pytest.mark.process, pytest.mark.filterwarnings("ignore")]

CONFIG = """
import ais_prompt, json
with open("sums.jsonl", "w") as file:
    file.writelines(json.dumps({"question": f"{n}?", "answer": str(n)}) + "\\n" for n in range(8))

def same(prediction, gold):
    return prediction == gold

def config(delay):
    return dict(
        run_name="slow",
        models=[dict(type=ais_prompt.ScriptedModel, abbr="four", default="4", delay=delay, max_concurrency=1)],
        datasets=[dict(
            abbr="sums", path="sums.jsonl",
            reader_cfg=dict(input_columns=["question"], output_column="answer"),
            infer_cfg=dict(
                prompt_template=dict(type=ais_prompt.PromptTemplate, template="{question} {answer}"),
                inferencer=dict(type=ais_prompt.GenInferencer),
            ),
            eval_cfg=dict(evaluator=dict(type=same)),
        )],
    )
"""


def test_the_notebook_shows_what_its_cells_return() -> None:
    assert [cell.get("outputs", []) for cell in executed().cells] == [
        cell.get("outputs", []) for cell in nbformat.read(NOTEBOOK, as_version=4).cells
    ], "run: python -m tools.notebook"


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Any]:
    """The manager and the client of a kernel that works in an empty folder."""
    manager, client = jupyter_client.manager.start_new_kernel(cwd=str(tmp_path))
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def result(client: Any, message: str) -> dict[str, Any]:
    """The reply to a cell, and what it returns as text."""
    returned = ""
    while True:
        try:
            found = client.get_iopub_msg(timeout=WATCHDOG_SECONDS)
        except queue.Empty:
            raise AssertionError("the kernel says nothing") from None
        if found["parent_header"].get("msg_id") != message:
            continue
        if found["msg_type"] == "execute_result":
            returned = found["content"]["data"]["text/plain"]
        if found["msg_type"] == "error":
            return {"error": found["content"]["ename"], "text": found["content"]["evalue"]}
        if found["msg_type"] == "status" and found["content"]["execution_state"] == "idle":
            return {"error": None, "text": returned}


def test_the_stop_button_ends_a_run_cleanly(kernel: Any, tmp_path: Path) -> None:
    manager, client = kernel
    assert result(client, client.execute(CONFIG))["error"] is None
    message = client.execute("run = ais_prompt.run(config(1.0))", stop_on_error=False)
    wait_until(
        lambda: any(path.stat().st_size for path in tmp_path.glob("outputs/slow/*/journal/*/*.jsonl")), "an answer"
    )
    manager.interrupt_kernel()
    stopped = result(client, message)
    assert stopped["error"] == "Interrupted"
    [folder] = (tmp_path / "outputs" / "slow").iterdir()
    assert f"reuse={folder.name!r}" in stopped["text"]
    resumed = client.execute("run = ais_prompt.run(config(0.0), reuse='latest')\nrun.status, run.samples().score.sum()")
    assert result(client, resumed) == {"error": None, "text": "('finished', np.float64(1.0))"}
    assert len(list(folder.parent.iterdir())) == 1
    [text] = [path.read_text() for path in folder.glob("summary/summary.txt")]
    assert "same" in text
