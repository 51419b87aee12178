"""A stranger's package takes the steps of a run, and brings an option, without a change of this program."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient, TestServer

from ais_prompt import check
from ais_prompt.checks import check_plan
from ais_prompt.comparison import paired
from ais_prompt.config import find_shipped, list_shipped, load_config
from ais_prompt.data import find_data, require_data
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.extension import STEPS, Step
from ais_prompt.plan import Plan
from ais_prompt.registry import EVALUATORS
from ais_prompt.steps import first_answer, steps
from ais_prompt.testing.server import MockServer
from ais_prompt.types import Prediction, RunSpec
from tests.support.cli import run_in_new_process
from tests.support.parts import dataset_spec, write_rows

MANIFEST = """
from ais_prompt.extension import Extension, GateEntry

EXTENSION = Extension(
    options={
        "config": {"--strange": "acts:strange_option"},
        "run": {"--strangest": "acts:strangest_option"},
        "scored": {"--stranger": "acts:stranger_option"},
        "compare": {"--strangely": "acts:strangely_option"},
    },
    gates={"strangest": GateEntry("acts:decide", "acts:fault")},
    packages=("click",),
    steps={
        "audit": "acts:audit",
        "audit_answers": "acts:audit_answers",
        "begin": "acts:begin",
        "benchmarks": "acts:benchmarks",
        "check": "acts:check",
        "beside_scores": "acts:beside_scores",
        "command_line": "acts:command_line",
        "compare": "acts:compare",
        "compare_within": "acts:compare_within",
        "compared_variants": "acts:compared_variants",
        "config_trees": "acts:config_trees",
        "divided": "acts:divided",
        "entries": "acts:entries",
        "find_data": "acts:find_data",
        "finished": "acts:finished",
        "foreign_name": "acts:foreign_name",
        "joined": "acts:joined",
        "known_values": "acts:known_values",
        "may_ask": "acts:may_ask",
        "mock_routes": "acts:mock_routes",
        "model": "acts:model",
        "near_copies": "acts:near_copies",
        "open_log": "acts:open_log",
        "pages": "acts:pages",
        "rate": "acts:rate",
        "print_question": "acts:print_question",
        "shown": "acts:shown",
        "source": "acts:source",
        "status": "acts:status",
        "translate": "acts:translate",
    },
)
"""
ACTS = """
from dataclasses import replace
from pathlib import Path

import click
from aiohttp import web

from ais_prompt.checks import PromptWarning
from ais_prompt.comparison import FurtherComparison
from ais_prompt.config import ConfigTree, Note
from ais_prompt.errors import ConfigError
from ais_prompt.store import RunFolder, read_predictions
from ais_prompt.types import Verdict

HERE = Path(__file__).parent
strange_option = click.option("--strange", metavar="FILE")
stranger_option = click.option("--stranger", metavar="WORD")
strangest_option = click.option("--strangest", is_flag=True)
strangely_option = click.option("--strangely", is_flag=True)


def decide(gates, root, options):
    return [Verdict(gate.text, root.parent.name, True, f"{options['stranger']} decides") for gate in gates]


def fault(spec):
    return ("a strange name", "call it another") if spec.name == "strange" else None


class Audit:
    def lines(self):
        return ["a stranger audits"]


def audit(plan):
    return [Audit() for dataset in plan.scorings]


def audit_answers(task, samples, score, path, scorer_of, *, level):
    return {"doubt": f"a stranger doubts {len(samples)} answers"}


def begin(folder, plan, mode):
    print("beginning", folder.root, mode)


def benchmarks():
    return "Strange benchmarks", []


def check(dataset, examples, faults):
    if dataset.data.test[0].gold == "strange":
        faults.note(ConfigError("the first gold is strange", fix="correct it"), dataset.spec.reader.where)
    return [PromptWarning("a stranger looked at the data", dataset.spec.reader.where, "look yourself")]


def beside_scores(root, plan, options, console):
    def show():
        print("beside the scores", len(plan.tasks), options)

    return FurtherComparison({}, show, False)


def compare(before, after):
    return None


def compare_within(values):
    def show():
        print("within", values["run"])

    return FurtherComparison({}, show, True) if values["strangely"] else None


def compared_variants(root, holdout):
    return []


def print_question(samples, console, origins):
    if origins:
        return None
    print("strangely asked", [sample[0].dataset for sample in samples])
    return True


