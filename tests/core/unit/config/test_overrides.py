"""``--set path=value``: what it changes, and what it says when a path leads nowhere."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ais_prompt.config import apply_overrides
from ais_prompt.errors import ConfigError

CONFIG: dict[str, Any] = {
    "models": [{"abbr": "demo-1.5b", "n": 1, "kwargs": {"a": {"b": 1}}}, {"abbr": "demo", "n": 2}],
    "datasets": ({"abbr": "gsm8k", "reader_cfg": {"test_range": None}},),
    "work_dir": "outputs",
    "helper": 1,
}


def changed(*overrides: str) -> dict[str, Any]:
    return apply_overrides(copy.deepcopy(CONFIG), overrides)


def failure(override: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        changed(override)
    return caught.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("64", 64),
        ("-1.5", -1.5),
        ("None", None),
        ("True", True),
        ("'64'", "64"),
        ("[:10]", "[:10]"),
        ("['a', 1]", ["a", 1]),
        ("{'a': (1,)}", {"a": (1,)}),
        ("plain text", "plain text"),
        ("a=b", "a=b"),
        ("", ""),
        ("{1, 2}", "{1, 2}"),
        ("b'x'", "b'x'"),
        ("[{1}]", "[{1}]"),
        ("[" * 500, "[" * 500),
    ],
)
def test_a_value_is_a_python_literal_or_the_text_itself(text: str, value: Any) -> None:
    assert changed(f"models.0.n={text}")["models"][0]["n"] == value


@pytest.mark.parametrize(
    ("path", "numbers"),
    [
        ("models.0.n", [9, 2]),
        ("models[1].n", [1, 9]),
        ("models.-1.n", [1, 9]),
        ("models.*.n", [9, 9]),
        ("models[*].n", [9, 9]),
        ("models.demo.n", [1, 9]),
        ("models.demo-1.5b.n", [9, 2]),
    ],
)
def test_an_item_is_meant_by_position_abbr_or_star(path: str, numbers: list[int]) -> None:
    assert [model["n"] for model in changed(f"{path}=9")["models"]] == numbers


def test_deep_keys_new_keys_and_tuples() -> None:
    values = changed("models.0.kwargs.a.b=2", "models.0.kwargs.new=[]", "datasets.*.reader_cfg.test_range=[:5]")
    assert values["models"][0]["kwargs"] == {"a": {"b": 2}, "new": []}
    assert values["datasets"][0]["reader_cfg"] == {"test_range": "[:5]"}


def test_later_overrides_see_earlier_ones() -> None:
    assert changed("models.0.x={'y': 1}", "models.0.x.y=2", "models.0.abbr=z", "models.z.n=5")["models"][0] == {
        "abbr": "z",
        "n": 5,
        "kwargs": {"a": {"b": 1}},
        "x": {"y": 2},
    }


def test_a_starred_value_is_not_shared() -> None:
    values = changed("models.*.x=[]")
    values["models"][0]["x"].append(1)
    assert values["models"][1]["x"] == []


def test_numbers_as_keys() -> None:
    assert apply_overrides({"models": [{1: "a"}]}, ["models.0.1=b"]) == {"models": [{1: "b"}]}


def test_a_new_top_level_key_that_is_known() -> None:
    assert changed("run_name=mine")["run_name"] == "mine"


def test_the_given_config_stays_as_it_is() -> None:
    before = copy.deepcopy(CONFIG)
    apply_overrides(CONFIG, ["models.*.n=9", "models.0.kwargs.a=1", "datasets.0.reader_cfg.x=1", "work_dir=x"])
    assert before == CONFIG


@pytest.mark.parametrize(
    ("override", "what", "fix"),
    [
        ("models.0.n", "is not an override", "models.0.max_out_len=64"),
        ("=3", "is not an override", ""),
        ("model.0.n=1", "'model' cannot be set", "'models'"),
        ("zzz=1", "'zzz' cannot be set", "work_dir"),
        ("models.2.n=1", "models has 2 items and none is '2'", "0 to 1"),
        ("models.demo-1.5.n=1", "none is 'demo-1'", "'demo-1.5b'"),
        ("datasets.gms8k.n=1", "none is 'gms8k'", "'gsm8k'"),
        ("models.0.kwarg.x=1", "there is no 'models[0].kwarg'", "'kwargs'"),
        ("models.0.kwargs.b.c=1", "there is no 'models[0].kwargs.b'", ""),
        ("models.0.n.x=1", "models[0].n is 1, which has no 'x'", "{'x': ...}"),
        ("work_dir.x=1", "work_dir is 'outputs'", ""),
    ],
)
def test_a_path_that_leads_nowhere(override: str, what: str, fix: str) -> None:
    error = failure(override)
    assert what in error.what
    assert fix in error.fix
    assert error.where == f"--set {override}"


def test_an_empty_list_has_no_items() -> None:
    with pytest.raises(ConfigError, match="models has 0 items"):
        apply_overrides({"models": []}, ["models.*.n=1"])


def test_an_error_shows_no_secret() -> None:
    assert failure("models.7.api_key=very-secret").where == "--set models.7.api_key=***"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("models.0.generation_kwargs.extra_body.top_k", {"generation_kwargs": {"extra_body": {"top_k": 3}}}),
        ("models.0.sampling.chat_template_kwargs.deep.er", {"sampling": {"chat_template_kwargs": {"deep": {"er": 3}}}}),
        ("models.0.wire.stream", {"wire": {"stream": 3}}),
        ("models.0.price.input", {"price": {"input": 3}}),
        ("models.0.eval_cfg.pred_postprocessor.type", {"eval_cfg": {"pred_postprocessor": {"type": 3}}}),
    ],
)
def test_optional_dicts_are_made_as_deep_as_the_path_goes(path: str, expected: dict[str, Any]) -> None:
    assert apply_overrides({"models": [{}]}, [f"{path}=3"]) == {"models": [expected]}
