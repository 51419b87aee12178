"""Judges that rate or compare: what an ``LMEvaluator`` and the keys of its dataset become."""

from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import ConfigFaults
from ais_prompt.extensions.peers.table.evaluators import SUMMARIZERS
from ais_prompt.extensions.peers.tables import SUMMARIES
from ais_prompt.extensions.peers.translate import translate
from tests.extensions.peers.test_translate import OPENICL, peer_dataset

LM = "opencompass.openicl.icl_evaluator.LMEvaluator"
ALIGN = "opencompass.datasets.alignbench_postprocess"
OTHER = {"type": "ScriptedModel", "abbr": "other"}
SCRIPTED = {"type": "ScriptedModel", "abbr": "judge"}


def rated(evaluator: dict[str, Any] | None = None, run: dict[str, Any] | None = None, **dataset: Any) -> Any:
    """Return the evaluator of a dataset after translation, the dataset, and what the notes say."""
    template = {"type": f"{OPENICL}.icl_prompt_template.PromptTemplate", "template": "{question} {prediction}"}
    whole = {"type": LM, "prompt_template": template, **(evaluator or {})}
    described = peer_dataset(eval_cfg={"evaluator": whole}, **dataset)
    values, notes = translate({"datasets": [described], **({"judge_models": [SCRIPTED]} if run is None else run)})
    found = values["datasets"][0]
    return found["eval_cfg"]["evaluator"], found, [note.what for note in notes]


def comparison(**changes: Any) -> dict[str, Any]:
    given = [{"abbr": "old", "path": "./data/old"}, {"abbr": "other", "path": "./data/other"}]
    return {"mode": "m2n", "base_models": [{"abbr": "old"}], "given_pred": given, **changes}


def test_a_rating_is_read_by_the_function_of_the_peer() -> None:
    evaluator, dataset, notes = rated(
        {"dict_postprocessor": {"type": ALIGN, "judge_type": "general"}}, mode="singlescore", summarizer={"type": "X"}
    )
    assert evaluator == {
        "type": "PeerJudgeEvaluator",
        "judge_cfg": SCRIPTED,
        "prompt_template": {"type": "PromptTemplate", "template": "{question} {prediction}"},
        "function": ALIGN,
        "kwargs": {"judge_type": "general"},
    }
    assert dataset["kwargs"] == {"path": "opencompass/x"}  # the loader does not get what describes the judge
    assert notes == ["'summarizer' is not used: the summary is that of every run"]


def test_the_answers_of_a_base_model_are_in_a_file_of_the_last_part_of_a_name() -> None:
    evaluator, _, _ = rated(**comparison(abbr="language/chat"))
    assert evaluator["baselines"] == [{"abbr": "old", "path": "./data/old/chat.json"}]


@pytest.mark.parametrize(
    ("keys", "baselines", "order"),
    [
        ({}, ["old"], "first"),
        ({"infer_order": "double"}, ["old"], "double"),
        ({"infer_order": "random", "base_models": {"abbr": "other"}}, ["other"], "random"),
        ({"base_models": [{"abbr": "other"}, {"abbr": "old"}]}, ["other", "old"], "first"),
    ],
)
def test_a_comparison_knows_the_answers_of_the_base_models(
    keys: dict[str, Any], baselines: list[str], order: str
) -> None:
    evaluator, _, _ = rated({"dict_postprocessor": {"type": ALIGN}}, **comparison(**keys))
    assert evaluator["baselines"] == [{"abbr": name, "path": f"./data/{name}"} for name in baselines]
    assert evaluator["order"] == order


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        (comparison(base_models=[{"abbr": "new"}]), "there are no answers of the base model 'new' to compare with"),
        ({"mode": "allpair"}, "mode='allpair' compares the models of a run with each other"),
    ],
)
def test_a_comparison_that_cannot_be_made_is_a_fault(keys: dict[str, Any], what: str) -> None:
    with pytest.raises(ConfigFaults) as caught:
        rated(**keys)
    assert what in caught.value.lines()[0]


@pytest.mark.parametrize(("theirs", "ours"), [("multi_eval", "prompt_list"), ("pack_all_predictions", "pack")])
def test_options_are_renamed(theirs: str, ours: str) -> None:
    evaluator, _, notes = rated({theirs: True, "colour": 1, "dict_postprocessor": {"type": ALIGN}})
    assert evaluator[ours] is True
    assert notes == ["'colour' is not used: it is not known here"]


@pytest.mark.parametrize("name", SUMMARIZERS)
def test_the_summarizer_of_an_old_config_says_how_the_judge_is_read(name: str) -> None:
    row = SUMMARIZERS[name]
    args = dict.fromkeys((*row.args, "colour"), "red")
    evaluator, _, _ = rated(summarizer={"type": f"opencompass.summarizers.{name}", **args})
    assert evaluator["function"] == row.function
    assert evaluator.get("kwargs", {}) == dict.fromkeys(row.args, "red")


def test_the_summarizer_of_ratings_says_what_is_controlled_for() -> None:
    function = {"dict_postprocessor": {"type": "opencompass.datasets.compassarena_bradleyterry_postprocess"}}
    options = {"groups": ["capability"], "num_bootstrap": 300, "rating_system": "bradleyterry", "colour": "red"}
    summarizer = {"type": "opencompass.summarizers.CompassArenaBradleyTerrySummarizer", **options}
    run = {"judge_models": [SCRIPTED], "summarizer": summarizer}
    evaluator, _, notes = rated(function, run, **comparison())
    assert evaluator["ratings"] == {"groups": ["capability"]}
    assert notes == ["'colour' is not used: it is not known here"]


