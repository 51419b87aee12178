"""Each key of each section of a config: its values are read, and a wrong one is a fault at its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from ais_prompt.config import PROMPT, ROLE_TEMPLATE, TEMPLATE, TURN, LoadedConfig, all_tables, parse_run
from ais_prompt.errors import ConfigFaults
from ais_prompt.extension import missing_extension

PART: Final = {"type": "A"}
ROLE: Final = {"role": "BOT", "begin": "<", "end": ">", "prompt": "{a}", "generate": True, "api_role": "BOT"}
PRICE: Final = {
    **{"input": 1, "output": 2.5, "currency": "EUR", "per": 1000, "source": "a table"},
    **{"cached_input": 0.5, "cache_write": 1.5, "reasoning": 3, "batch": 0.5},
}
JUDGE: Final = {**PART, "judge_cfg": {**PART, "abbr": "j", "price": PRICE}, "prompt_template": PART}
GROUP: Final = {
    **{"name": "all", "subsets": ["x", ["y", "accuracy"]], "weights": {"x": 1, "y": 2}, "metric": "mean"},
    **{"std": False, "sum": True, "harmonic_mean": False, "transforms": {"x": "x / 2"}},
}
READER: Final = {
    **{"input_columns": "q p", "output_column": "a", "gold_columns": ["b"], "train_split": "t", "test_split": "u"},
    **{"train_range": 3, "test_range": "[:2]", "input_template": "{q}", "media_roots": ["/m"], "allow_missing": True},
    "control": {"type": "blank", "columns": ["q"], "seed": 1},
    "sample": {"size": "±2", "by": "q", "seed": 2},
}
INFER: Final = {"ice_template": PART, "prompt_template": PART, "retriever": PART, "inferencer": PART}
EVAL: Final = {
    "pred_postprocessor": PART,
    "dataset_postprocessor": PART,
    "repeat_evaluator": PART,
    "k": 1,
    "cluster": "c",
}
SCORER: Final = {**PART, "pred_postprocessor": PART, "dataset_postprocessor": PART}
VARIANT: Final = {"of": "x", "prompt": "p", "options": {"n": 2}}
DATASET: Final = {
    **{"type": "A", "abbr": "x", "n": 2, "k": [1, 2], "reader_cfg": READER, "infer_cfg": INFER},
    **{"prompts": {"p": "{q}?"}, "variant": VARIANT},
}
META: Final = {"begin": "b", "round": [ROLE, "\n"], "reserved_roles": [{"role": "S"}], "end": "e", "eos_token_id": 3}
BATCH: Final = {
    **{"rest": "direct", "rounds": 2, "max_requests": 100, "max_bytes": 1000},
    **{"gather": 1.0, "poll": 2.0, "longest_poll": 3.0},
}
WHOLE: Final[dict[str, Any]] = {  # with parts in common: `changed` copies each
    "models": [
        {
            "type": "A",
            "abbr": "m",
            "meta_template": META,
            "price": PRICE,
            "run_cfg": {"num_gpus": 1},
            "variant": VARIANT,
        },
        *(
            []
            if missing_extension("models[i].batch=")
            else [{"type": "A", "abbr": "p", "price": PRICE, "batch": BATCH}]
        ),
        {"type": "A", "abbr": "n", "prompt_template": {"user": ("a", "b")}, "price": PRICE, "pred_postprocessor": PART},
        {"type": "A", "abbr": "o", "meta_template": [{"role": "user", "content": "c"}], "price": PRICE},
    ],
    "datasets": [
        {**DATASET, "eval_cfg": {**EVAL, "evaluator": {**JUDGE, "baseline": {"model": "m", "path": "p"}}}},
        {**DATASET, "abbr": "y", "eval_cfg": {"evaluator": {**JUDGE, "baseline": {"column": "c"}}}},
        {**DATASET, "abbr": "w", "eval_cfg": {"evaluator": {**JUDGE, "baseline": {"models": ["m"], "rounds": 2}}}},
        {**DATASET, "abbr": "z", "eval_cfg": {"evaluator": [SCORER, PART], "primary": "A2"}},
    ],
    "model_dataset_combinations": [{"models": ["m"], "datasets": ["x"]}],
    "summarizer": {
        **{"dataset_abbrs": ["x", ["y", "accuracy"], "all"], "summary_groups": [GROUP], "missing": "fault"},
        **{"type": "A", "attr": "a", "calculator": {}, "prompt_db": "p"},
    },
    "gates": ["accuracy >= 80%"],
    "budget": {"max_requests": 1, "max_tokens_total": 2, "max_cost": 3},
    "track": {"to": "mlflow", "project": "p", "samples": 5, "offline": True, "uri": "file:///tmp/x"},
    "notify": {"to": "$CHAT", "only_failures": True},
    "perf": {
        **{"load": "rate", "open_loop": True, "seed": 1, "time_scale": 2, "users": 3, "think_seconds": 0.5},
        **{"unique": True, "warmups": 0, "pressure_seconds": 3, "stage": "total", "stats": ["Average"], "duration": 9},
        **{"grace": 2, "slo": ["p99 ttft <= 2s"], "spec_decode": True, "probe": True},
    },
    **{"runner": PART, "partitioner": PART, "work_dir": "w", "run_name": "r", "cache": "c", "paths_relative_to": "."},
    "custom_imports": {"imports": ["json"]},
}
"""A config with every key of every section."""
OPEN: Final = ("The config", "A model", "A dataset", "One of several evaluators")
"""Sections whose further keys are helpers or arguments."""
READ_ELSEWHERE: Final = (TEMPLATE, TURN, ROLE_TEMPLATE, PROMPT)
"""Arguments of parts and of models, which the parts check."""
ANYTHING: Final = {
    *("custom_imports", "custom_imports.imports", "models[].prompt_template.user"),
    *("summarizer.attr", "summarizer.calculator", "summarizer.prompt_db", "summarizer.type"),
    *("models[].meta_template.begin", "models[].meta_template.end"),
    *("models[].meta_template.round[].begin", "models[].meta_template.round[].end"),
    *("models[].meta_template.round[].generate", "datasets[].prompts.p"),
    *("models[].variant.options.n", "datasets[].variant.options.n"),
}
"""Keys that take any value, or whose value is checked where it is used."""


def places(values: Any, where: str = "") -> Iterator[str]:
    """The config path of each key, outermost first."""
    items = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    for key, value in items:
        place = f"{where}[{key}]" if isinstance(key, int) else f"{where}.{key}".removeprefix(".")
        if isinstance(key, str):
            yield place
        yield from places(value, place)


def changed(place: str, value: Any) -> dict[str, Any]:
    values = json.loads(json.dumps(WHOLE))
    *steps, last = [int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", place)]
    inside = values
    for step in steps:
        inside = inside[step]
    inside[last] = value
    return values  # type: ignore[no-any-return]


def faults(values: dict[str, Any]) -> list[str]:
    try:
        parse_run(LoadedConfig(values, "eval"))
    except ConfigFaults as error:
        return [fault.where for fault in error.faults]
    return []


def numberless(place: str) -> str:
    return re.sub(r"\[\w*\]", "[]", place)


def test_every_key_is_accepted() -> None:
    here = {key: value for key, value in WHOLE.items() if not missing_extension(f"{key}=")}
    assert not faults(here)
    written = {numberless(place) for place in places(here)}
    tables = [table for table in all_tables() if table not in READ_ELSEWHERE]
    listed = {numberless(f"{table.where}.{name}".removeprefix(".")) for table in tables for name in table.names}
    assert listed - written == set()


@pytest.mark.thorough
def test_a_wrong_value_is_a_fault_at_its_key() -> None:
    silent = set()
    for place in places(WHOLE):
        section = place.rpartition(".")[0]
        if not any(where == section or where.startswith(place) for where in faults(changed(place, [{1: 2}]))):
            silent.add(numberless(place))
    assert silent == ANYTHING


def test_an_unknown_key_is_a_fault_in_its_section() -> None:
    written = {numberless(place.rpartition(".")[0]): place.rpartition(".")[0] for place in places(WHOLE)}
    closed = [table for table in all_tables() if table not in READ_ELSEWHERE and table.title not in OPEN]
    for table in closed:
        section = written[numberless(table.where)]
        [where] = faults(changed(f"{section}.zzz", 1))
        assert where in (section, f"{section}.zzz")