def divided(session):
    return None


def joined(plan, folder):
    return None


def entries(name):
    return []


def command_line(args, command):
    return ["--strange" if word == "--odd" else word for word in args]


def config_trees():
    return [ConfigTree("stranger", ("trees",), HERE, {}, "install it")]


def find_data(path):
    return ([HERE / path], "ask the stranger") if path.startswith("strange") else None


def foreign_name(kind, name, known):
    return ConfigError(f"{name} is strange", fix=f"write one of {sorted(known)[:1]}") if "strange" in name else None


def finished(folder, results):
    print("finished", folder)



def shown(root, console):
    pass

def known_values(root, model, dataset):
    found = read_predictions(RunFolder(root).predictions(model, dataset))
    return "strangeness", {one.sample_id: 0.25 for one in found}


def may_ask(plan, options):
    print(f"may ask {plan.spec.name}", options)
    return not options.get("strangest")


def mock_routes(app, answer):
    async def strange(request):
        status, body = answer("/v1/completions", {"prompt": "strange 1+1"})
        return web.json_response(body["choices"][0]["text"], status=status)

    app.router.add_get("/strange", strange)


def model(spec, built):
    return None


def near_copies(texts, others):
    return [(texts.index("strange"), others.index("as strange"))]


def open_log(path):
    return None


def pages(*args):
    return {}


def rate(battles, **options):
    return None


def source(named):
    infer = {
        "prompt_template": {"type": "PromptTemplate", "template": "{question}"},
        "inferencer": {"type": "GenInferencer"},
    }
    reader = {"input_columns": ["question"], "output_column": "answer"}
    path = {"type": "LocalDataset", "path": named.options["strange"]}
    return replace(named, dataset={"abbr": "odd", **path, "reader_cfg": reader, "infer_cfg": infer})


def status(folder):
    return []


def translate(values, options, *, foreign_summary, folder, place):
    if values["models"] != ["odd"]:
        return values, ()
    values = {**values, "models": [{"type": "ScriptedModel", "abbr": "odd"}]}
    return values, (Note("models are strange", "models"),)
