"""The page for labels: what it shows and hides, what it saves, and who may use it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.extensions.labels.label_files import labels_file, read_label_file
from ais_prompt.extensions.labels.page import LabelPage, pages
from ais_prompt.report import ReportServer
from ais_prompt.store import RunFolder, locate_run
from tests.support.cli import run_cli
from tools.chromium import Page

pytestmark = pytest.mark.thorough
CONFIG = """
judges = [dict(type='ScriptedModel', abbr=name, answers={'A: (good|fair)': '[[A]]'} if name != 'harsh' else
    {'A: good': '[[A]]'}, default='[[B]]') for name in ('mild', 'harsh', 'usual')]
models = [dict(type='ScriptedModel', abbr=name, answers=dict(one='good', two=second), default='bad')
          for name, second in (('first-model', 'fair'), ('second-model', 'good'))]
datasets = [dict(type='LocalDataset', abbr='facts', rows=[dict(q=f'{word} {number}', a='yes') for number in range(4)
        for word in ('one', 'two', 'three')],
    reader_cfg=dict(input_columns=['q'], output_column='a'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{q}'), inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='GenericLLMEvaluator', judge_cfg=judges,
        prompt_template=dict(type='PromptTemplate', template='{q}\\nA: {prediction}'))))]
"""
MODELS = ("first-model", "second-model")


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    (tmp_path / "e.py").write_text(CONFIG)
    done = run_cli("run", "e.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    return locate_run(tmp_path / "outputs", "latest")


def page_of(run: RunFolder, **options: Any) -> LabelPage:
    return pages(run.root, {"label": True, **options})["label"]


def order(page: LabelPage) -> list[tuple[str, str]]:
    total = len(page.answer({})["labels"])
    shown = [page.answer({"number": str(number)}) for number in range(total)]
    return [(one["question"][0]["text"], one["answer"]) for one in shown]


def test_answers_are_blind_and_in_an_order_of_each_person(run: RunFolder) -> None:
    anna, ben = page_of(run, name="anna"), page_of(run, name="ben")
    assert len(order(anna)) == 24
    assert sorted(order(anna)) == sorted(order(ben))
    assert order(anna) != order(ben)
    shown = json.dumps([anna.answer({"number": str(number)}) for number in range(24)]) + anna.html()
    assert not any(name in shown for name in (*MODELS, "mild", "harsh", "[[A]]"))
    assert anna.answer({"number": "0"})["gold"] == "yes"


def test_a_larger_draw_adds_to_a_smaller_draw(run: RunFolder) -> None:
    few, more = order(page_of(run, draw=5)), order(page_of(run, draw=9))
    assert len(few) == 5
    assert not set(few) - set(more)


def test_only_what_judges_disagree_on(run: RunFolder) -> None:
    found = order(page_of(run, disagreed=True))
    assert {answer for _, answer in found} == {"fair"}
    assert len(found) == 4


def test_labels_are_saved_at_once_and_taken_back(run: RunFolder) -> None:
    page = page_of(run, task="first-model/facts", name="anna", draw=6)
    path = labels_file(run, "first-model", "facts", "anna")
    state = page.take({"number": 2, "label": True, "comment": " so it is "})
    assert state["labels"] == [None, None, True, None, None, None]
    assert state["comments"][2] == "so it is"
    [row] = [json.loads(line) for line in path.read_text().splitlines()]
    assert (row["label"], row["comment"], row["selection"]) == (True, "so it is", "random")
    page.take({"number": 2, "label": False})
    assert [one.label for one in read_label_file(path).values()] == [False]
    assert page_of(run, task="first-model/facts", name="anna", draw=6).answer({})["labels"][2] is False
    page.take({"number": 2, "label": None})
    assert read_label_file(path) == {}


def test_labels_of_two_open_pages_at_once_are_all_saved(run: RunFolder) -> None:
    page = page_of(run, task="first-model/facts")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: page.take({"number": number, "label": True}), range(12)))
    assert len(read_label_file(labels_file(run, "first-model", "facts", "me"))) == 12


def test_two_people_label_apart_and_their_labels_measure_the_judge(run: RunFolder) -> None:
    for name, mild in (("anna", ("good", "fair")), ("ben", ("good",))):
        page = page_of(run, name=name)
        for number, (_, answer) in enumerate(order(page)):
            state = page.take({"number": number, "label": answer in mild})
    assert state["agreement"] == {"answers": 24, "equal": 20, "alpha": pytest.approx(0.66, abs=0.02)}
    folder = run.root.parents[2]
    shown = run_cli("labels", "latest", folder=folder).stdout
    assert "  anna             12 labels" in shown
    assert "  agreement        8 of 12 answers" in shown
    written = run_cli("labels", "latest", "--task", "first-model/facts", "-o", "labels.jsonl", folder=folder)
    assert "labels.jsonl: 8 labels" in written.stdout
    checked = run_cli("judge-check", "latest", "--task", "first-model/facts", "--labels", "labels.jsonl", folder=folder)
    assert checked.returncode == 0, checked.stderr
    assert "specificity      100.0 %" in checked.stdout
    both = json.loads(run_cli("labels", "latest", "--json", folder=folder).stdout)["tasks"]
    assert [one["task"] for one in both] == [f"{model}/facts" for model in MODELS]
    assert run_cli("labels", "latest", "-o", "x.jsonl", folder=folder).returncode == 2


def test_labels_are_the_golds_of_a_dataset_without_an_evaluator(tmp_path: Path) -> None:
    (tmp_path / "e.py").write_text(CONFIG[: CONFIG.index("    eval_cfg")].rstrip().removesuffix(",") + ")]")
    assert run_cli("run", "e.py", folder=tmp_path).returncode == 0
    run = locate_run(tmp_path / "outputs", "latest")
    page = page_of(run, task="second-model/facts")
    for number, (_, answer) in enumerate(order(page)):
        page.take({"number": number, "label": answer == "good"})
    shown = run_cli("labels", "latest", folder=tmp_path).stdout
    assert "  score by labels  66.7 %  66.7–66.7" in shown
    assert "next" not in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": True, "task": "x/y"}, "no answers of a task 'x/y'"),
        ({"name": "anna"}, "--name is about labels"),
    ],
)
def test_options_that_cannot_be(run: RunFolder, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        pages(run.root, options)


def test_values_that_cannot_be(run: RunFolder) -> None:
    page = page_of(run)
    for values in ({"number": 24, "label": True}, {"number": "x", "label": True}, {"number": 0, "label": "yes"}, {}):
        with pytest.raises(ConfigError):
            page.take(values)


def test_a_run_folder_that_cannot_be_written_says_so_before_anything_is_labelled(run: RunFolder) -> None:
    (run.root / "labels").write_text("a file in the place of the folder")
    with pytest.raises(StoreError, match="labels cannot be saved in this run folder"):
        page_of(run)


@contextmanager
def serving(run: RunFolder, **options: Any) -> Iterator[ReportServer]:
    made = pages(run.root, {"label": True, **options})
    with ReportServer(run.root.parents[1], run=run, pages=made) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


def sent(server: ReportServer, run: RunFolder, values: Any, **headers: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    connection.request("POST", f"{server.address(run)}/label/data", json.dumps(values), headers)
    reply = connection.getresponse()
    return reply.status, reply.read().decode()


def test_nothing_is_saved_without_the_token_or_from_another_site(run: RunFolder) -> None:
    with serving(run) as server:
        cookie = {"Cookie": f"{server.cookie}={server.token}"}
        own = {"X-Aisprompt-Report": "1"}
        label = {"number": 0, "label": True}
        assert sent(server, run, label, **own)[0] == 403
        assert sent(server, run, label, **cookie)[0] == 404
        assert sent(server, run, label, **cookie, **own, **{"Content-Length": "999999999"})[0] == 503
        assert not any(path.read_text() for path in run.root.glob("labels/*/*/*.jsonl"))
        status, text = sent(server, run, label, **cookie, **own)
        assert (status, json.loads(text)["labels"][0]) == (200, True)
        status, text = sent(server, run, {"number": 99}, **cookie, **own)
        assert (status, "there is no answer 99" in text) == (503, True)


@pytest.mark.browser
def test_keys_label_skip_and_undo(run: RunFolder, chromium: Page) -> None:
    with serving(run, draw=4, name="anna") as server:
        chromium.complaints.clear()
        chromium.open(server.with_token(f"{server.address(run)}/label"))
        at = "document.querySelector('#shown').dataset.number === '{}'"
        labelled = "document.querySelector('#progress').textContent.startsWith('{} of 4')"
        chromium.wait_for(at.format(0))
        assert chromium.texts("#shown h2") == ["Question", "Gold answer", "Answer"]
        first = chromium.texts("#shown pre")
        chromium.press("c")
        chromium.type("10 of them")  # digits in a comment are no labels
        chromium.press("Escape")
        chromium.press("1")
        chromium.wait_for(at.format(1))
        chromium.press("s")
        chromium.wait_for(at.format(2))
        chromium.press("0")
        chromium.wait_for(at.format(3))
        chromium.press("u")
        chromium.wait_for(at.format(2))
        chromium.wait_for(labelled.format(1))
        chromium.click("#wrong")
        chromium.wait_for(at.format(3))
        chromium.press("1")
        chromium.wait_for(at.format(1))  # the skipped answer comes last
        chromium.press("1")
        chromium.wait_for("document.querySelector('#shown .empty')")
        assert chromium.texts("#progress") == ["4 of 4 labelled"]
        assert not [complaint for complaint in chromium.complaints if "favicon" not in complaint]
    saved = [one for path in run.root.glob("labels/*/*/anna.jsonl") for one in read_label_file(path).values()]
    assert sorted(one.label for one in saved) == [False, True, True, True]
    assert [one.comment for one in saved if one.comment] == ["10 of them"]
    assert first[1] == "yes"