def test_what_nothing_reads_is_kept_without_a_score() -> None:
    evaluator, _, notes = rated(summarizer={"type": "opencompass.summarizers.UnheardOf"})
    assert "function" not in evaluator
    assert notes == ["nothing in the config reads what the judge says: it is kept, and not scored"]


@pytest.mark.parametrize(
    ("run", "note"),
    [
        ({"judge_models": [SCRIPTED]}, None),
        ({"eval": {"partitioner": {"judge_models": [SCRIPTED]}}}, None),
        ({"judge_models": [SCRIPTED, OTHER]}, "the judges score together"),
    ],
)
def test_the_run_names_the_judge(run: dict[str, Any], note: str | None) -> None:
    evaluator, _, notes = rated({"dict_postprocessor": {"type": ALIGN}}, run)
    assert evaluator["judge_cfg"] == (SCRIPTED if note is None else [SCRIPTED, OTHER])
    about_judge = [one for one in notes if "partition" not in one and "'eval'" not in one]
    assert [one.partition(";")[0] for one in about_judge] == ([] if note is None else [note])


def test_without_a_judge_that_of_the_environment_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OC_JUDGE_MODEL", "big")
    evaluator, _, notes = rated({"dict_postprocessor": {"type": ALIGN}}, {})
    assert evaluator["judge_cfg"]["model"] == "big"
    assert notes == ["the judge is that of OC_JUDGE_MODEL, OC_JUDGE_API_BASE and OC_JUDGE_API_KEY"]
    monkeypatch.delenv("OC_JUDGE_MODEL")
    with pytest.raises(ConfigFaults, match="1 fault"):
        rated({}, {})


@pytest.mark.parametrize(
    ("function", "ours"),
    [
        ("generic_llmjudge_postprocess", "GenericLLMEvaluator"),
        ("supergpqa_llmjudge_postprocess", "GenericLLMEvaluator"),
        ("simpleqa_postprocess", "PeerJudgeEvaluator"),
    ],
)
@pytest.mark.parametrize("theirs", [LM, "opencompass.evaluator.GenericLLMEvaluator"])
def test_only_right_and_wrong_are_read_by_us(function: str, ours: str, theirs: str) -> None:
    reading = {"type": theirs, "dict_postprocessor": {"type": f"opencompass.datasets.{function}"}}
    assert rated(reading)[0]["type"] == ours


def judged_apart(evaluator: str) -> dict[str, Any]:
    """A dataset of AISBench with a judge of its own."""
    template = {"round": [{"role": "HUMAN", "prompt": "{question} {answer} {model_answer}: A or B?"}]}
    datasets = "ais_bench.benchmark.datasets"
    return peer_dataset(
        type=f"{datasets}.Aime2025Dataset",
        eval_cfg={
            "evaluator": {"type": f"{datasets}.utils.llm_judge.{evaluator}"},
            "pred_postprocessor": {"type": f"{datasets}.utils.llm_judge.get_a_or_b"},
        },
        judge_infer_cfg={
            "judge_reader_cfg": {},
            "judge_model": SCRIPTED,
            "judge_dataset_type": f"{datasets}.Aime2025JDGDataset",
            "prompt_template": {
                "type": "ais_bench.benchmark.openicl.icl_prompt_template.PromptTemplate",
                "template": template,
            },
        },
    )


def test_the_judge_of_a_dataset_of_aisbench_is_asked() -> None:
    values, _ = translate({"datasets": [judged_apart("LLMJudgeCorrectEvaluator")]})
    scoring = values["datasets"][0]["eval_cfg"]
    assert "pred_postprocessor" not in scoring  # it reads the judge, not the model
    assert (scoring["evaluator"]["type"], scoring["evaluator"]["judge_cfg"]) == ("GenericLLMEvaluator", SCRIPTED)
    turn = scoring["evaluator"]["prompt_template"]["template"]["round"][0]
    assert turn["prompt"] == "{question} {answer} {prediction}: A or B?"
    assert "judge_infer_cfg" not in str(values["datasets"][0].get("kwargs"))


def test_another_judge_of_aisbench_is_a_fault() -> None:
    with pytest.raises(ConfigFaults) as caught:
        translate({"datasets": [judged_apart("HLEJudgeEvaluator")]})
    assert (
        "judge_infer_cfg goes with LLMJudgeCorrectEvaluator here, not with HLEJudgeEvaluator" in caught.value.lines()[0]
    )


SUBJECTIVE = "opencompass.summarizers.subjective"


@pytest.mark.parametrize("name", SUMMARIES)
@pytest.mark.parametrize("of_dataset", [False, True])
def test_a_subjective_summarizer_shows_its_own_numbers(name: str, of_dataset: bool) -> None:
    summarizer = {"summarizer": {"type": f"{SUBJECTIVE}.{name}"}}
    run = {"judge_models": [SCRIPTED], **({} if of_dataset else summarizer)}
    evaluator, _, notes = rated({"dict_postprocessor": {"type": ALIGN}}, run, **(summarizer if of_dataset else {}))
    assert evaluator["summarizer"] == name
    assert not any("not known here" in note or "not used" in note for note in notes)