"""


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of an installed package with an extension."""
    package = tmp_path / "stranger"
    (package / "trees/datasets").mkdir(parents=True)
    (package / "__init__.py").write_text(MANIFEST)
    (package / "acts.py").write_text(ACTS)
    (tmp_path / "stranger-1.dist-info").mkdir()
    (tmp_path / "stranger-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1\n")
    entry = "[ais_prompt.extensions]\nstranger = stranger:EXTENSION\n"
    (tmp_path / "stranger-1.dist-info/entry_points.txt").write_text(entry)
    (package / "trees/datasets/strange_quiz.py").write_text("datasets = []\n")
    (package / "strange.csv").write_text("question,answer\n1+1=?,2\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield package
    for name in set(sys.modules) - before:
        if name.startswith("stranger"):
            del sys.modules[name]


def test_each_step_has_its_function(stranger: Path) -> None:
    names: list[Step] = [*STEPS]
    assert all("stranger.acts" in {function.__module__ for function in steps(name)} for name in names)


def test_configs_of_a_stranger_are_named_and_imported(stranger: Path) -> None:
    file = stranger / "trees/datasets/strange_quiz.py"
    assert find_shipped("datasets", "strange_quiz") == find_shipped("datasets", "stranger/strange_quiz") == file
    assert file not in [one.path for one in list_shipped("datasets")]
    config = stranger / "eval.py"
    config.write_text("with read_base():\n    from stranger.trees.datasets.strange_quiz import datasets\n")
    assert load_config(config).values["datasets"] == []
    config.write_text("with read_base():\n    from stranger.trees.datasets.missing import datasets\n")
    with pytest.raises(ConfigError, match=r"stranger\.trees\.datasets\.missing"):
        load_config(config)


def test_data_are_where_a_stranger_says(stranger: Path) -> None:
    assert find_data("strange.csv") == stranger / "strange.csv"
    with pytest.raises(DataError) as caught:
        require_data("strange/missing.csv")
    assert "ask the stranger" in caught.value.fix
    assert find_data("nowhere.csv") is None


def test_names_of_a_stranger_are_answered(stranger: Path) -> None:
    with pytest.raises(ConfigError, match=r"strange\.Evaluator is strange"):
        EVALUATORS.get("strange.Evaluator")
    assert first_answer("foreign_name", "option", "--strange", ["b", "a"]).fix == "write one of ['a']"


def test_a_stranger_looks_at_the_data(stranger: Path, tmp_path: Path) -> None:
    spec = dataset_spec(tmp_path / "data")
    for gold, faults in {"2": [], "strange": ["the first gold is strange"]}.items():
        write_rows(tmp_path / "data/test.jsonl", [{"question": "1+1=?", "answer": gold}])
        plan = Plan(RunSpec("run", (), (spec,), tmp_path, None, {}))
        found = check_plan(plan, lambda path: path, thorough=True)
        assert [fault.what for fault in found.faults] == faults
        [warning] = [one for one in found.warnings if "stranger" in one.what]
        assert (warning.where, warning.fix) == (spec.reader.where, "look yourself")


def test_a_stranger_pairs_samples_of_logs(stranger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ais_prompt.steps.shipped", dict)
    sides = ("same", "strange", "why"), ("as strange", "same", "other")
    before, after = ({text: Prediction(text, 0, text, "", None, ()) for text in side} for side in sides)
    found = paired(before, after, same_dataset=False)
    assert (found.names, found.near) == ({"same": "same", "strange": "as strange"}, [("strange", "as strange")])


def test_a_stranger_audits(stranger: Path) -> None:
    dataset = {
        "type": "LocalDataset",
        "path": str(stranger / "strange.csv"),
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": "{question}"},
            "inferencer": {"type": "GenInferencer"},
        },
        "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
    }
    found = check({"models": [{"type": "ScriptedModel"}], "datasets": [dataset]}, audit_scorers=True)
    assert [line for one in found.audits for line in one.lines()].count("a stranger audits") == 1


def test_a_stranger_adds_a_route_to_the_mock_server(stranger: Path) -> None:
    async def asked() -> tuple[int, str]:
        server = MockServer([{"text": "strange", "answer": "2", "status": 201}])
        async with TestClient(TestServer(server.app())) as client, client.get("/strange") as reply:
            return reply.status, await reply.json()

    assert asyncio.run(asked()) == (201, "2")


@pytest.mark.process
def test_a_stranger_brings_an_option_and_translates(stranger: Path) -> None:
    template = "dict(type='PromptTemplate', template='{question}')"
    infer = f"dict(prompt_template={template}, inferencer=dict(type='GenInferencer'))"
    reader = "dict(input_columns=['question'], output_column='answer')"
    dataset = f"dict(type='LocalDataset', abbr='d', path='strange.csv', reader_cfg={reader}, infer_cfg={infer})"
    (stranger / "eval.py").write_text(f"models = ['odd']\ndatasets = [{dataset}]\n")
    graded = f"datasets = [dict({dataset[5:-1]}, eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]"
    (stranger / "graded.py").write_text(f"models = ['odd']\n{graded}\n")
    commands = [
        "run --help-all",
        "view-prompt --odd strange.csv --origins",
        "check eval.py",
        "run eval.py --stranger me --gate 'strangest >= 3'",
        "run eval.py --set run_name=strange --gate 'strangest >= 3'",
        "compare eval --strangely",
        "view-prompt eval.py",
        "run graded.py",
        "score graded --audit",
        "run eval.py --strangest",
    ]
    shown = run_in_new_process([shlex.split(line) for line in commands], stranger, stranger.parent)
    helped, viewed, checked, asked, named, compared, again, _, _, forbidden = (
        done.stdout + done.stderr for done in shown
    )
    assert "--strange FILE" in helped
    assert "any-chat-model/odd" in viewed
    assert "models are strange" in checked
    assert "d: strangeness" in asked
    assert "25.0 %" in asked
    assert "beside the scores 1 {'stranger': 'me'}" in asked
    assert "ok    strangest >= 3  eval  me decides" in asked
    assert "a strange name" in named
    assert "within eval" in compared
    assert "strangely asked ['d']" in again
    assert "may ask eval {'strangest': True}" in forbidden
    assert "Run folder" not in forbidden
    assert "may ask eval {}" in asked
    [results] = stranger.glob("outputs/graded/*/results/odd/d.json")
    assert json.loads(results.read_text())["doubt"] == "a stranger doubts 1 answers"
