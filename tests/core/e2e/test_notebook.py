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

from ais_prompt.names import API  # noqa: E402
from tests.support.servers import MockServer  # noqa: E402
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


@pytest.mark.slow
def test_the_notebook_shows_what_its_cells_return() -> None:
    assert [cell.get("outputs", []) for cell in executed().cells] == [
        cell.get("outputs", []) for cell in nbformat.read(NOTEBOOK, as_version=4).cells
    ], "run: python -m tools.notebook"


@pytest.fixture(scope="module")
def running_kernel() -> Iterator[Any]:
    manager, client = jupyter_client.manager.start_new_kernel()
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(running_kernel: Any, tmp_path: Path) -> Any:
    """The manager and the client of a kernel that works in an empty folder."""
    _, client = running_kernel
    assert result(client, client.execute(f"import os; os.chdir({str(tmp_path)!r})"))["error"] is None
    return running_kernel


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


SERVED = """
served = config(0.0)
served["models"] = [dict(type=ais_prompt.OpenAIChatModel, abbr="served", model="", base_url=URL, api_key=None)]
local = config(0.0) | dict(models=[dict(type="my_models.Four", abbr="local")], run_name="local")
rows = [{"question": "1 + 1", "answer": "2"}]
"""
FOUR = """
from ais_prompt import Completion, Decoding

class Four:
    '''A model that computes in a worker process.'''
    prompt_style, max_out_len, max_seq_len, batch_size = "text", 8, None, 4
    def identity(self): return {}
    def decoding(self, max_out_len, stop): return Decoding(max_out_len=8)
    def tokenizer(self): return None
    def count_tokens(self, prompt): return None
    def preflight(self): pass
    def load(self): pass
    def close(self): pass
    def generate(self, requests): return [Completion(text="4") for _ in requests]
"""
CELLS = {
    "load_config": ("ais_prompt.load_config(served).values['models'][0]['model']", "''"),
    "check": ("len(ais_prompt.check(url=URL, datasets='demo_addition').warnings)", "0"),
    "render_prompts": ("ais_prompt.render_prompts(served)[0].prompt[0].content", "'0? '"),
    "lock": ("ais_prompt.lock(served, 'served.lock').name", "'served.lock'"),
    "check_lock": ("ais_prompt.check_lock(served, 'served.lock').is_none", "True"),
    "run": ("run = ais_prompt.run(served)\nrun.status", "'finished'"),
    "open_run": ("len(ais_prompt.open_run('slow').samples())", "8"),
    "compare": ("ais_prompt.compare('slow', run).comparisons[0].difference", "0.0"),
    "evaluate": ("ais_prompt.evaluate(rows, url=URL, prompt='{question}').status", "'finished'"),
}
MORE_CELLS = {
    "workers": ("ais_prompt.run(local, max_num_workers=2).scores().score.tolist()", "[0.125]"),
    "url and shipped dataset": ("len(ais_prompt.render_prompts(url=URL, datasets='demo_addition'))", "1"),
    "shipped dataset": ("ais_prompt.run(url=URL, datasets='demo_addition', num_prompts=2).status", "'finished'"),
}


def test_every_function_works_where_an_event_loop_is_running(kernel: Any, server: MockServer, tmp_path: Path) -> None:
    """A kernel of Jupyter runs each cell inside its own event loop."""
    (tmp_path / "my_models.py").write_text(FOUR)
    _, client = kernel
    assert CELLS.keys() == API.keys(), "add a cell for the new function"
    begin = f"URL = {server.base_url!r}\n{CONFIG}\n{SERVED}"
    assert result(client, client.execute(begin)) == {"error": None, "text": ""}
    cells = CELLS | MORE_CELLS
    found = {name: result(client, client.execute(cell)) for name, (cell, _) in cells.items()}
    assert found == {name: {"error": None, "text": expected} for name, (_, expected) in cells.items()}
