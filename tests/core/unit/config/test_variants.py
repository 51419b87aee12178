"""Variants of models and datasets: `prompts` of a dataset and sweeps, written out before a config is parsed."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.config import LoadedConfig, parse_run, read_sweep, with_variants
from ais_prompt.errors import ConfigError, ConfigFaults
from ais_prompt.types import RunSpec

EFFORT = "models.*.generation_kwargs.reasoning_effort"
SHOTS = "datasets.*.infer_cfg.retriever.ice_num"
TURNS = [{"role": "HUMAN", "prompt": "{q}"}, {"role": "BOT", "prompt": "{a}"}]
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
values = st.lists(plain, min_size=1, max_size=4, unique_by=repr)


def config(**changes: Any) -> LoadedConfig:
    template = {"type": "PromptTemplate", "template": {"begin": "</E>", "round": TURNS}, "ice_token": "</E>"}
    dataset = {
        "abbr": "d",
        "type": "LocalDataset",
        "path": "d.csv",
        "reader_cfg": {"input_columns": ["q"], "output_column": "a"},
        "infer_cfg": {
            "ice_template": {"type": "PromptTemplate", "template": {"round": TURNS}},
            "prompt_template": template,
            "retriever": {"type": "FixKRetriever", "fix_id_list": [0, 1]},
            "inferencer": {"type": "GenInferencer"},
        },
        **changes.pop("dataset", {}),
    }
    models = [{"type": "OpenAIChatModel", "abbr": name, "model": name} for name in ("m", "n")]
    return LoadedConfig({"models": models, "datasets": [dataset], **changes}, "eval")


def spec(loaded: LoadedConfig, *sweeps: str, zipped: bool = False) -> RunSpec:
    return parse_run(with_variants(loaded, sweeps, zipped=zipped))


def names(found: RunSpec) -> list[str]:
    return [task.name for task in found.tasks]


def prompt_of(prompt: Any, **dataset: Any) -> dict[str, Any]:
    made = with_variants(config(dataset={"prompts": {"p": prompt}, **dataset}))
    found: dict[str, Any] = made.values["datasets"][0]["infer_cfg"]
    return found


def test_a_config_without_variants_stays_the_same() -> None:
    loaded = config()
    assert with_variants(loaded) is loaded


def test_variants_are_values() -> None:
    found = spec(config(dataset={"prompts": {"short": "{q}!", "own": None}}), f"{EFFORT}=low,high", f"{SHOTS}=0,2")
    assert len(found.tasks) == len(set(names(found))) == 2 * 2 * 2 * 2
    assert {(task.model.base, task.dataset.base) for task in found.tasks} == {("m", "d"), ("n", "d")}
    assert [task.variant for task in found.tasks][:3] == [
        {"prompt": "short", "ice_num": 0, "reasoning_effort": "low"},
        {"prompt": "short", "ice_num": 2, "reasoning_effort": "low"},
        {"prompt": "own", "ice_num": 0, "reasoning_effort": "low"},
    ]
    assert names(found)[0] == "m+reasoning_effort=low/d+short+ice_num=0"
    # The record of a run is its config: read again, it means the same.
    again = parse_run(with_variants(LoadedConfig(dict(found.resolved), "eval")))
    assert [task.variant for task in again.tasks] == [task.variant for task in found.tasks]


def test_options_with_one_last_name_are_told_apart() -> None:
    found = spec(config(), "datasets.0.infer_cfg.retriever.x=1", "datasets.0.infer_cfg.inferencer.x=2")
    assert found.tasks[0].variant == {"datasets.infer_cfg.retriever.x": 1, "datasets.infer_cfg.inferencer.x": 2}


def test_zipped_sweeps_go_together() -> None:
    found = spec(config(), f"{EFFORT}=low,high", f"{SHOTS}=0,2", zipped=True)
    points = [(task.variant["reasoning_effort"], task.variant["ice_num"]) for task in found.tasks]
    assert points == [("low", 0), ("high", 2)] * 2
    of_models = spec(config(), f"{EFFORT}=low,high", "models.0.max_out_len=8,16", zipped=True)
    assert names(of_models) == [
        "m+reasoning_effort=low+max_out_len=8/d",
        "m+reasoning_effort=high+max_out_len=16/d",
        "n+reasoning_effort=low/d",
        "n+reasoning_effort=high/d",
    ]


def test_combinations_and_summary_name_variants() -> None:
    groups = [{"name": "all", "subsets": ["d", ["e", "accuracy"]], "weights": {"d": 1, "e": 2}}]
    loaded = config(
        dataset={"prompts": {"a": "A {q}", "b": "B {q}"}},
        model_dataset_combinations=[{"models": ["m"], "datasets": ["d", "e"]}],
        summarizer={"dataset_abbrs": ["all", ["d", "accuracy"]], "summary_groups": groups},
    )
    more = {**loaded.values["datasets"][0], "abbr": "e"}
    more.pop("prompts")
    loaded.values["datasets"].append(more)
    found = spec(loaded)
    assert names(found) == ["m/d+a", "m/d+b", "m/e"]
    assert [group.name for group in found.summary.groups] == ["all+a", "all+b"]
    assert [entry.key for entry in found.summary.groups[1].subsets] == ["d+b@", "e@accuracy"]
    assert found.summary.groups[1].weights == {"d+b": 1, "e": 2}
    assert [entry.key for entry in found.summary.entries] == ["all+a@", "all+b@", "d+a@accuracy", "d+b@accuracy"]


@given(st.lists(values, min_size=1, max_size=3), st.booleans())
def test_points_are_the_product_or_go_together(lists: list[list[Any]], zipped: bool) -> None:
    if zipped:
        lists = [one[: min(map(len, lists))] for one in lists]
    sweeps = [f"models.0.k{number}={','.join(map(repr, one))}" for number, one in enumerate(lists)]
    made = with_variants(config(), sweeps, zipped=zipped).values["models"]
    points = list(zip(*lists, strict=True)) if zipped else list(product(*lists))
    assert [tuple(one[f"k{number}"] for number in range(len(lists))) for one in made[:-1]] == points
    assert len({one["abbr"] for one in made}) == len(points) + 1
    assert made[-1] == config().values["models"][1]


@given(values, st.data())
def test_a_value_more_leaves_the_others_as_they_are(all_values: list[Any], data: st.DataObject) -> None:
    def items(some: list[Any]) -> dict[str, Any]:
        found = with_variants(config(), [f"models.0.k={','.join(map(repr, some))}"]).values["models"]
        return {one["abbr"]: one for one in found}

    some = data.draw(st.permutations(all_values))[: data.draw(st.integers(1, len(all_values)))]
    assert items(some).items() <= items(all_values).items()


@given(values)
def test_values_are_read_as_they_are_written(written: list[Any]) -> None:
    assert read_sweep(f"models.0.a={','.join(map(repr, written))}").values == tuple(written)


def test_plain_texts_need_no_quotes() -> None:
    found = read_sweep("models[0].a=low, it's high,[1, 2],{'a': 'b,c'},0.5")
    assert found.values == ("low", "it's high", [1, 2], {"a": "b,c"}, 0.5)


def test_a_text_takes_the_place_of_the_question() -> None:
    found = prompt_of("Think: {q}")
    assert [turn["prompt"] for turn in found["prompt_template"]["template"]["round"]] == ["Think: {q}", "{a}"]
    assert found["ice_template"]["template"]["round"][0]["prompt"] == "Think: {q}"
    assert found["prompt_template"]["template"]["begin"] == "</E>"
    text = {"prompt_template": {"type": "PromptTemplate", "template": "{q}"}, "inferencer": {"type": "GenInferencer"}}
    assert prompt_of("Think: {q}", infer_cfg=text)["prompt_template"]["template"] == "Think: {q}"
    raw = {"prompt_template": {"type": "RawPromptTemplate", "messages": [{"role": "user", "content": "{q}"}]}}
    assert prompt_of({"text": "T {q}", "system": "S"}, infer_cfg=raw)["prompt_template"]["messages"] == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "T {q}"},
    ]


def test_a_dict_changes_what_it_names() -> None:
    system = prompt_of({"system": "You count."})["prompt_template"]["template"]
    assert system["begin"] == [{"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "You count."}, "</E>"]
    assert prompt_of({"few_shot": 1})["retriever"]["fix_id_list"] == [0]
    assert prompt_of({"few_shot": 0})["retriever"] == {"type": "ZeroRetriever"}
    assert prompt_of({"template": "A {q}"})["prompt_template"]["template"] == "A {q}"
    assert prompt_of({"round": TURNS})["prompt_template"]["template"] == {"round": TURNS}
    assert prompt_of({"retriever": {"type": "X"}})["retriever"] == {"type": "X"}


def test_what_cannot_be_varied_is_a_fault_with_its_place() -> None:
    cases = {
        "models.0": "this is no sweep",
        "models.0=1,2": "this is no sweep",
        "models.0.a=": "a value is empty",
        "models.0.a=1,,2": "a value is empty",
        "models.0.a=1,1": "a value is there twice",
        "work_dir.x.y=1,2": "a sweep is about models or datasets",
        "models.7.a=1,2": "models has 2 items",
        "datasets.d.infer_cfg.retriver.a=1,2": "there is no",
    }
    for sweep, what in cases.items():
        with pytest.raises(ConfigError, match=what) as error:
            with_variants(config(), [sweep])
        assert error.value.where.startswith("--sweep")
    with pytest.raises(ConfigError, match="the sweeps have 1 and 2 values"):
        with_variants(config(), [f"{EFFORT}=low", f"{SHOTS}=1,2"], zipped=True)
    with pytest.raises(ConfigError, match="two sweeps of one option"):
        with_variants(config(), [f"{EFFORT}=low", f"{EFFORT}=high"])
    with pytest.raises(ConfigFaults, match="unknown key 'sistem'"):
        prompt_of({"sistem": "x"})
    with pytest.raises(ConfigError, match="no turn of the user"):
        labels = {"prompt_template": {"type": "PromptTemplate", "template": {"A": "{q} a", "B": "{q} b"}}}
        prompt_of("{q}?", infer_cfg=labels)
