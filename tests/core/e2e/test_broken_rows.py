"""What a row or an answer has wrong ends that row, with every shipped inferencer and evaluator."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from msgspec import Struct

from ais_prompt.registry import EVALUATORS, INFERENCERS
from ais_prompt.store import read_details
from tests.core.e2e.project import read_lines
from tests.support.cli import run_cli
from tests.support.lamp import write_programs
from tests.support.parts import shipped_names, write_rows

pytestmark = pytest.mark.thorough

ROWS: Final = 4
ABSENT: Final = object()
"""A column that the row does not have."""
DEEP: Final[Any] = json.loads("[" * 60 + "]" * 60)
NESTED: Final = {f"JSON of {depth} levels": "[" * depth + "]" * depth for depth in (900, 4000)}
"""Each version of Python reads, and walks through, another number of levels."""

NOTHING: Final[Mapping[str, Any]] = {
    "absent": ABSENT,
    "null": None,
    "empty text": "",
    "blank": " \n\t",
    "NaN": float("nan"),
    "empty list": [],
    "list of null": [None],
    "list of blank": ["", " "],
}
"""Ways to have no gold."""
WRONG: Final[Mapping[str, Any]] = {
    "empty object": {},
    "other object": {"x": 1},
    "object in a list": [{"x": 1}],
    "nested list": [["a", ["b"]]],
    "deep list": DEEP,
    **NESTED,
    "literal of 2000 levels": "-" * 2000 + "1",
    "number": 7,
    "negative": -1.5,
    "huge number": 10**400,
    "infinite": float("inf"),
    "flag": True,
    "half a letter": "\ud800",
    "null sign": "a\x00b",
    "huge text": "word " * 20_000,
    "braces": "{question} \\boxed{",
    "same twice": ["a", "a"],
    "many": list(range(40)),
}
BROKEN: Final = {**NOTHING, **WRONG}
MAY_BE_MISSING: Final = {
    ("AveragePPLEvaluator", "gold"),
    ("BigCodeBenchEvaluator", "code_prompt"),
    ("BigCodeBenchEvaluator", "libs"),
    ("InstructionEvaluator", "prompt"),
    ("LiveCodeBenchEvaluator", "method"),
    ("MBPPEvaluator", "test_setup_code"),
    ("ToolCallEvaluator", "answers"),
    ("ToolCallEvaluator", "functions"),
    ("HumanEvalEvaluator", "prompt"),
    # A judge may know the answer.
    ("GenericLLMEvaluator", "gold"),
    ("LLMRatingEvaluator", "gold"),
    ("RubricEvaluator", "gold"),
    ("PairwiseEvaluator", "gold"),
    ("PairwiseEvaluator", "other"),
}
REFUSED: Final = {"huge number", "half a letter"}
"""What a reader takes in no column."""
REFUSED_BESIDE_TEXTS: Final = {"NaN", "number", "negative", "infinite", "flag"}


class Case(Struct, frozen=True):
    """A task whose rows are all well.

    Attributes:
        evaluator: as the config has it.
        answer: what the model says.
        columns: of each row, beside ``question``; the gold is ``gold``, or all of them if there is no ``gold``.
        infer: ``inferencer`` and what else ``infer_cfg`` has.
        model: arguments of the `ScriptedModel`.
    """

    evaluator: Mapping[str, Any]
    answer: str
    columns: Mapping[str, Any]
    infer: Mapping[str, Any] = {}
    model: Mapping[str, Any] = {}


def text_case(name: str, gold: Any = "Oslo", answer: str = "Oslo", **arguments: Any) -> Case:
    return Case({"type": name, **arguments}, answer, {"gold": gold})


JUDGE: Final = {"type": "ScriptedModel", "abbr": "judge", "default": "A"}
JUDGED: Final[dict[str, Any]] = {
    "judge_cfg": JUDGE,
    "prompt_template": {"type": "PromptTemplate", "template": "{question} {gold} {prediction}"},
}
FUNCTION: Final = {
    "name": "f",
    "parameters": {"type": "dict", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
}
CHOICES: Final = {"inferencer": {"type": "ChoicesInferencer"}}
LIKELY: Final = {"prompt_style": "text", "likelihoods": {"Oslo": 0.5, "": 1.0}}

LAMP: Final = {"initial_config": '{"MathAPI": {"level": 0}}', "involved_classes": '["MathAPI"]'}

EVALUATED: Final[Mapping[str, Case]] = {
    "AccEvaluator": text_case("AccEvaluator"),
    "AnlsEvaluator": text_case("AnlsEvaluator"),
    "AveragePPLEvaluator": Case(
        {"type": "AveragePPLEvaluator"}, "", {"gold": "x"}, {"inferencer": {"type": "PPLOnlyInferencer"}}, LIKELY
    ),
    "BBHEvaluator": text_case("BBHEvaluator"),
    "BigCodeBenchEvaluator": Case(
        {"type": "BigCodeBenchEvaluator", "allow_code_execution": True, "memory": 1024},
        "def task_func():\n    return 1",
        {
            "code_prompt": "def task_func():",
            "test": "import unittest\nclass TestCases(unittest.TestCase):\n"
            "    def test(self):\n        self.assertEqual(task_func(), 1)\n",
            "libs": ["json"],
        },
    ),
    "BleuEvaluator": text_case("BleuEvaluator", "Oslo lies by a fjord", "Oslo lies by a fjord"),
    "CascadeEvaluator": text_case(
        "CascadeEvaluator",
        rule_evaluator={"type": "AccEvaluator"},
        llm_evaluator={"type": "GenericLLMEvaluator", **JUDGED},
    ),
    "ChoicesAccEvaluator": Case(
        {"type": "ChoicesAccEvaluator"}, "", {"gold": "Oslo", "choices": ["Oslo", "Rome"]}, CHOICES, LIKELY
    ),
    "ChoicesMassEvaluator": Case(
        {"type": "ChoicesMassEvaluator"}, "", {"gold": ["Oslo"], "choices": ["Oslo", "Rome"]}, CHOICES, LIKELY
    ),
    "ChrfEvaluator": text_case("ChrfEvaluator", "Oslo lies by a fjord", "Oslo lies by a fjord"),
    "CircularEvaluator": text_case("CircularEvaluator", "7--A--ABCD", "A"),
    "ContainedAnswerEvaluator": text_case("ContainedAnswerEvaluator"),
    "ContainsEvaluator": text_case("ContainsEvaluator"),
    "DropEvaluator": text_case("DropEvaluator"),
    "EDAccEvaluator": text_case("EDAccEvaluator", {"candidates": ["Oslo", ["Rome", "Roma"]], "label": 0}),
    "EMEvaluator": text_case("EMEvaluator"),
    "FuzzyMatchEvaluator": text_case("FuzzyMatchEvaluator"),
    "GenericLLMEvaluator": text_case("GenericLLMEvaluator", **JUDGED),
    "Gsm8kEvaluator": text_case("Gsm8kEvaluator", "42", "42"),
    "HumanEvalEvaluator": Case(
        {"type": "HumanEvalEvaluator", "allow_code_execution": True},
        "    return 1\n",
        {"prompt": "def f():\n", "test": "def check(f):\n    assert f() == 1\n", "entry_point": "f"},
    ),
    "InstructionEvaluator": Case(
        {"type": "InstructionEvaluator", "benchmark": "ifeval"},
        "calm",
        {"prompt": "Write.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": ["{}"]},
    ),
    "JiebaRougeEvaluator": text_case("JiebaRougeEvaluator"),
    "JsonEqualEvaluator": text_case("JsonEqualEvaluator", {"city": "Oslo"}, '{"city": "Oslo"}'),
    "JsonSchemaEvaluator": text_case("JsonSchemaEvaluator", {"type": "object"}, "{}"),
    "LLMRatingEvaluator": text_case("LLMRatingEvaluator", **JUDGED | {"judge_cfg": {**JUDGE, "default": "[[7]]"}}),
    "LambadaEvaluator": text_case("LambadaEvaluator"),
    "LongBenchClassificationEvaluator": text_case(
        "LongBenchClassificationEvaluator", {"answers": ["Oslo"], "all_classes": ["Oslo", "Rome"]}
    ),
    "LongBenchCodeSimEvaluator": text_case("LongBenchCodeSimEvaluator"),
    "LongBenchCountEvaluator": text_case("LongBenchCountEvaluator", "3", "3"),
    "LongBenchRetrievalEvaluator": text_case("LongBenchRetrievalEvaluator", "Paragraph 3", "3"),
    "MATHVerifyEvaluator": text_case("MATHVerifyEvaluator", "42", "42"),
    "MBPPEvaluator": Case(
        {"type": "MBPPEvaluator", "allow_code_execution": True},
        "def f():\n    return 1\n",
        {"test_list": ["assert f() == 1"], "test_setup_code": ""},
    ),
    "MmmuOpenEvaluator": text_case("MmmuOpenEvaluator"),
    "MrcrEvaluator": text_case("MrcrEvaluator", "abcdefghijOslo", "abcdefghijOslo"),
    "OcrBenchEvaluator": text_case("OcrBenchEvaluator"),
    "OptionOrTextEvaluator": text_case("OptionOrTextEvaluator", "B. Oslo"),
    "PairwiseEvaluator": Case(
        {"type": "PairwiseEvaluator", "baseline": {"column": "other"}, **JUDGED},
        "Oslo",
        {"gold": "Oslo", "other": "Rome"},
    ),
    "LongBenchRougeEvaluator": text_case("LongBenchRougeEvaluator"),
    "RegexEvaluator": text_case("RegexEvaluator", "O.*o"),
    "RelaxedAccuracyEvaluator": text_case("RelaxedAccuracyEvaluator"),
    "RougeEvaluator": text_case("RougeEvaluator"),
    "RoundedNumberEvaluator": text_case("RoundedNumberEvaluator", "42", "42"),
    "RubricEvaluator": text_case(
        "RubricEvaluator", criteria=["It is Oslo."], judge_cfg={**JUDGE, "default": '{"1": "yes"}'}
    ),
    "SimulatedCallsEvaluator": Case(
        {"type": "SimulatedCallsEvaluator"}, '[[[{"turn": {"by": 3}}]]]', {**LAMP, "ground_truth": '[["turn(by=3)"]]'}
    ),
    "SquadEvaluator": text_case("SquadEvaluator"),
    "LiveCodeBenchEvaluator": Case(
        {"type": "LiveCodeBenchEvaluator", "allow_code_execution": True},
        "print(1)",
        {"tests": json.dumps([{"input": "", "output": "1\n"}]), "method": ""},
    ),
    "LoggedMatchEvaluator": text_case("LoggedMatchEvaluator"),
    "StringMatchEvaluator": text_case("StringMatchEvaluator"),
    "TerEvaluator": text_case("TerEvaluator"),
    "ToolCallEvaluator": Case(
        {"type": "ToolCallEvaluator"},
        '[{"name": "f", "arguments": {"x": 1}}]',
        {"functions": [FUNCTION], "answers": [{"f": {"x": [1]}}]},
    ),
    "VqaAccuracyEvaluator": text_case("VqaAccuracyEvaluator", ["Oslo"] * 10),
    "WerEvaluator": text_case("WerEvaluator"),
}
OF_PEERS: Final = {"PeerCascadeEvaluator", "PeerEvaluator", "PeerJudgeEvaluator", "PeerRepeatEvaluator"}
"""Evaluators that run code of another program."""
OF_AGENTS: Final = {"StateEvaluator", "TrajectoryEvaluator"}
"""Evaluators of what an agent did, whatever the gold is."""
OTHER_NAMES: Final = {"HumanEvaluator", "MATHEvaluator"}


def test_every_evaluator_has_a_case() -> None:
    assert set(EVALUATED) | OF_PEERS | OF_AGENTS | OTHER_NAMES >= shipped_names(EVALUATORS)


def dataset(folder: Path, name: str, case: Case, column: str, value: Any, place: int) -> dict[str, Any]:
    """Write rows of which one is broken, and return the config of the dataset; it has no ``type``."""
    rows = [{"question": f"question {number}?", **case.columns} for number in range(ROWS)]
    if name != "well":
        rows[place] = {**rows[place], column: value}
        rows = [{key: one for key, one in row.items() if one is not ABSENT} for row in rows]
    write_rows(folder / f"{name}.jsonl", rows)
    golds: dict[str, Any] = {"output_column": "gold"}
    if "gold" not in case.columns:
        golds = {"output_column": next(iter(case.columns)), "gold_columns": [*case.columns]}
    return {
        "abbr": name,
        "type": "LocalDataset",
        "path": f"{name}.jsonl",
        "reader_cfg": {"input_columns": ["question"], **golds},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": "{question}"},
            "retriever": {"type": "ZeroRetriever"},
            "inferencer": {"type": "GenInferencer"},
            **case.infer,
        },
        **({"eval_cfg": {"evaluator": case.evaluator}} if case.evaluator else {}),
    }


@pytest.fixture(autouse=True)
def _programs(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a simulated program to the parts that need one."""
    root = tmp_path_factory.getbasetemp() / "programs"
    write_programs(root)
    monkeypatch.setenv("AISPROMPT_PEER_PATH", str(root))


