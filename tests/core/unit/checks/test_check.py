"""The prompts that a check makes: one for each model and dataset, without downloading anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.checks import Findings, check_plan
from ais_prompt.config import parse_meta_template
from ais_prompt.plan import Plan
from ais_prompt.types import ModelSpec, PartSpec, RunSpec
from tests.support.parts import dataset_spec, model_spec, write_rows

ROLES = [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}]


def findings(folder: Path, *models: ModelSpec, template: Any = "{question} A: {answer}") -> Findings:
    """What a check finds in a config of these models and one dataset."""
    data = dataset_spec(write_rows(folder / "rows.jsonl", [{"question": "1+1", "answer": "2"}]), template)
    return check_plan(Plan(RunSpec("run", models, (data,), folder, None, {})), lambda path: f"<{path}>")


def places(found: Sequence[Any]) -> list[tuple[str, str]]:
    return [(item.where, item.what) for item in found]


def scripted(meta: Mapping[str, Any] | None = None, number: int = 0) -> ModelSpec:
    where = f"models[{number}]"
    return ModelSpec(f"fake-{number}", PartSpec("ScriptedModel", {}, where), parse_meta_template(meta), where=where)


def test_nothing_to_say(tmp_path: Path) -> None:
    assert findings(tmp_path, model_spec()) == Findings([], [])


@pytest.mark.parametrize(
    ("kind", "stops", "warned"),
    [
        ("OpenAIChatModel", "abcde", True),
        ("OpenAICompletionModel", "abcde", True),
        ("OpenAIChatModel", "abcd", False),
        ("OpenAIResponsesModel", "abcde", False),
        ("AnthropicModel", "abcde", False),
    ],
)
def test_more_stop_texts_than_a_server_takes(tmp_path: Path, kind: str, stops: str, warned: bool) -> None:
    options = {"model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key": None, "stop_words": list(stops)}
    model = ModelSpec("served", PartSpec(kind, options, "models[0]"), where="models[0]")
    found = findings(tmp_path, model)
    assert found.faults == []
    assert [(one.where, "'e'" in one.what and "4 stop texts" in one.what) for one in found.warnings] == [
        ("<datasets[0].infer_cfg.inferencer>", True)
    ] * warned


GEN, PPL_ONLY = PartSpec("GenInferencer", {}), PartSpec("PPLOnlyInferencer", {})
CHOICES = PartSpec("ChoicesInferencer", {})


@pytest.mark.parametrize(
    ("inferencer", "evaluator", "gold", "what"),
    [
        (GEN, "ChoicesAccEvaluator", "2", "scores what ChoicesInferencer measures, and GenInferencer predicts"),
        (PPL_ONLY, "ChoicesMassEvaluator", "2", "scores what ChoicesInferencer measures, and PPLOnlyInferencer"),
        (CHOICES, "AveragePPLEvaluator", "2", "scores what PPLOnlyInferencer measures, and ChoicesInferencer"),
        (GEN, "Gsm8kEvaluator", "two", "the gold answer 'two' is not a number"),
        (GEN, "Gsm8kEvaluator", "2", ""),
        (GEN, "AccEvaluator", "", ""),  # a row without a gold fails alone
        (CHOICES, "ChoicesAccEvaluator", "2", ""),
        (PPL_ONLY, "AveragePPLEvaluator", "2", ""),
    ],
)
def test_what_is_known_to_fail_at_scoring_is_refused(
    tmp_path: Path, inferencer: PartSpec, evaluator: str, gold: str, what: str
) -> None:
    spec = dataset_spec(
        write_rows(tmp_path / "rows.jsonl", [{"question": "1+1 is", "answer": gold, "choices": ["1", "2"]}] * 3)
    )
    part = PartSpec(evaluator, {}, "datasets[0].eval_cfg.evaluator")
    spec = replace(spec, infer=replace(spec.infer, inferencer=inferencer), eval=replace(spec.eval, evaluator=part))
    found = check_plan(Plan(RunSpec("run", (model_spec(),), (spec,), tmp_path, None, {})), lambda path: path)
    assert [what in one.what for one in found.faults] == [True] * bool(what), found.faults
    assert all(one.where.startswith("datasets[0].eval_cfg.evaluator") for one in found.faults)


def test_one_gold_that_can_be_used_is_enough(tmp_path: Path) -> None:
    rows = [{"question": f"{n}+1", "answer": answer} for n, answer in enumerate(["two", "three", "4"])]
    spec = dataset_spec(write_rows(tmp_path / "rows.jsonl", rows))
    spec = replace(spec, eval=replace(spec.eval, evaluator=PartSpec("Gsm8kEvaluator", {})))
    found = check_plan(Plan(RunSpec("run", (model_spec(),), (spec,), tmp_path, None, {})), lambda path: path)
    assert found.faults == []


@pytest.mark.parametrize(
    ("inferencer", "refused"),
    [(PartSpec("CLPInferencer", {"choices": ["1", "2"]}), True), (PartSpec("GenInferencer", {}), False)],
)
def test_an_evaluator_that_reads_no_probabilities(tmp_path: Path, inferencer: PartSpec, refused: bool) -> None:
    spec = dataset_spec(write_rows(tmp_path / "rows.jsonl", [{"question": "1+1", "answer": "2"}]))
    spec = replace(spec, infer=replace(spec.infer, inferencer=inferencer))
    found = check_plan(Plan(RunSpec("run", (model_spec(),), (spec,), tmp_path, None, {})), lambda path: path)
    assert ["predicts a list of probabilities" in one.what for one in found.faults] == [True] * refused


@pytest.mark.parametrize(
    ("kind", "options", "warned"),
    [
        ("OpenAIChatModel", {}, True),
        ("OpenAIChatModel", {"generation_kwargs": {"temperature": 0.5}}, False),
        ("OpenAIChatModel", {"generation_kwargs": {"temperature": None}}, False),  # that of the server
        ("OpenAICompletionModel", {"generation_kwargs": {"temperature": 0}}, True),
        ("AnthropicModel", {}, False),
    ],
)
def test_repeats_at_temperature_0(tmp_path: Path, kind: str, options: dict[str, Any], warned: bool) -> None:
    spec = dataset_spec(write_rows(tmp_path / "rows.jsonl", [{"question": "1+1", "answer": "2"}]))
    address = {"model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key": None}
    model = ModelSpec("served", PartSpec(kind, {**address, **options}, "models[0]"), where="models[0]")
    for n in (1, 4):
        asked = replace(spec, infer=replace(spec.infer, inferencer=PartSpec("GenInferencer", {"n": n})))
        found = check_plan(Plan(RunSpec("run", (model,), (asked,), tmp_path, None, {})), lambda path: path)
        assert ["all 4 answers to a question will be equal" in one.what for one in found.warnings] == [True] * (
            warned and n == 4
        )


def test_a_text_as_begin_of_an_api_model_is_a_fault(tmp_path: Path) -> None:
    found = findings(
        tmp_path, scripted({"begin": "Hi", "round": ROLES}), template={"round": [{"role": "HUMAN", "prompt": "x"}]}
    )
    [(where, what)] = places(found.faults)
    assert where == "<models[0].meta_template>"
    assert "must be a turn, not the text 'Hi'" in what


def test_a_role_that_one_of_the_models_does_not_know_is_a_fault(tmp_path: Path) -> None:
    template = {"begin": [{"role": "SYSTEM", "prompt": "x"}], "round": [{"role": "HUMAN", "prompt": "{question}"}]}
    found = findings(tmp_path, scripted(), scripted({"round": ROLES}, number=1), template=template)
    [(where, what)] = places(found.faults)
    assert where == "<datasets[0].infer_cfg> · for the model fake-1"
    assert "no role 'SYSTEM'" in what


TOOLS = PartSpec("ToolCallInferencer", {}, "datasets[0].infer_cfg.inferencer")
NO_TOOLS = "there is no column 'tools' with tools"


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize(
    ("models", "where"), [(1, "<datasets[0].infer_cfg> · for the model fake-0"), (2, "<datasets[0].infer_cfg>")]
)
def test_a_fault_of_the_data_is_named_once_whatever_else_needs_the_prompt(
    tmp_path: Path, models: int, where: str, thorough: bool
) -> None:
    spec = dataset_spec(write_rows(tmp_path / "rows.jsonl", [{"question": "1+1", "answer": "2"}]))
    spec = replace(spec, infer=replace(spec.infer, inferencer=TOOLS))
    asked = tuple(scripted(number=number) for number in range(models))
    plan = Plan(RunSpec("run", asked, (spec,), tmp_path, None, {}))
    found = check_plan(plan, lambda path: f"<{path}>", thorough=thorough)
    assert places(found.faults) == [(where, NO_TOOLS)]


def test_a_fault_of_a_model_is_named_once_for_all_datasets(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [{"question": "1+1", "answer": "2"}])
    template = {"round": [{"role": "HUMAN", "prompt": "{question}"}]}
    data = [replace(dataset_spec(rows, template), where=f"datasets[{number}]") for number in range(3)]
    plan = Plan(RunSpec("run", (scripted({"begin": "Hi", "round": ROLES}),), tuple(data), tmp_path, None, {}))
    found = check_plan(plan, lambda path: f"<{path}>", thorough=True)
    assert [where for where, _ in places(found.faults)] == ["<models[0].meta_template>"]


def test_a_model_that_cannot_be_made_is_a_fault(tmp_path: Path) -> None:
    found = findings(tmp_path, model_spec(answers={"(": "x"}))
    assert [where for where, _ in places(found.faults)] == ["<models[0]>"]


def test_a_warning_of_all_models_is_said_once(tmp_path: Path) -> None:
    found = findings(tmp_path, scripted(), scripted(number=1), template="{quesion}")
    assert places(found.warnings) == [
        ("<datasets[0].infer_cfg.prompt_template>", "{quesion} is sent as it is: nothing is filled in there")
    ]


@pytest.mark.parametrize("path", ["owner/no-such-model", "./no-such-folder"])
def test_a_tokenizer_that_is_not_here_is_not_looked_for(
    tmp_path: Path, path: str, capfd: pytest.CaptureFixture[str]
) -> None:
    model = ModelSpec("chat", PartSpec("HuggingFaceChatModel", {"path": path}, "models[0]"), where="models[0]")
    assert findings(tmp_path, model) == Findings([], [])
    assert capfd.readouterr() == ("", "")


def test_without_a_tokenizer_the_roles_are_checked_all_the_same(tmp_path: Path) -> None:
    model = ModelSpec("chat", PartSpec("HuggingFaceChatModel", {"path": "owner/name"}, "models[0]"), where="models[0]")
    found = findings(tmp_path, model, template={"round": [{"role": "STRANGER", "prompt": "x"}]})
    assert ["no role 'STRANGER'" in what for _, what in places(found.faults)] == [True]


def test_a_chat_model_has_its_warnings_without_its_tokenizer(tmp_path: Path) -> None:
    part = PartSpec("HuggingFaceChatModel", {"path": "example/has-this"}, "models[0]")
    found = findings(tmp_path, ModelSpec("chat", part, where="models[0]"), template="{quesion} {question}")
    assert found.faults == []
    assert any("quesion" in what for _, what in places(found.warnings))


@pytest.mark.parametrize("written", ["{Question}", "{ question }", "{quesion}"])
def test_a_misspelt_placeholder_is_a_fault_where_the_column_is_shown_nowhere(tmp_path: Path, written: str) -> None:
    [fault] = findings(tmp_path, scripted(), template=f"Q: {written}").faults
    assert fault.what.endswith(f": {written} would be sent as it is")
    assert fault.fix.startswith("did you mean {question}?")
    assert findings(tmp_path, scripted(), template=f"Q: {{question}} {written}").faults == []
