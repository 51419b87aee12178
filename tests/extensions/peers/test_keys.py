"""A key of OpenCompass or AISBench is translated, refused, or named in a note; none is dropped silently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

import pytest

from ais_prompt.errors import ConfigFaults
from ais_prompt.extensions.peers.translate import translate
from tests.support.peer_keys import (
    KEYS,
    META,
    OPENICL,
    TEMPLATE,
    config_with,
    dataset,
    dict_at,
    names,
    outcome,
    value_of,
)

AISBENCH = "ais_bench.benchmark"
SCRIPTED = {"type": "ScriptedModel", "answers": {"": "A"}}
JUDGED = {
    "type": "opencompass.evaluator.GenericLLMEvaluator",
    "judge_cfg": SCRIPTED,
    "prompt_template": {**TEMPLATE, "template": "{question} {prediction} {obj_gold}"},
    "dict_postprocessor": {"type": "opencompass.datasets.generic_llmjudge_postprocess"},
    "dataset_cfg": {
        "type": "opencompass.datasets.OwnDataset",
        "path": "data/own",
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
    },
}
RATED = {
    "type": f"{OPENICL}.icl_evaluator.LMEvaluator",
    "judge_cfg": SCRIPTED,
    "prompt_template": TEMPLATE,
    "dict_postprocessor": {"type": "opencompass.datasets.subjective.alignbench_postprocess"},
}
THOUGHTS = {"type": "opencompass.utils.text_postprocessors.extract_non_reasoning_content"}
LOCAL = {
    "type": "opencompass.models.HuggingFaceCausalLM",
    "abbr": "local",
    "path": "a/b",
    "run_cfg": {"num_gpus": 1},
    "pred_postprocessor": THOUGHTS,
    "model_kwargs": {"torch_dtype": "auto"},
    "tokenizer_kwargs": {"use_fast": False},
    "generation_kwargs": {"top_k": 1},
}
SERVED = {
    "type": f"{AISBENCH}.models.VLLMCustomAPIChat",
    "abbr": "served",
    "path": "",
    "model": "m",
    "pred_postprocessor": THOUGHTS,
    "generation_kwargs": {"top_k": 1},
    "traffic_cfg": {"burstiness": 0.5},
    "meta_template": META,
}
ENGINE = {
    "type": "opencompass.models.TurboMindModelwithChatTemplate",
    "abbr": "engine",
    "path": "a/c",
    "engine_config": {"session_len": 2048},
    "gen_config": {"do_sample": False},
}
CORRECT = {
    "type": f"{AISBENCH}.datasets.OwnDataset",
    "abbr": "correct",
    "path": "data/own",
    "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
    "infer_cfg": {
        "prompt_template": {**TEMPLATE, "type": f"{AISBENCH}.openicl.icl_prompt_template.PromptTemplate"},
        "inferencer": {"type": f"{AISBENCH}.openicl.icl_inferencer.GenInferencer"},
    },
    "judge_infer_cfg": {
        "judge_model": SERVED,
        "judge_dataset_type": "LLMJudgeDataset",
        "judge_reader_cfg": {"input_columns": ["question"]},
        "prompt_template": {**TEMPLATE, "type": f"{AISBENCH}.openicl.icl_prompt_template.PromptTemplate"},
        "retriever": {"type": f"{AISBENCH}.openicl.icl_retriever.ZeroRetriever"},
        "inferencer": {"type": f"{AISBENCH}.openicl.icl_inferencer.GenInferencer"},
    },
    "eval_cfg": {
        "evaluator": {"type": f"{AISBENCH}.datasets.LLMJudgeCorrectEvaluator"},
        "pred_postprocessor": {"type": f"{AISBENCH}.datasets.utils.llm_judge.get_a_or_b"},
    },
}
SHOTS = {
    "ice_template": TEMPLATE,
    "prompt_template": {**TEMPLATE, "template": "</E>{question}", "ice_token": "</E>"},
    "retriever": {"type": f"{OPENICL}.icl_retriever.FixKRetriever", "fix_id_list": [0, 1]},
    "inferencer": {"type": f"{OPENICL}.icl_inferencer.PPLInferencer"},
}
CASCADE = {
    "type": "opencompass.evaluator.CascadeEvaluator",
    "llm_evaluator": JUDGED,
    "rule_evaluator": {
        "type": f"{OPENICL}.icl_evaluator.AccEvaluator",
        "pred_postprocessor": {
            "type": "opencompass.utils.text_postprocessors.first_option_postprocess",
            "options": "AB",
        },
    },
}
CONFIG = {
    "models": [LOCAL, SERVED, ENGINE],
    "datasets": [
        dataset(abbr="shots", infer_cfg=SHOTS),
        dataset(abbr="judged", eval_cfg={"evaluator": JUDGED}),
        dataset(abbr="cascade", eval_cfg={"evaluator": CASCADE}),
        dataset(abbr="rated", mode="singlescore", eval_cfg={"evaluator": RATED}),
        dataset(abbr="library", type="opencompass.datasets.GSM8KDataset", path="opencompass/gsm8k"),
        CORRECT,
    ],
    "summarizer": {
        "type": "opencompass.summarizers.DefaultSummarizer",
        "dataset_abbrs": ["all"],
        "summary_groups": [{"name": "all", "subsets": ["judged", "cascade"]}],
    },
    "infer": {
        "partitioner": {"type": "opencompass.partitioners.NumWorkerPartitioner", "num_worker": 4},
        "runner": {"type": "opencompass.runners.LocalRunner", "task": {"type": "opencompass.tasks.OpenICLInferTask"}},
    },
    "eval": {
        "partitioner": {"type": "opencompass.partitioners.NaivePartitioner", "n": 8},
        "runner": {"type": "opencompass.runners.LocalRunner"},
    },
}
"""A config with each dict that the two programs know."""

READER = ("datasets", 0, "reader_cfg")
INFER = ("datasets", 0, "infer_cfg")
SCORING = ("datasets", 0, "eval_cfg")
JUDGE = ("datasets", 1, "eval_cfg", "evaluator")
SECTIONS: list[tuple[tuple[Any, ...], str, Any, str]] = [
    ((), "chatml_datasets", [{"abbr": "chat", "path": "x.jsonl", "evaluator": {"type": "math_evaluator"}}], "refused"),
    ((), "judge_models", [SERVED], "translated"),
    ((), "lark_bot_url", "http://127.0.0.1:9/hook", "note"),
    ((), "model_dataset_combinations", [{"models": [LOCAL], "datasets": [CORRECT]}], "translated"),
    ((), "rs_exist_results", [["local", "shots"]], "note"),
    ((), "station_path", "station", "note"),
    ((), "work_dir", "elsewhere", "translated"),
    (("datasets", 0), "abbr", "other", "translated"),
    (("datasets", 0), "k", 1, "translated"),
    (("datasets", 0), "n", 2, "translated"),
    (("datasets", 0), "path", "elsewhere", "translated"),
    (("datasets", 3), "base_models", [{"abbr": "base"}], "note"),
    (("datasets", 3), "given_pred", [{"abbr": "base", "path": "x"}], "note"),
    (("datasets", 3), "infer_order", "double", "note"),
    (("datasets", 3), "mode", "m2m", "refused"),
    (("datasets", 3), "summarizer", {"type": "opencompass.summarizers.AlignmentBenchSummarizer"}, "translated"),
    (("datasets", 3), "summarizer", {"type": "opencompass.summarizers.AlpacaSummarizer"}, "note"),
    (("datasets", 5, "judge_infer_cfg"), "judge_model", SCRIPTED, "translated"),
    (("datasets", 5, "judge_infer_cfg"), "judge_reader_cfg", {"input_columns": ["other"]}, "note"),
    (READER, "input_columns", ["question", "hint"], "translated"),
    (READER, "output_column", "other", "translated"),
    (READER, "train_range", "[0:2]", "translated"),
    (READER, "test_range", "[0:2]", "translated"),
    (READER, "train_split", "dev", "translated"),
    (READER, "test_split", "dev", "translated"),
    (INFER, "ice_template", {**TEMPLATE, "template": "A: {answer}"}, "translated"),
    (INFER, "prompt_template", {**TEMPLATE, "template": "A: {answer}"}, "translated"),
    (INFER, "retriever", {"type": f"{OPENICL}.icl_retriever.ZeroRetriever"}, "translated"),
    (INFER, "inferencer", {"type": f"{OPENICL}.icl_inferencer.GenInferencer"}, "translated"),
    (INFER, "max_out_len", 7, "note"),
    (SCORING, "analyze_contamination", True, "note"),
    (SCORING, "dataset_postprocessor", THOUGHTS, "translated"),
    (SCORING, "ds_column", "x", "note"),
    (SCORING, "ds_split", "x", "note"),
    (SCORING, "evaluator", {"type": "opencompass.datasets.lambada.LambadaEvaluator"}, "translated"),
    (SCORING, "k", [1], "translated"),
    (SCORING, "model_postprocessor", THOUGHTS, "note"),
    (SCORING, "num_gpus", 2, "note"),
    (SCORING, "pred_postprocessor", THOUGHTS, "translated"),
    (SCORING, "pred_role", "BOT", "note"),
    (SCORING, "sc_size", 4, "note"),
    (JUDGE, "dataset_cfg", {"path": "elsewhere"}, "note"),
    (JUDGE, "output_path", "x.json", "note"),
    (("datasets", 3, "eval_cfg", "evaluator"), "keep_predictions", True, "translated"),
    (("datasets", 3, "eval_cfg", "evaluator"), "multi_eval", True, "translated"),
    (("datasets", 3, "eval_cfg", "evaluator"), "pack_all_predictions", True, "translated"),
    (("infer",), "partitioner", {"type": "opencompass.partitioners.NaivePartitioner"}, "note"),
    (("infer",), "runner", {"type": "opencompass.runners.SlurmRunner"}, "note"),
    *((("infer", "runner"), key, 9, "note") for key in ("max_num_workers", "max_workers_per_gpu", "retry", "debug")),
    *((("infer", "runner", "task"), key, 9, "note") for key in ("type", "dump_details", "cal_extract_rate")),
    (("infer", "partitioner"), "num_worker", 2, "translated"),
    (("infer", "partitioner"), "num_split", 2, "translated"),
    (("infer", "partitioner"), "min_task_size", 2, "translated"),
    (("infer", "partitioner"), "strategy", "split", "translated"),
    (("infer", "partitioner"), "dataset_size_path", "x.json", "note"),
    (("infer", "partitioner"), "out_dir", "x", "note"),
    (("infer", "partitioner"), "keep_keys", ["x"], "note"),
    (("infer", "partitioner"), "force_rebuild", True, "note"),
    (("eval",), "given_pred", [{"abbr": "a", "path": "b"}], "note"),
    (("eval", "partitioner"), "models", [LOCAL], "note"),
    (("eval", "partitioner"), "n", 2, "note"),
    (("eval", "runner"), "max_num_workers", 2, "note"),
    (("models", 0, "pred_postprocessor"), "think_end_token", "</t>", "translated"),
    (("models", 0, "run_cfg"), "num_gpus", 3, "translated"),
    (("models", 0, "run_cfg"), "num_procs", 3, "note"),
    (("models", 0, "generation_kwargs"), "num_return_sequences", 3, "refused"),  # the other models ask once
    (("models", 1), "request_rate", 3.0, "translated"),
    (("models", 1), "pred_postprocessor", {"type": "opencompass.datasets.gsm8k_postprocess"}, "note"),
    *((("models", 1, "generation_kwargs"), key, 9, "note") for key in ("do_sample", "logprobs", "max_tokens", "n")),
    *((("models", 1, "generation_kwargs"), key, 9, "translated") for key in ("stop", "temperature", "top_p", "seed")),
    *((("models", 1, "traffic_cfg"), key, 9, "translated") for key in ("burstiness", "ramp_up_start_rps")),
    *((("models", 2, "gen_config"), key, 9, "translated") for key in ("do_sample", "repetition_penalty", "stop_words")),
    (("models", 2, "gen_config"), "max_new_tokens", 9, "note"),
    (("summarizer",), "attr", "performance", "note"),
    (("summarizer",), "calculator", {"type": "ais_bench.calculators.DefaultPerfMetricCalculator"}, "translated"),
    (("summarizer",), "dataset_abbrs", ["judged"], "translated"),
    (("summarizer",), "dataset_abbrs_list", [{"name": "x", "dataset_abbrs": ["judged"]}], "note"),
    (("summarizer",), "metric_types", ["accuracy"], "note"),
    (("summarizer",), "prompt_db", "x", "note"),
    (("summarizer",), "summary_groups", [{"name": "all", "subsets": ["judged"]}], "translated"),
    (("summarizer",), "type", "opencompass.summarizers.AlpacaSummarizer", "note"),
    *((("summarizer", "summary_groups", 0), key, True, "translated") for key in ("std", "sum", "harmonic_mean")),
    (("summarizer", "summary_groups", 0), "metric", "accuracy", "translated"),
    (("summarizer", "summary_groups", 0), "weights", {"judged": 2}, "translated"),
]
"""Place of a dict in `CONFIG`, key, a value that is not its default, and what becomes of it."""


@pytest.fixture(autouse=True)
def _no_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The outcome is the same with the peers' packages and without them."""
    monkeypatch.setenv("AISPROMPT_PEER_PATH", "")


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "path"), [(kind, path) for kind, parts in KEYS.items() for path in parts])
def test_arguments_of_their_classes(kind: str, path: str) -> None:
    expected = KEYS[kind][path]
    values, place = config_with(kind, {"type": path})
    assert {key: outcome(values, place, key, value_of(key), kind) for key in expected} == expected
    assert "lost" not in expected.values()


@pytest.mark.thorough
@pytest.mark.parametrize(("place", "key", "value", "expected"), SECTIONS)
def test_keys_of_their_configs(place: tuple[Any, ...], key: str, value: Any, expected: str) -> None:
    assert outcome(CONFIG, place, key, value) == expected


def dicts(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of each dict in a value."""
    if isinstance(value, Mapping):
        yield place
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        yield from dicts(one, (*place, key))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "place", [place for place in dicts(CONFIG) if place], ids=lambda place: ".".join(map(str, place))
)
def test_a_key_that_nobody_knows_is_not_dropped_silently(place: tuple[Any, ...]) -> None:
    changed = deepcopy(CONFIG)
    dict_at(changed, place)["unheard_of"] = "quite_unheard_of"
    try:
        found, notes = translate(changed)
    except ConfigFaults as faults:
        found, notes = {"faults": faults.lines()}, ()
    is_kept = "unheard" in repr(found)  # then `check` refuses it, or it is sent to the server
    assert is_kept or any(names(note, place, "unheard_of") for note in notes)