def run(folder: Path, case: Case, datasets: list[dict[str, Any]]) -> tuple[int, str]:
    model = {"type": "ScriptedModel", "abbr": "m", "default": case.answer, **case.model}
    (folder / "eval.py").write_text(f"models = [{model!r}]\ndatasets = {datasets!r}\n")
    runs_code = "allow_code_execution" in {**case.evaluator, **case.infer.get("inferencer", {})}
    options = ["--allow-code-execution"] if runs_code else []
    done = run_cli("run", "eval.py", "--max-failures", "9", *options, folder=folder)
    return done.returncode, done.stdout + done.stderr


def outcomes(folder: Path, name: str) -> list[tuple[str, Any]]:
    """Return status and values of each sample."""
    [path] = folder.glob(f"outputs/eval/*/results/m/{name}.json")
    return [(sample.status, sample.values) for sample in read_details(path)]


ODD_ANSWERS: Final = (
    "",
    " \n",
    "\x00",
    "9" * 5000,
    "1e99999",
    "nan",
    "(" * 20_000,
    "-" * 20_000 + "1",
    "[" * 20_000,
    *NESTED.values(),
    '{"a":' * 20_000,
    "\\frac{" * 3_000,
    "\\boxed{" * 3_000,
    "<think>" * 3_000,
    "```" * 3_000,
    "if x: pass\n" + "elif x: pass\n" * 10_000,
    "def f():\n" + "\n".join(" " * depth + "if x:" for depth in range(1, 120)),
    "\u0301" * 3_000,
    "{gold} %s %(a)s \\1 \\g<0>",
    "word " * 20_000,
)


