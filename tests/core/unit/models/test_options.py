"""Options of models are values; their flat names mean the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ais_prompt.comparison import DECODING
from ais_prompt.errors import ConfigError
from ais_prompt.models import (
    FLAT_NAMES,
    Batching,
    HuggingFaceBaseModel,
    Limits,
    Loading,
    LocalNames,
    OpenAIChatModel,
    OpenAICompletionModel,
    Retry,
    Sampling,
    ServedNames,
    Wire,
)
from ais_prompt.plan import argument_faults

VALUES = {
    "sampling": Sampling,
    "limits": Limits,
    "wire": Wire,
    "loading": Loading,
    "batching": Batching,
}
NAMES = {OpenAICompletionModel: ServedNames.__annotations__, HuggingFaceBaseModel: LocalNames.__annotations__}
MODELS = list(NAMES)
EQUAL: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"max_out_len": 9}, "sampling", {"max_out_len": 9}),
    ({"stop_words": ["END"]}, "sampling", {"stop": ["END"]}),
    ({"seed": 4}, "sampling", {"seed": 4}),
    (
        {"generation_kwargs": {"temperature": 1, "top_p": 0.5, "seed": 2, "top_k": 5}, "seed": 3},
        "sampling",
        {"temperature": 1, "top_p": 0.5, "seed": 2, "extra": {"top_k": 5}},
    ),
    ({"generation_kwargs": {"temperature": None}}, "sampling", {"temperature": None}),
    ({"chat_template_kwargs": {"date": "x"}}, "sampling", {"chat_template_kwargs": {"date": "x"}}),
    ({"max_concurrency": 3}, "limits", {"max_concurrency": 3}),
    ({"timeout": 7}, "limits", {"timeout": 7}),
    ({"deadline": 80.5}, "limits", {"deadline": 80.5}),
    ({"request_rate": 2.5}, "limits", {"request_rate": 2.5}),
    ({"query_per_second": 2}, "limits", {"request_rate": 2}),
    ({"use_timestamp": True}, "limits", {"use_timestamp": True}),
    ({"request_rate": 4, "query_per_second": 2}, "limits", {"request_rate": 4}),
    ({"traffic_cfg": {"adaptive": True, "seed": 5}}, "limits", {"adaptive": True, "interval_seed": 5}),
    (
        {"traffic_cfg": {"ramp_up_strategy": "linear", "ramp_up_start_rps": 2.0, "ramp_up_seconds": 9.0}},
        "limits",
        {"ramp_up_strategy": "linear", "ramp_up_start_rps": 2.0, "ramp_up_seconds": 9.0},
    ),
    (
        {"traffic_cfg": {"burstiness": 2.0, "tokens_per_minute": 60}},
        "limits",
        {"burstiness": 2.0, "tokens_per_minute": 60},
    ),
    ({"stream": True}, "wire", {"stream": True}),
    ({"max_tokens_field": "max_completion_tokens"}, "wire", {"max_tokens_field": "max_completion_tokens"}),
    ({"logprobs_via": "echo"}, "wire", {"logprobs_via": "echo"}),
    ({"tokenizer_path": "there"}, "loading", {"tokenizer_path": "there"}),
    ({"gguf_file": "x.gguf"}, "loading", {"gguf_file": "x.gguf"}),
    ({"model_kwargs": {"dtype": "float16"}}, "loading", {"model_kwargs": {"dtype": "float16"}}),
    ({"tokenizer_kwargs": {"pad_token": "x"}}, "loading", {"tokenizer_kwargs": {"pad_token": "x"}}),
    ({"trust_remote_code": True}, "loading", {"trust_remote_code": True}),
    ({"batch_size": 2}, "batching", {"batch_size": 2}),
    ({"prefix_cache_tokens": 0}, "batching", {"prefix_cache_tokens": 0}),
]


def classes_with(flat: Mapping[str, Any]) -> list[Any]:
    return [kind for kind, names in NAMES.items() if flat.keys() <= names.keys()]


def test_flat_names_a_dict_and_a_value_mean_the_same() -> None:
    for flat, argument, fields in EQUAL:
        for kind in classes_with(flat):
            value = VALUES[argument](**fields)
            models = [kind("m", **flat), kind("m", **{argument: fields}), kind("m", **{argument: value})]
            assert [repr(model.decoding(None, ["\n"])) for model in models] == [
                repr(models[0].decoding(None, ["\n"]))
            ] * 3
            assert [model.max_out_len for model in models] == [models[0].max_out_len] * 3
            if argument != "sampling":
                assert [getattr(model, argument) for model in models] == [value] * 3
            assert not list(argument_faults(kind, {**named(kind), argument: fields}, "models[0]"))


def named(kind: Any) -> dict[str, Any]:
    return {"path" if kind is HuggingFaceBaseModel else "model": "m"}


def test_each_flat_name_is_tried_above_and_maps_to_a_field() -> None:
    assert {name for flat, _, _ in EQUAL for name in flat} == {*FLAT_NAMES}
    assert {*FLAT_NAMES} == ServedNames.__annotations__.keys() | LocalNames.__annotations__.keys()
    for argument, field in FLAT_NAMES.values():
        assert callable(field) or field in VALUES[argument].__struct_fields__
    assert {name for name, (argument, _) in FLAT_NAMES.items() if argument == "sampling"} == {*DECODING}


def test_the_number_of_retries_is_a_value_or_a_number() -> None:
    for retry in (5, {"retries": 5}, Retry(5)):
        assert OpenAIChatModel("m", retry=retry).retry == Retry(5)


def test_both_forms_at_once_are_refused() -> None:
    for flat, argument, fields in EQUAL:
        for kind in classes_with(flat):
            with pytest.raises(ConfigError, match=f"beside {argument}") as caught:
                kind("m", **flat, **{argument: fields})
            assert caught.value.where in flat
            assert argument in caught.value.fix


@pytest.mark.parametrize("kind", MODELS)
def test_the_check_of_a_config_offers_flat_names_and_values(kind: Any) -> None:
    arguments = [argument for argument in VALUES if argument in {FLAT_NAMES[name][0] for name in NAMES[kind]}]
    for name in [*NAMES[kind], *arguments]:
        misspelled = name[:-1] + "q"
        [fault] = argument_faults(kind, {**named(kind), misspelled: 1}, "models[0]")
        assert fault.fix == f"did you mean {name!r}?"
        [fault] = argument_faults(kind, {**named(kind), name: object()}, "models[0]")
        assert fault.where == f"models[0].{name}"
        if name in NAMES[kind]:
            with pytest.raises(ConfigError, match=misspelled):
                kind("m", **{misspelled: 1})


@pytest.mark.parametrize(
    ("arguments", "where", "words"),
    [
        ({"sampling": {"temprature": 1.0}}, "sampling.temprature", "did you mean 'temperature'"),
        ({"sampling": {"temperature": "hot"}}, "sampling.temperature", "expected `float"),
        ({"sampling": {"max_out_len": "many"}}, "sampling.max_out_len", "max_out_len takes int"),
        ({"sampling": {"stop": ["END", 1]}}, "sampling.stop[1]", "stop takes list of str"),
        ({"sampling": {"stop": "END"}}, "sampling.stop", "expected `array"),
        ({"sampling": {"extra": {"seed": 1}}}, "sampling", "write seed=..."),
        ({"sampling": {"max_out_len": 0}}, "sampling", "max_out_len must be at least 1"),
        ({"limits": {"max_concurrency": 0}}, "limits", "max_concurrency must be at least 1"),
        ({"limits": {"timeout": 0}}, "limits", "timeout must be more than 0"),
        ({"limits": {"ramp_up_strategy": "linea"}}, "limits.ramp_up_strategy", "linea"),
        ({"retry": {"retries": -1}}, "retry", "retries must be at least 0"),
        ({"wire": {"logprobs_via": "mail"}}, "wire.logprobs_via", "mail"),
        ({"wire": 5}, "wire", "5"),
    ],
)
def test_a_wrong_field_is_found_by_the_check_of_a_config(arguments: dict[str, Any], where: str, words: str) -> None:
    [fault] = argument_faults(OpenAIChatModel, {"model": "m", **arguments}, "models[0]")
    assert fault.where == f"models[0].{where}"
    assert words in " ".join(fault.lines())
    assert fault.fix
    with pytest.raises(ConfigError):
        OpenAIChatModel("m", **arguments)


def test_a_text_as_stop_and_taken_options_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"stop=\['END'\]"):
        Sampling(stop="END")
    for kind, name in ((OpenAIChatModel, "max_tokens"), (HuggingFaceBaseModel, "max_new_tokens")):
        with pytest.raises(ConfigError, match=f"must not hold '{name}'.*use max_out_len"):
            kind("m", sampling=Sampling(extra={name: 3}))


def test_a_local_model_samples_where_a_temperature_or_another_option_says_so() -> None:
    assert HuggingFaceBaseModel("m", generation_kwargs={"top_p": 0.5}).decoding(None, ()).extra["do_sample"]
    assert HuggingFaceBaseModel("m", sampling=Sampling(top_p=0.5)).decoding(None, ()).temperature == 0.0
    assert HuggingFaceBaseModel("m", sampling=Sampling(temperature=None, top_p=0.5)).decoding(None, ()).top_p == 0.5
    assert HuggingFaceBaseModel("m").decoding(None, ()) == HuggingFaceBaseModel("m", sampling=Sampling()).decoding(
        None, ()
    )
