"""A config of a peer with anything in any place is translated, or refused with a fault: never a bug of ours."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import AisPromptError
from ais_prompt.extensions.peers.translate import translate

ODD = st.recursive(
    st.sampled_from([None, 1, True, 0.5, "", "x", "opencompass", "opencompass.", "ais_bench..x", "gsm8k", b"x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "abbr", "name", 1]), inner),
    max_leaves=4,
)
OPENICL = "opencompass.openicl"
CONFIG: dict[str, Any] = {
    "models": [
        {"type": "opencompass.models.OpenAI", "path": "m", "abbr": "m", "meta_template": {"round": [{"role": "BOT"}]}}
    ],
    "datasets": [
        {
            "type": "opencompass.datasets.XDataset",
            "abbr": "x",
            "path": "x",
            "reader_cfg": {"input_columns": ["q"], "output_column": "a"},
            "infer_cfg": {
                "prompt_template": {
                    "type": f"{OPENICL}.icl_prompt_template.PromptTemplate",
                    "template": {"begin": ["x"], "round": [{"role": "SYSTEM"}, {"role": "HUMAN"}]},
                },
                "retriever": {"type": f"{OPENICL}.icl_retriever.TopkRetriever"},
                "inferencer": {"type": f"{OPENICL}.icl_inferencer.GenInferencer", "batch_size": 1},
            },
            "eval_cfg": {
                "evaluator": {
                    "type": "opencompass.evaluator.CascadeEvaluator",
                    "rule_evaluator": {
                        "type": f"{OPENICL}.icl_evaluator.AccEvaluator",
                        "pred_postprocessor": {"type": "gsm8k"},
                    },
                    "llm_evaluator": {
                        "type": "opencompass.evaluator.GenericLLMEvaluator",
                        "judge_cfg": {"type": "opencompass.models.OpenAISDK", "path": "j"},
                        "prompt_template": {"type": f"{OPENICL}.icl_prompt_template.PromptTemplate", "template": "{x}"},
                        "dict_postprocessor": {"type": "x"},
                    },
                },
                "pred_postprocessor": {"type": "opencompass.utils.text_postprocessors.first_option_postprocess"},
            },
        },
        {"path": "mine.jsonl"},
    ],
    "summarizer": {
        "type": "opencompass.summarizers.DefaultSummarizer",
        "dataset_abbrs": ["x", ["x", "accuracy"]],
        "summary_groups": [{"name": "g", "subsets": ["x"], "weights": {"x": 1}, "transforms": {"x": "x"}}],
    },
    "infer": {"runner": {"type": "x"}},
}


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every container and key below a value."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in list(keys) for place in ((value, key), *places(value[key]))]


@given(st.integers(0), ODD, st.booleans())
def test_anything_in_any_place(number: int, odd: Any, scores: bool) -> None:
    values = deepcopy(CONFIG)
    found = places(values)
    container, key = found[number % len(found)]
    container[key] = odd
    with suppress(AisPromptError):
        translate(values, peer_scores=scores, foreign_summary=scores)
