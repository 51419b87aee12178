"""Configs of AISBench for conversations of BFCL: simulated programs carry out the calls of the model.

The program is a lamp of our own, in a package with the names of bfcl_eval; the last test takes the real package.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ais_prompt.extensions.peers.code import session
from ais_prompt.extensions.peers.code.calls import CompareCall, Scenario, SimulateCall
from ais_prompt.extensions.peers.code.simulated import refusal
from ais_prompt.extensions.peers.peer_packages import peer_package
from ais_prompt.extensions.peers.simulated_calls import MOST_STEPS, python_calls
from ais_prompt.models import ScriptedModel
from ais_prompt.types import Completion, Request, prompt_to_json
from ais_prompt.utils import openai_json
from tests.core.e2e.project import Project
from tests.support.lamp import write_programs
from tests.support.old_runs import write_old_run
from tests.support.packages import needs_extension

pytestmark = pytest.mark.process

BENCH = "ais_bench.benchmark"
FUNCTIONS = [
    {
        "name": name,
        "description": "Lamp.",
        "parameters": {"type": "dict", "properties": {"by": {"type": "integer", "description": "By."}}},
    }
    for name in ("turn", "look")
]
ROWS: Mapping[str, tuple[str, str]] = {
    "right": ("lamp one", "lamp one, again"),
    "silent": ("lamp two", "lamp two, again"),
    "wrong": ("lamp three", "lamp three, again"),
    "malformed": ("lamp four", "lamp four, again"),
    "unsafe": ("lamp five", "lamp five, again"),
    "endless": ("lamp six", "lamp six, again"),
    "slow": ("lamp seven", "lamp seven, again"),
}


def call(name: str, arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


ANSWERS = {
    # The last message of the user and the results after it.
    r"(?s)one$": call("turn", {"by": 3}),
    r"(?s)one, again$": call("look", {}),
    r"(?s)three$": call("turn", {"by": 1}),
    r"(?s)four$": call("turn", "{"),
    r"(?s)five$": call("__import__('pathlib').Path('owned').touch() or turn", {"by": 3}),
    r"(?s)six": call("look", {}),
    r"(?s)seven$": call("rest", {}),
}


def dataset(category: str) -> dict[str, Any]:
    """A dataset as the configs of AISBench have it."""
    columns = ["id", "question", "function", "missed_function", "involved_classes", "initial_config"]
    return {
        "abbr": category,
        "type": f"{BENCH}.datasets.BFCLDataset",
        "category": category,
        "path": "bfcl",
        "reader_cfg": {"input_columns": columns, "output_column": "ground_truth"},
        "infer_cfg": {
            "prompt_template": {
                "type": f"{BENCH}.openicl.icl_prompt_template.PromptTemplate",
                "template": "{question}",
            },
            "retriever": {"type": f"{BENCH}.openicl.icl_retriever.ZeroRetriever"},
            "inferencer": {"type": f"{BENCH}.openicl.icl_inferencer.BFCLV3FunctionCallInferencer"},
        },
        "eval_cfg": {"evaluator": {"type": f"{BENCH}.datasets.BFCLMultiTurnEvaluator", "category": category}},
    }


@pytest.fixture
def lamp(project: Project) -> Iterator[Project]:
    """Conversations about a lamp: two turns, of which the second brings a function that was missing."""
    write_programs(project.root / "programs")
    category = "multi_turn_miss_func"
    rows = [
        {
            "id": f"{category}_{name}",
            "question": [[{"role": "user", "content": first}], [], [{"role": "user", "content": last}]],
            "involved_classes": ["MathAPI"],
            "initial_config": {"MathAPI": {"level": 0}},
            "missed_function": {"1": ["look"]},
        }
        for name, (first, last) in ROWS.items()
    ]
    golds = [{"id": row["id"], "ground_truth": [["turn(by=3)"], [], ["look()"]]} for row in rows]
    for name, lines in (
        (f"BFCL_v3_{category}", rows),
        (f"possible_answer/BFCL_v3_{category}", golds),
        ("multi_turn_func_doc/math_api", FUNCTIONS),
    ):
        path = project.root / "bfcl" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    write_config(project)
    project.environment["AISPROMPT_PEER_PATH"] = str(project.root / "programs")
    yield project
    session._PROGRAMS_SESSION.stop()


def write_config(project: Project, more: str = "") -> None:
    model = f"dict(type='ScriptedModel', abbr='fake', answers={ANSWERS!r}, default='Done.'{more})"
    project.write_config(models=model, datasets=repr(dataset("multi_turn_miss_func")))


CATEGORY = "multi_turn_miss_func"


def values(project: Project) -> dict[str, float]:
    details = json.loads((project.folder() / f"results/fake/{CATEGORY}.json").read_text())["details"]
    return {name: one["values"].get("accuracy") for name, one in zip(ROWS, details, strict=True)}


def test_programs_answer_between_the_turns(lamp: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "STEP_SECONDS", 3.0)
    done = lamp.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert values(lamp) == {**dict.fromkeys(ROWS, 0.0), "right": 1.0}
    lines = lamp.predictions(dataset=CATEGORY)
    said = {name: json.loads(one["prediction"]) for name, one in zip(ROWS, lines, strict=True)}
    assert said["right"] == [[[{"turn": '{"by":3}'}], []], [[]], [[{"look": "{}"}], []]]
    assert said["silent"] == [[[]], [[]], [[]]]
    assert said["malformed"] == [[[{"turn": "{"}]], [[]], [[]]]
    assert [len(turn) for turn in said["endless"]] == [MOST_STEPS + 1]
    assert said["slow"] == [[[{"rest": "{}"}]]]
    assert not (lamp.root / "owned").exists()


def test_requests_have_the_results_and_the_functions_that_were_missing(
    lamp: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Request] = []
    complete = ScriptedModel.complete

    async def record(model: ScriptedModel, request: Request) -> Completion:
        sent.append(request)
        return await complete(model, request)

    monkeypatch.setattr(ScriptedModel, "complete", record)
    lamp.run("run", "eval.py", "--num-prompts", "1")
    offered = [[tool["function"]["name"] for tool in one.content()["decoding"]["extra"]["tools"]] for one in sent]
    assert offered == [["turn"], ["turn"], ["turn", "look"], ["turn", "look"], ["turn", "look"]]
    prompt = sent[-1].prompt
    assert isinstance(prompt, tuple)
    last = [openai_json(message) for message in prompt]
    assert [message["role"] for message in last] == [
        *("user", "assistant", "tool", "assistant"),
        *("user", "assistant"),
        *("user", "assistant", "tool"),
    ]
    assert "I have updated some more functions" in last[4]["content"]
    assert [last[2]["content"], last[8]["content"]] == ["{'level': 3}", "bright"]
    assert lamp.predictions(dataset=CATEGORY)[0]["origin_prompt"] == prompt_to_json(prompt)


def test_a_resumed_conversation_goes_on_from_the_state_that_it_had(lamp: Project) -> None:
    write_config(lamp, ", fail_after=3, max_concurrency=1")
    lamp.run("run", "eval.py", "--num-prompts", "1")
    assert [one["prediction"] for one in lamp.predictions(dataset=CATEGORY)] == [None]
    answered = len([one for one in lamp.journal(dataset=CATEGORY) if not one["completion"].get("failure")])
    write_config(lamp)
    done = lamp.run("run", "eval.py", "--num-prompts", "1", "-r")
    assert done.returncode == 0, done.stderr
    assert (answered, lamp.summary()[0]["score"]) == (3, 1.0)
    assert "asked: 2 requests" in done.stdout


@needs_extension("logs")
def test_a_run_of_aisbench_is_imported_and_scored(lamp: Project) -> None:
    right = [[[{"turn": '{"by": 3}'}], []], [[]], [[{"look": "{}"}], []]]
    old = write_old_run(lamp.root, dataset(CATEGORY), [right, *[[[[]], [[]], [[]]]] * (len(ROWS) - 1)])
    done = lamp.run("import", str(old), "-w", "outputs/eval")
    assert done.returncode == 0, done.stderr
    [folder] = (lamp.root / "outputs/eval").rglob("predictions")
    done = lamp.run("score", str(folder.parent))
    assert done.returncode == 0, done.stderr
    [path] = folder.parent.glob("results/fake/*.json")
    details = json.loads(path.read_text())["details"]
    assert [one["values"]["accuracy"] for one in details] == [1.0, *[0.0] * (len(ROWS) - 1)]


def test_programs_that_are_not_installed_are_named_with_the_command(lamp: Project) -> None:
    if peer_package("bfcl_eval"):
        pytest.skip("bfcl_eval is installed")
    lamp.environment["AISPROMPT_PEER_PATH"] = ""
    done = lamp.run("check", "eval.py")
    assert done.returncode == 2
    assert "conversations of BFCL need the simulated programs of bfcl_eval" in done.stderr
    assert "pip install mpmath && pip install --no-deps bfcl-eval==2025.6.14" in done.stderr


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("turn(by=3)", ""),
        ("turn(by=[1, {'a': -2.5}], to=None)", ""),
        ("turn(by=look())", "it is no call with literal arguments"),
        ("turn(by=inf)", "name 'inf' is not defined"),
        ("exit()", "name 'exit' is not defined"),
        ("__import__('os').system('true')", "name '__import__' is not defined"),
        ("turn(by=3) or exit()", "name 'exit' is not defined"),
        ("turn(by=(lambda: 3)())", "it is no call with literal arguments"),
        ("turn(by=9**9**9)", "it is no call with literal arguments"),
        ("look.__globals__", "it is no call with literal arguments"),
        ("turn(b y=3)", "invalid syntax. Perhaps you forgot a comma? (<string>, line 1)"),
        ("turn(by=3)\nexit()", "invalid syntax (<string>, line 2)"),
    ],
)
def test_only_a_method_with_literal_arguments_is_called(written: str, why: str) -> None:
    assert refusal(written, {"turn", "look"}) == why


@pytest.mark.parametrize(
    ("response", "calls"),
    [
        ([{"turn": '{"by": 3}'}, {"look": {}}], ["turn(by=3)", "look()"]),
        ({"turn": {"by": "it's"}}, ['turn(by="it\'s")']),
        ([{"turn": '{"by": 3}'}, {"look": "{"}], []),
        ([{"turn": "[1]"}], []),
        ("turn", []),
        (5, []),
        ([], []),
    ],
)
def test_calls_are_read_all_or_none(response: Any, calls: list[str]) -> None:
    assert python_calls(response) == calls


def test_the_right_calls_of_bfcl_are_right() -> None:
    package = peer_package("bfcl_eval")
    if package is None:
        pytest.skip("needs bfcl_eval")
    for category in ("multi_turn_base", "multi_turn_long_context"):
        files = [package / f"data/{folder}BFCL_v3_{category}.json" for folder in ("", "possible_answer/")]
        rows, golds = (map(json.loads, file.read_text("utf-8").splitlines()[:5]) for file in files)
        for row, gold in zip(rows, golds, strict=True):
            programs = row["involved_classes"], row["initial_config"], "long" in category
            scenario = Scenario(str(package.parent), *programs)
            turns = gold["ground_truth"]
            steps = session.call_programs(SimulateCall(scenario, turns))
            assert not [result for step in steps for result in step if result.startswith("Error")]
            assert session.call_programs(CompareCall(scenario, [[turn] for turn in turns], turns))
            assert not session.call_programs(CompareCall(scenario, [[] for _ in turns], turns))
    session._PROGRAMS_SESSION.stop()
