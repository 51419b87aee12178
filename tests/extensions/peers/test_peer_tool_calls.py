"""Configs of AISBench for BFCL: tools are offered, and calls are compared by its rule."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ais_prompt.extensions.benchmarks.layouts.bfcl_questions import as_tool
from tests.core.e2e.project import Project, read_lines
from tests.support.old_runs import write_old_run
from tests.support.packages import needs_extension

BENCH = "ais_bench.benchmark"
AREA = {
    "name": "shape.area",
    "description": "The area.",
    "parameters": {
        "type": "dict",
        "properties": {
            "base": {"type": "integer", "description": "Base."},
            "factor": {"type": "float", "description": "Factor."},
            "points": {"type": "array", "description": "Points.", "items": {"type": "tuple", "items": {"type": "any"}}},
            "box": {"type": "dict", "description": "Box.", "properties": {"kind": {"description": "Kind."}}},
        },
        "required": ["base"],
    },
}
ACCEPTED = [{"shape.area": {"base": [10], "factor": ["", 1.0]}}]
QUESTIONS = {
    "right": "area of 10",
    "wrong": "area of 11",
    "none": "hello",
    "broken": "area of {",
    "text": "area of ten",
}
CALLS = {
    "area of 10": '[dict(name="shape_area", arguments=dict(base=10))]',
    "area of 11": '[dict(name="shape_area", arguments=dict(base=11))]',
    "area of ten": '[dict(name="shape_area", arguments=dict(base="10"))]',
    "area of {": '[dict(name="shape_area", arguments="{")]',
}


def dataset(category: str) -> dict[str, Any]:
    """A dataset as the configs of AISBench have it."""
    evaluator = "BFCLRelevanceEvaluator" if "relevance" in category else "BFCLSingleTurnEvaluator"
    return {
        "abbr": category,
        "type": f"{BENCH}.datasets.BFCLDataset",
        "category": category,
        "path": "bfcl",
        "reader_cfg": {"input_columns": ["id", "question", "function"], "output_column": "ground_truth"},
        "infer_cfg": {
            "prompt_template": {
                "type": f"{BENCH}.openicl.icl_prompt_template.PromptTemplate",
                "template": "{question}",
            },
            "retriever": {"type": f"{BENCH}.openicl.icl_retriever.ZeroRetriever"},
            "inferencer": {"type": f"{BENCH}.openicl.icl_inferencer.BFCLV3FunctionCallInferencer"},
        },
        "eval_cfg": {"evaluator": {"type": f"{BENCH}.datasets.{evaluator}", "category": category}},
    }


def write(project: Project, *categories: str) -> None:
    """Write the questions of each category, and a config of AISBench."""
    for category in categories:
        rows = [
            {"id": f"{category}_{name}", "question": [[{"role": "user", "content": text}]], "function": [AREA]}
            for name, text in QUESTIONS.items()
        ]
        golds = [{"id": row["id"], "ground_truth": ACCEPTED} for row in rows]
        for name, lines in ((f"BFCL_v3_{category}", rows), (f"possible_answer/BFCL_v3_{category}", golds)):
            path = project.root / "bfcl" / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    answers = ", ".join(f"{text!r}: dict(tool_calls={calls})" for text, calls in CALLS.items())
    answers = answers.replace("'area of {'", "r'area of \\{'")
    model = f"dict(type='ScriptedModel', abbr='fake', answers={{{answers}}}, default='Hello.')"
    project.write_config(models=model, datasets=", ".join(repr(dataset(category)) for category in categories))


@pytest.mark.thorough
@pytest.mark.parametrize("options", [[], ["--peer-scores"]])
@pytest.mark.parametrize(
    ("category", "right"),
    [
        ("simple", {"right"}),
        ("live_parallel_multiple", {"right"}),
        ("irrelevance", {"none", "broken"}),
        ("live_irrelevance", {"none", "broken"}),
        ("live_relevance", {"right", "wrong", "text"}),
        ("java", {"text"}),
        ("javascript", {"text"}),
    ],
)
def test_calls_are_scored_as_there(project: Project, category: str, right: set[str], options: list[str]) -> None:
    write(project, category)
    done = project.run("run", "eval.py", *options)
    assert done.returncode == 0, done.stderr
    assert "BFCLV3FunctionCallInferencer: tools are fields of the request" in done.stderr
    details = json.loads((project.folder() / f"results/fake/{category}.json").read_text())["details"]
    scored = {name: set(one["values"].values()) for name, one in zip(QUESTIONS, details, strict=True)}
    assert {name for name, values in scored.items() if values == {1.0}} == right
    [row] = project.summary()
    assert (row["metric"], row["score"]) == ("accuracy", len(right) / len(QUESTIONS))


@needs_extension("logs")
def test_calls_of_a_run_of_aisbench_are_imported_and_scored(project: Project) -> None:
    write(project, "simple")
    said = [[{"shape_area": '{"base": 10}'}], [{"shape_area": '{"base": 11}'}], "Hello.", [{"shape_area": "{"}], [5]]
    old = write_old_run(project.root, dataset("simple"), said)
    done = project.run("import", str(old), "-w", "outputs/eval")
    assert done.returncode == 0, done.stderr
    [folder] = (project.root / "outputs/eval").rglob("predictions")
    lines = read_lines(folder / "fake/simple.jsonl")
    assert json.loads(lines[0]["prediction"]) == [{"name": "shape_area", "arguments": {"base": 10}}]
    assert lines[2]["prediction"] == "Hello."
    done = project.run("score", str(folder.parent))
    assert done.returncode == 0, done.stderr
    [path] = folder.parent.glob("results/fake/*.json")
    details = json.loads(path.read_text())["details"]
    assert [one["values"]["accuracy"] for one in details] == [1.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("language", "kind", "items", "words"),
    [
        ("java", "long", None, "This is Java long type parameter in string representation."),
        ("java", "any", None, "This parameter can be of any type of Java object in string representation."),
        (
            "javascript",
            "array",
            {"type": "float"},
            "This is JavaScript array type parameter in string representation. "
            "The list elements are of type float; they are not in string representation.",
        ),
    ],
)
def test_parameters_of_other_languages_are_texts(language: str, kind: str, items: Any, words: str) -> None:
    parameter = {"type": kind, "description": "One.", **({"items": items} if items else {})}
    parameters = {"type": "dict", "properties": {"one": parameter}, "required": []}
    function = as_tool({"name": "f", "description": "F.", "parameters": parameters}, language)["function"]
    syntax = {"java": "Java 8 SDK", "javascript": "JavaScript"}[language]
    assert function["description"] == f"F. Note that the provided function is in {syntax} syntax."
    assert function["parameters"]["properties"] == {"one": {"type": "string", "description": f"One. {words}"}}


def test_a_tool_has_the_words_and_types_that_the_peer_sends() -> None:
    tool = as_tool(AREA)
    assert tool["type"] == "function"
    function = tool["function"]
    assert function["name"] == "shape_area"
    assert function["description"] == "The area. Note that the provided function is in Python 3 syntax."
    assert function["parameters"]["type"] == "object"
    assert function["parameters"]["required"] == ["base"]
    assert function["parameters"]["properties"] == {
        "base": {"type": "integer", "description": "Base."},
        "factor": {"type": "number", "description": "Factor. This is a float type value.", "format": "float"},
        "points": {
            "type": "array",
            "description": "Points.",
            "items": {"type": "array", "items": {"type": "string"}},
        },
        "box": {
            "type": "object",
            "description": "Box.",
            "properties": {"kind": {"type": "string", "description": "Kind."}},
        },
    }
