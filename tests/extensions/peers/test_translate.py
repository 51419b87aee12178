"""What a config of OpenCompass or AISBench becomes."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from ais_prompt.config import Faults
from ais_prompt.errors import ConfigFaults
from ais_prompt.extensions.peers.parts import REGISTRIES, SCORING, Translation
from ais_prompt.extensions.peers.table import PEERS, ROWS, peer_part
from ais_prompt.extensions.peers.translate import translate

OPENICL = "opencompass.openicl"


def peer_dataset(**changes: Any) -> dict[str, Any]:
    """A dataset as OpenCompass loads it."""
    return {
        "type": "opencompass.datasets.XDataset",
        "abbr": "x",
        "path": "opencompass/x",
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": {
                "type": f"{OPENICL}.icl_prompt_template.PromptTemplate",
                "template": "{question}",
            },
            "retriever": {"type": f"{OPENICL}.icl_retriever.ZeroRetriever"},
            "inferencer": {"type": f"{OPENICL}.icl_inferencer.GenInferencer"},
        },
        "eval_cfg": {"evaluator": {"type": f"{OPENICL}.icl_evaluator.AccEvaluator"}},
        **changes,
    }


def translated(**changes: Any) -> tuple[dict[str, Any], list[str]]:
    """The dataset after translation, and what the notes say."""
    values, notes = translate({"datasets": [peer_dataset(**changes)]})
    return values["datasets"][0], [note.what for note in notes]


def test_a_config_of_our_own_stays_as_it_is() -> None:
    values = {"models": [{"type": "ScriptedModel", "colour": 1}], "datasets": [{"path": "x", "infer_cfg": {"a": 1}}]}
    assert translate(deepcopy(values)) == (values, ())


def test_parts_get_our_names_and_a_loader_its_adapter() -> None:
    dataset, notes = translated()
    assert dataset["type"] == "PeerDataset"
    assert dataset["cls"] == "opencompass.datasets.XDataset"
    assert dataset["kwargs"] == {"path": "opencompass/x"}
    assert dataset["infer_cfg"]["inferencer"] == {"type": "GenInferencer"}
    assert dataset["eval_cfg"]["evaluator"] == {"type": "AccEvaluator"}
    assert notes == []


def test_the_loaded_config_is_not_changed() -> None:
    values = {"datasets": [peer_dataset()]}
    before = deepcopy(values)
    translate(values)
    assert values == before


@pytest.mark.parametrize("kind", ROWS)
def test_every_row_names_a_part_of_ours(kind: str) -> None:
    for row in ROWS[kind]:
        for name in filter(None, (row.ours, row.exact)):
            assert name in REGISTRIES[kind].shipped, f"{row.name}: {name}"


@pytest.mark.parametrize("kind", ROWS)
def test_no_name_has_two_rows(kind: str) -> None:
    names = [(row.name, row.module) for row in ROWS[kind]]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("kind", sorted(ROWS.keys() - {*SCORING}))
def test_peer_scores_change_only_parts_that_score(kind: str) -> None:
    ours, theirs = Translation(Faults(str)), Translation(Faults(str), peer_scores=True)
    for row in ROWS[kind]:
        path = f"{row.module or 'opencompass'}.x.{row.name}"
        assert theirs.row(kind, path, {}) == ours.row(kind, path, {}) is not None


def test_the_perplexity_of_opencompass_counts_all_tokens() -> None:
    for package, expected in (("opencompass", "all_tokens"), ("ais_bench.benchmark", None)):
        infer = {"inferencer": {"type": f"{package}.openicl.icl_inferencer.PPLInferencer"}}
        dataset, notes = translated(infer_cfg=infer)
        assert dataset["infer_cfg"]["inferencer"].get("normalization") == expected
        assert notes == []


def test_the_continuation_of_opencompass_is_in_the_prompt() -> None:
    dataset, _ = translated(infer_cfg={"inferencer": {"type": f"{OPENICL}.icl_inferencer.LLInferencer"}})
    assert dataset["infer_cfg"]["inferencer"]["continuation_in_prompt"]


@pytest.mark.parametrize("package", ["opencompass.models", "ais_bench.benchmark.models"])
def test_num_return_sequences_is_n_of_the_datasets(package: str) -> None:
    name = "HuggingFaceBaseModel" if package.startswith("opencompass") else "VLLMCustomAPIChat"
    options = {"num_return_sequences": 3, "temperature": 0.5}
    model = {"type": f"{package}.{name}", "abbr": "m", "path": "p", "generation_kwargs": options}
    own = peer_dataset(abbr="own", n=2)
    likelihood = peer_dataset(abbr="ppl", infer_cfg={"inferencer": {"type": f"{OPENICL}.icl_inferencer.PPLInferencer"}})
    values, _ = translate({"models": [model], "datasets": [peer_dataset(), own, likelihood]})
    assert [dataset.get("n") for dataset in values["datasets"]] == [3, 2, None]
    assert "num_return_sequences" not in str(values)
    once = {**model, "abbr": "once", "generation_kwargs": {}}
    with pytest.raises(ConfigFaults, match="num_return_sequences"):
        translate({"models": [model, once], "datasets": [peer_dataset()]})


def test_combinations_name_the_models_and_datasets_as_they_are_called_here() -> None:
    models = [{"type": "opencompass.models.OpenAI", "abbr": name, "path": "p", "key": "K"} for name in ("a", "b")]
    datasets = [peer_dataset(abbr="x/1"), peer_dataset(abbr="y")]
    combinations = [{"models": models[:1], "datasets": datasets[:1]}, {"models": models, "datasets": datasets[1:]}]
    config = {"models": models, "datasets": datasets, "model_dataset_combinations": combinations}
    values, _ = translate(config)
    assert values["model_dataset_combinations"] == [
        {"models": ["a"], "datasets": ["x_1"]},
        {"models": ["a", "b"], "datasets": ["y"]},
    ]


def test_an_option_that_has_no_meaning_here_is_a_note() -> None:
    infer = peer_dataset()["infer_cfg"]
    infer["inferencer"] |= {"batch_size": 8, "max_out_len": 7}
    dataset, notes = translated(infer_cfg=infer)
    assert dataset["infer_cfg"]["inferencer"] == {"type": "GenInferencer", "max_out_len": 7}
    assert len(notes) == 1
    assert "batch_size" in notes[0]


def test_peer_scores_choose_the_function_with_the_peers_results() -> None:
    scoring = {"pred_postprocessor": {"type": "opencompass.utils.text_postprocessors.first_option_postprocess"}}
    values = {"datasets": [peer_dataset(eval_cfg=scoring)]}
    ours, notes = translate(values)
    theirs, silent = translate(values, peer_scores=True)
    assert ours["datasets"][0]["eval_cfg"]["pred_postprocessor"]["type"] == "first_option_postprocess"
    assert theirs["datasets"][0]["eval_cfg"]["pred_postprocessor"]["type"] == "first_option_postprocess_peer"
    assert [note.fix for note in notes] == ["for the peer's numbers: --peer-scores"]
    assert silent == ()


def test_a_loader_with_a_layout_needs_no_code_of_the_peer() -> None:
    arguments = {"path": "opencompass/mmlu", "name": "astronomy", "local_mode": True}
    dataset, notes = translated(type="opencompass.datasets.MMLUDataset", **arguments)
    assert dataset["type"] == "BenchmarkDataset"
    assert {key: dataset[key] for key in ("loader", "path", "name")} == {
        "loader": "MMLUDataset",
        "path": "opencompass/mmlu",
        "name": "astronomy",
    }
    assert "local_mode" not in dataset
    assert notes == []


def judged(**changes: Any) -> dict[str, Any]:
    """An evaluator with a judge, as OpenCompass loads it."""
    return {
        "type": "opencompass.evaluator.GenericLLMEvaluator",
        "prompt_template": {
            "type": f"{OPENICL}.icl_prompt_template.PromptTemplate",
            "template": {"round": [{"role": "HUMAN", "prompt": "{question} {prediction} {obj_gold} {reference}"}]},
        },
        "dataset_cfg": {"type": "opencompass.datasets.XDataset", "path": "opencompass/x"},
        "judge_cfg": {},
        "dict_postprocessor": {"type": "opencompass.datasets.generic_llmjudge_postprocess"},
        **changes,
    }


def test_an_empty_judge_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OC_JUDGE_MODEL", "big")
    monkeypatch.setenv("OC_JUDGE_API_BASE", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OC_JUDGE_API_KEY", "secret")
    dataset, notes = translated(eval_cfg={"evaluator": judged()})
    evaluator = dataset["eval_cfg"]["evaluator"]
    assert set(evaluator) == {"type", "judge_cfg", "prompt_template", "verdict_postprocessor"}
    judge = evaluator["judge_cfg"]
    assert (judge["model"], judge["base_url"]) == ("big", "http://127.0.0.1:1/v1")
    assert judge["api_key"] == "OC_JUDGE_API_KEY"
    turn = evaluator["prompt_template"]["template"]["round"][0]
    assert turn["prompt"] == "{question} {prediction} {gold} {gold}"
    assert any("OC_JUDGE_MODEL" in note for note in notes)


def test_a_judge_without_a_name_is_one_fault_for_all_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OC_JUDGE_MODEL", raising=False)
    dataset = peer_dataset(eval_cfg={"evaluator": judged()})
    with pytest.raises(ConfigFaults) as caught:
        translate({"datasets": [dataset, dataset]}, place=lambda where: f"{where} (x.py:1)")
    lines = caught.value.lines()
    assert lines[-2] == "  and in 1 more dataset"
    assert "OC_JUDGE_MODEL" in lines[0]


def test_the_rule_of_a_cascade_keeps_its_own_postprocessor() -> None:
    acc = {
        "type": f"{OPENICL}.icl_evaluator.AccEvaluator",
        "pred_postprocessor": {"type": "opencompass.utils.text_postprocessors.first_capital_postprocess"},
    }
    cascade = {
        "type": "opencompass.evaluator.CascadeEvaluator",
        "rule_evaluator": acc,
        "llm_evaluator": judged(judge_cfg={"type": "ScriptedModel"}),
        "parallel": True,
    }
    dataset, _ = translated(eval_cfg={"evaluator": cascade})
    evaluator = dataset["eval_cfg"]["evaluator"]
    assert evaluator["rule_evaluator"] == {"type": "AccEvaluator"}
    assert evaluator["rule_postprocessor"] == {"type": "first_capital_postprocess"}
    assert evaluator["llm_evaluator"]["judge_cfg"] == {"type": "ScriptedModel"}


def test_several_evaluators_are_translated_one_by_one() -> None:
    own = {"type": "opencompass.utils.text_postprocessors.first_option_postprocess", "options": "ABCD"}
    acc = {"type": f"{OPENICL}.icl_evaluator.AccEvaluator"}
    both = [{**acc, "pred_postprocessor": own}, {"type": "ContainsEvaluator"}]
    dataset, _ = translated(eval_cfg={"evaluator": both, "pred_postprocessor": own})
    named = {"type": "first_option_postprocess", "options": "ABCD"}
    first, second = dataset["eval_cfg"]["evaluator"]
    assert (first["type"], first["pred_postprocessor"], second) == (
        "AccEvaluator",
        named,
        {"type": "ContainsEvaluator"},
    )
    assert dataset["eval_cfg"]["pred_postprocessor"] == named


def test_the_postprocessor_of_an_evaluator_becomes_that_of_the_dataset() -> None:
    own = {"type": "opencompass.utils.text_postprocessors.extract_non_reasoning_content"}
    acc = {"type": f"{OPENICL}.icl_evaluator.AccEvaluator", "pred_postprocessor": own}
    dataset, notes = translated(eval_cfg={"evaluator": acc})
    assert dataset["eval_cfg"]["evaluator"] == {"type": "AccEvaluator"}
    assert dataset["eval_cfg"]["pred_postprocessor"] == {"type": "extract_non_reasoning_content_peer"}
    assert notes == []
    _, notes = translated(eval_cfg={"evaluator": acc, "pred_postprocessor": own})
    assert "eval_cfg has one" in notes[0]


@pytest.mark.parametrize("key", ["pred_role", "ds_column", "model_postprocessor", "unheard_of"])
def test_an_unknown_key_of_a_peer_is_a_note(key: str) -> None:
    dataset, notes = translated(eval_cfg={key: "BOT"})
    assert dataset["eval_cfg"] == {}
    assert key in notes[0]


@pytest.mark.parametrize(
    ("name", "cls", "kwargs"),
    [
        ("LawBenchEvaluator_2_10", "opencompass.datasets.lawbench.lawbench.LawBenchEvaluator", {"index": "2-10"}),
        ("F1ScoreEvaluator", "opencompass.datasets.SeedBench.F1ScoreEvaluator", None),
    ],
)
def test_registered_names_are_known_without_an_import(name: str, cls: str, kwargs: Any) -> None:
    dataset, _ = translated(eval_cfg={"evaluator": {"type": name}})
    evaluator = dataset["eval_cfg"]["evaluator"]
    assert (evaluator["type"], evaluator["cls"], evaluator.get("kwargs")) == ("PeerEvaluator", cls, kwargs)


def test_a_registered_name_means_that_of_its_own_peer() -> None:
    parts = [peer_part("postprocessors", "Xsum", peer) for peer in PEERS]
    assert [part and part.path.partition(".")[0] for part in parts] == list(PEERS)


def test_a_dataset_is_named_as_the_peer_names_it() -> None:
    dataset = peer_dataset(name="hard")
    del dataset["abbr"]
    values, _ = translate({"datasets": [dataset, peer_dataset(abbr="a/b")]})
    assert [one["abbr"] for one in values["datasets"]] == ["opencompass_x_hard", "a_b"]


def test_pass_at_k_with_too_few_answers_is_a_note() -> None:
    scoring = {"evaluator": {"type": "opencompass.datasets.HumanEvalEvaluator"}, "k": [1, 10, 100]}
    dataset, notes = translated(eval_cfg=scoring)
    assert dataset["eval_cfg"]["k"] == [1]
    assert [note for note in notes if note.startswith("pass@10, pass@100 need more answers")]
    assert translated(eval_cfg=scoring, n=10)[0]["eval_cfg"]["k"] == [1, 10]
    assert translated(n=5, k=32)[0]["k"] == []


def test_shots_that_the_peers_allow_are_allowed() -> None:
    infer = peer_dataset()["infer_cfg"]
    infer["retriever"] = {"type": f"{OPENICL}.icl_retriever.FixKRetriever", "fix_id_list": [0]}
    dataset, _ = translated(infer_cfg=infer)
    assert dataset["infer_cfg"]["retriever"]["allow_overlap"] is True
    assert "allow_overlap" not in translated()[0]["infer_cfg"]["retriever"]


def test_self_consistency_asks_several_times() -> None:
    infer = peer_dataset()["infer_cfg"]
    infer["inferencer"] = {
        "type": f"{OPENICL}.icl_inferencer.SCInferencer",
        "max_out_len": 512,
        "sc_size": 20,
        "infer_type": "sc",
        "generation_kwargs": {"do_sample": True, "temperature": 0.7},
    }
    dataset, notes = translated(infer_cfg=infer, eval_cfg={"sc_size": 20})
    assert dataset["infer_cfg"]["inferencer"] == {"type": "GenInferencer", "max_out_len": 512, "n": 20}
    assert [note for note in notes if "cons@n" in note]
    assert [note for note in notes if "'generation_kwargs' is not used: sampling" in note]


@pytest.mark.parametrize(("multiround", "ours"), [(True, "ChatInferencer"), (False, "GenInferencer")])
def test_many_rounds_are_a_chat_whose_turns_are_all_asked(multiround: bool, ours: str) -> None:
    infer = peer_dataset()["infer_cfg"]
    infer["inferencer"] = {"type": f"{OPENICL}.icl_inferencer.GenInferencer", "multiround": multiround}
    dataset, _ = translated(infer_cfg=infer)
    mode = {"infer_mode": "every"} if multiround else {}
    assert dataset["infer_cfg"]["inferencer"] == {"type": ours, **mode}


def test_a_judge_of_right_and_wrong_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OC_JUDGE_MODEL", "big")
    monkeypatch.setenv("OC_JUDGE_API_BASE", "http://127.0.0.1:1/v1")
    evaluator = {key: value for key, value in judged().items() if key != "judge_cfg"}
    evaluator["type"] = "opencompass.openicl.icl_evaluator.LMEvaluator"
    ours = translated(eval_cfg={"evaluator": evaluator})[0]["eval_cfg"]["evaluator"]
    assert ours == translated(eval_cfg={"evaluator": judged()})[0]["eval_cfg"]["evaluator"]
    assert ours["type"] == "GenericLLMEvaluator"


def test_a_class_of_aisbench_with_other_rows_is_left_to_it() -> None:
    for package, expected in (
        ("opencompass.datasets", "BenchmarkDataset"),
        ("ais_bench.benchmark.datasets", "PeerDataset"),
    ):
        assert translated(type=f"{package}.HLEDataset", path="cais/hle")[0]["type"] == expected


def test_a_name_of_another_module_is_left_to_the_peer() -> None:
    for module, expected in (
        ("opencompass.openicl.icl_evaluator", "CircularEvaluator"),
        ("opencompass.datasets.circular", "PeerEvaluator"),
    ):
        dataset, _ = translated(eval_cfg={"evaluator": {"type": f"{module}.CircularEvaluator"}})
        assert dataset["eval_cfg"]["evaluator"]["type"] == expected


def test_a_system_turn_of_a_round_is_a_system_message() -> None:
    system, human = {"role": "SYSTEM", "prompt": "Be brief."}, {"role": "HUMAN", "prompt": "{question}"}
    infer = peer_dataset()["infer_cfg"]
    infer["prompt_template"]["template"] = {"begin": ["</E>"], "round": [system, human]}
    dataset, notes = translated(infer_cfg=infer)
    template = dataset["infer_cfg"]["prompt_template"]["template"]
    assert template == {"begin": ["</E>", system], "round": [human]}
    assert len(notes) == 1
    model = {"type": "ScriptedModel", "meta_template": {"round": [{"role": "SYSTEM"}, {"role": "HUMAN"}]}}
    values, notes_of_rounds = translate({"models": [model], "datasets": [peer_dataset(infer_cfg=infer)]})
    kept = values["datasets"][0]["infer_cfg"]["prompt_template"]["template"]
    assert (kept, notes_of_rounds) == ({"begin": ["</E>"], "round": [system, human]}, ())
    infer["prompt_template"]["template"] = {"A": {"round": [system, human]}, "B": "no dialogue"}
    dataset, _ = translated(infer_cfg=infer)
    assert dataset["infer_cfg"]["prompt_template"]["template"]["A"] == {"begin": [system], "round": [human]}


def test_a_topk_retriever_has_the_encoder_of_the_peer() -> None:
    infer = peer_dataset()["infer_cfg"]
    infer["retriever"] = {"type": f"{OPENICL}.icl_retriever.TopkRetriever", "ice_num": 3}
    dataset, _ = translated(infer_cfg=infer)
    retriever = dataset["infer_cfg"]["retriever"]
    assert retriever["encoder"]["path"] == "sentence-transformers/all-mpnet-base-v2"
    assert retriever["ice_num"] == 3


@pytest.mark.parametrize("option", ["temperature", "do_sample", "labels", "max_seq_len", "batch_size"])
def test_options_of_inferencers_that_the_peer_ignores_are_notes(option: str) -> None:
    infer = peer_dataset()["infer_cfg"]
    infer["inferencer"][option] = 1
    dataset, notes = translated(infer_cfg=infer)
    assert dataset["infer_cfg"]["inferencer"] == {"type": "GenInferencer"}
    assert option in notes[0]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"type": "opencompass.partitioners.NaivePartitioner", "n": 2}, None),
        (
            {
                "type": "opencompass.partitioners.SizePartitioner",
                "max_task_size": 5,
                "out_dir": "x",
            },
            {"type": "SizePartitioner", "max_task_size": 5},
        ),
        (
            {"type": "opencompass.partitioners.num_worker.NumWorkerPartitioner", "num_split": 3, "force_rebuild": True},
            {"type": "NumWorkerPartitioner", "num_split": 3},
        ),
    ],
)
def test_the_partitioner_of_a_run(theirs: dict[str, Any], ours: dict[str, Any] | None) -> None:
    values, notes = translate({"infer": {"partitioner": theirs, "runner": {"type": "x.LocalRunner"}}})
    assert values.get("partitioner") == ours
    files = [f"infer.partitioner.{key}" for key in ("out_dir", "force_rebuild") if key in theirs]
    assert [note.where for note in notes] == ["infer.partitioner", *files, "infer.runner"]


def test_a_partitioner_of_our_own_counts_before_that_of_infer() -> None:
    own = {"type": "SizePartitioner"}
    values, _ = translate({"partitioner": own, "infer": {"partitioner": {"type": "NumWorkerPartitioner"}}})
    assert values["partitioner"] == own