@pytest.mark.slow
@pytest.mark.grid(12)
@pytest.mark.parametrize("name", sorted(EVALUATED.keys() & shipped_names(EVALUATORS)))
def test_an_odd_answer_ends_its_row(name: str, tmp_path: Path) -> None:
    case = EVALUATED[name]
    if not case.answer:
        pytest.skip("it scores no answers")
    answers = {f"odd {number};": answer for number, answer in enumerate(ODD_ANSWERS)}
    questions = ["well", *answers, "well too"]
    write_rows(tmp_path / "rows.jsonl", [{"question": question, **case.columns} for question in questions])
    config = {**dataset(tmp_path, "odd", case, "", None, 0), "path": "rows.jsonl"}
    code, said = run(tmp_path, msgspec.structs.replace(case, model={"answers": answers}), [config])
    assert code in (0, 1), said
    assert "Traceback" not in said
    found = outcomes(tmp_path, "odd")
    assert found[0] == found[-1]
    assert found[0][0] == "scored"


def predicted(folder: Path, name: str) -> list[Any]:
    """Return the predictions in the order of the rows."""
    [path] = folder.glob(f"outputs/eval/*/predictions/m/{name}.jsonl")
    return [line["prediction"] for line in sorted(read_lines(path), key=lambda line: line["index"])]


def is_taken(way: str, usual: Any) -> bool:
    """Return whether a reader takes a broken value in a column."""
    return way not in REFUSED and not (way in REFUSED_BESIDE_TEXTS and isinstance(usual, str))


def run_broken(folder: Path, case: Case, ways: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Run the dataset as it is, and one for each way to break a row; return the place of that row in each."""
    places = {f"{column}-{way}".replace(" ", "_"): 2 * (number % 2) for number, (column, way) in enumerate(ways)}
    broken = [
        dataset(folder, key, case, column, BROKEN[way], places[key])
        for key, (column, way) in zip(places, ways, strict=True)
    ]
    code, said = run(folder, case, [dataset(folder, "well", case, "", None, 0), *broken])
    assert code in (0, 1), said
    assert "Traceback" not in said
    return places


@pytest.mark.slow
@pytest.mark.grid(12)
@pytest.mark.parametrize("name", sorted(EVALUATED.keys() & shipped_names(EVALUATORS)))
def test_a_broken_gold_ends_its_row(name: str, tmp_path: Path) -> None:
    case = EVALUATED[name]
    ways = [(column, way) for column in case.columns for way in BROKEN if is_taken(way, case.columns[column])]
    places = run_broken(tmp_path, case, ways)
    well = outcomes(tmp_path, "well")
    assert len(well) == ROWS
    assert all(status == "scored" for status, _ in well)
    for key, place in places.items():
        found = outcomes(tmp_path, key)
        assert [one for row, one in enumerate(found) if row != place] == well[1:], key
        column, way = key.split("-")
        if way.replace("_", " ") in NOTHING and (name, column) not in MAY_BE_MISSING:
            # A question of SQuAD 2.0 without an answer; and any list is a value of JSON.
            is_value = (name, way) == ("SquadEvaluator", "empty_list") or (
                name == "JsonEqualEvaluator" and "list" in way
            )
            assert found[place][0] == ("scored" if is_value else "failed"), key


LABELS: Final = {"A": "{question} is A", "B": "{question} is B"}
USER: Final = {"role": "user", "content": "first"}
ASKED: Final[Mapping[str, Case]] = {
    "CLPInferencer": Case(
        {}, "", {"gold": "A", "choices": ["A", "B"]}, {"inferencer": {"type": "CLPInferencer"}}, LIKELY
    ),
    "AgentInferencer": Case(
        {},
        "Final Answer: Oslo",
        {"gold": "Oslo", "messages": [USER]},
        {"inferencer": {"type": "AgentInferencer", "allow_code_execution": True}, "prompt_template": None},
    ),
    "ChatInferencer": Case(
        {},
        "Oslo",
        {"gold": "Oslo", "messages": [USER]},
        {"inferencer": {"type": "ChatInferencer"}, "prompt_template": None},
    ),
    "ChoicesInferencer": EVALUATED["ChoicesAccEvaluator"],
    "GenInferencer": EVALUATED["AccEvaluator"],
    "LLInferencer": Case(
        {"type": "AccEvaluator"},
        "",
        {"gold": "A", "cont": "Oslo"},
        {"inferencer": {"type": "LLInferencer"}, "prompt_template": {"type": "PromptTemplate", "template": LABELS}},
        LIKELY,
    ),
    "MultiTurnGenInferencer": Case(
        {},
        "Oslo",
        {"gold": ["Oslo", "Rome"], "turns": ["first", "second"]},
        {
            "inferencer": {"type": "MultiTurnGenInferencer"},
            "prompt_template": {
                "type": "MultiTurnPromptTemplate",
                "turn_columns": ["turns", "gold"],
                "template": {"round": [{"role": "HUMAN", "prompt": "{turns}"}, {"role": "BOT", "prompt": "{gold}"}]},
            },
        },
    ),
    "MultiTurnToolCallInferencer": Case(
        {},
        "Oslo",
        {"gold": "Oslo", "turns": [{"answers": [], "results": [], "user": "More."}], "tools": []},
        {"inferencer": {"type": "MultiTurnToolCallInferencer", "tools": "tools"}},
    ),
    "PPLInferencer": Case(
        {"type": "AccEvaluator"},
        "",
        {"gold": "A"},
        {"inferencer": {"type": "PPLInferencer"}, "prompt_template": {"type": "PromptTemplate", "template": LABELS}},
        LIKELY,
    ),
    "PPLOnlyInferencer": EVALUATED["AveragePPLEvaluator"],
    "SimulatedToolCallInferencer": Case(
        {},
        '[{"turn": {"by": 3}}]',
        {"gold": "Oslo", **LAMP, "turns": json.dumps([{"messages": [USER], "tools": []}])},
        {"inferencer": {"type": "SimulatedToolCallInferencer"}},
    ),
    "ToolCallInferencer": Case(
        {},
        "Oslo",
        {"gold": "Oslo", "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]},
        {"inferencer": {"type": "ToolCallInferencer", "tools": "tools"}},
    ),
    "ToolLoopInferencer": Case(
        {}, "Oslo", {"gold": "Oslo"}, {"inferencer": {"type": "ToolLoopInferencer", "tools": ["textwrap:dedent"]}}
    ),
}


SOUND: Final = {("CLPInferencer", way) for way in ("list of blank", "same twice", "many")}
"""Choices of the first row, which count for all rows, may be these."""


def test_every_inferencer_has_a_case() -> None:
    assert set(ASKED) == shipped_names(INFERENCERS)


@pytest.mark.parametrize("name", ASKED)
def test_a_broken_question_ends_its_row(name: str, tmp_path: Path) -> None:
    case = ASKED[name]
    usual = {"question": "question 0?", **case.columns}
    ways = [
        (column, way)
        for column in ("question", *case.columns)
        for way in BROKEN
        if column != "gold" and is_taken(way, usual[column])
        if (name, way) not in SOUND
    ]
    places = run_broken(tmp_path, case, ways)
    well = predicted(tmp_path, "well")
    assert len(well) == ROWS
    assert None not in well
    for key, place in places.items():
        found = predicted(tmp_path, key)
        assert [one for row, one in enumerate(found) if row != place] == well[1:], key
