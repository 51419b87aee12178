"""What the models of OpenCompass and AISBench become."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ais_prompt.config import LoadedConfig, parse_run
from ais_prompt.extensions.peers.translate import translate
from ais_prompt.models import HuggingFaceBaseModel, OpenAIChatModel, OpenAICompletionModel
from ais_prompt.plan import build_model
from ais_prompt.prompts import ApiFormat, PromptBuilder, PromptTemplate, merge_neighbours, resolve_tokens
from ais_prompt.types import Sample

DATASET: dict[str, Any] = {
    "path": "x",
    "reader_cfg": {"input_columns": ["q"], "output_column": None},
    "infer_cfg": {
        "prompt_template": {"type": "PromptTemplate", "template": "{q}"},
        "inferencer": {"type": "GenInferencer"},
    },
}
QUESTION = Sample("0", 0, {"q": "1+1?", "a": "2"}, "2")
OPENCOMPASS, AISBENCH = "opencompass.models", "ais_bench.benchmark.models"


def translated(name: str, package: str = OPENCOMPASS, **arguments: Any) -> tuple[dict[str, Any], list[str]]:
    """The dict of a model after translation, and what the notes say."""
    values, notes = translate({"models": [{"type": f"{package}.{name}", "abbr": "m", **arguments}]})
    return values["models"][0], [note.what for note in notes]


def built(name: str, package: str = OPENCOMPASS, **arguments: Any) -> Any:
    """The model itself."""
    values, _ = translated(name, package, **arguments)
    spec = parse_run(LoadedConfig({"models": [values], "datasets": [DATASET]}, "x"))
    return build_model(spec.models[0])


def test_a_local_model_keeps_its_arguments() -> None:
    model = built(
        "HuggingFaceCausalLM",
        path="some/model",
        tokenizer_path="some/tokenizer",
        model_kwargs={"device_map": "auto"},
        max_seq_len=2048,
        max_out_len=100,
        batch_size=8,
        batch_padding=False,
        end_str="<eoa>",
        min_out_len=3,
        run_cfg={"num_gpus": 1, "num_procs": 1},
    )
    assert isinstance(model, HuggingFaceBaseModel)
    assert (model.path, model.tokenizer_path, model.max_seq_len, model.batch_size) == (
        *("some/model", "some/tokenizer"),
        *(2048, 8),
    )
    assert model.sampling.stop == ["<eoa>"]
    assert model.sampling.extra == {"min_new_tokens": 3}


def test_an_adapter_of_weights_is_not_dropped() -> None:
    with pytest.raises(Exception, match="no argument 'peft_path'"):
        built("HuggingFaceBaseModel", path="some/model", peft_path="some/lora")


CHAT_CLASSES = ("HuggingFacewithChatTemplate", "VLLMwithChatTemplate", "TurboMindModelwithChatTemplate")
ROUND: dict[str, Any] = {"round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "generate": True}]}


def messages(name: str, package: str, template: dict[str, Any], **arguments: Any) -> list[tuple[str, str]]:
    """The role and text of each message that a model is sent."""
    values, _ = translated(name, package, path="m", **arguments)
    spec = parse_run(LoadedConfig({"models": [values], "datasets": [DATASET]}, "x")).models[0]
    prompt = PromptBuilder(None, PromptTemplate(template), output_column="a").generation(QUESTION, [])
    assert not isinstance(prompt, str)
    formatted = ApiFormat(resolve_tokens(spec.meta_template) if spec.meta_template else None)
    return [(one.role, str(one.content)) for one in merge_neighbours(formatted.render(prompt, "gen"))]


@pytest.mark.parametrize("name", CHAT_CLASSES)
def test_chat_templates_of_opencompass_end_user_turns_with_a_newline(name: str) -> None:
    turns = [{"role": "HUMAN", "prompt": "Q: {q}"}, {"role": "BOT", "prompt": "A: {a}"}]
    assert messages(name, OPENCOMPASS, {"round": turns}) == [("user", "Q: 1+1?\n")]
    begin = [{"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "Be short."}]
    assert messages(name, OPENCOMPASS, {"begin": begin, "round": turns}) == [("user", "Be short.\nQ: 1+1?\n")]
    in_round = {"round": [{"role": "SYSTEM", "prompt": "Be short."}, *turns]}
    assert messages(name, OPENCOMPASS, in_round) == [("user", "\nBe short.\nQ: 1+1?\n")]
    assert messages(name, OPENCOMPASS, {"round": turns}, meta_template=ROUND) == [("user", "Q: 1+1?")]


def test_chat_templates_of_aisbench_and_ours_add_nothing() -> None:
    for package in (AISBENCH, OPENCOMPASS):
        name = "HuggingFacewithChatTemplate" if package == AISBENCH else "HuggingFaceCausalLM"
        assert "meta_template" not in translated(name, package, path="m")[0]


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("https://api.example.org/v1/chat/completions", ("https://api.example.org/v1",)),
        ("https://api.example.org/v1", ("https://api.example.org/v1",)),
        (
            ["http://a.example/v1/", "http://b.example/v1/chat/completions/"],
            ("http://a.example/v1/", "http://b.example/v1"),
        ),
        (["http://a.example/v1"], ("http://a.example/v1",)),
    ],
)
def test_the_address_of_an_api(base: Any, expected: tuple[str, ...]) -> None:
    assert built("OpenAISDK", path="m", key="ENV", openai_api_base=base).base_urls == expected


def test_options_of_an_api() -> None:
    model = built(
        "OpenAISDK",
        path="some-model",
        key="ENV",
        openai_api_base="https://api.example.org/v1",
        batch_size=8,
        query_per_second=2,
        max_completion_tokens=99,
        temperature=0.6,
        openai_extra_kwargs={"top_p": 0.95, "max_tokens": 7},
        extra_body={"chat_template_kwargs": {"enable_thinking": True}},
        retry=10,
        verbose=True,
    )
    assert isinstance(model, OpenAIChatModel)
    assert (model.model, model.api_key, model.max_concurrency, model.max_out_len) == (
        *("some-model", "OPENAI_API_KEY"),
        *(8, 99),
    )
    assert (model.sampling.temperature, model.sampling.top_p) == (0.6, 0.95)
    assert model.sampling.extra == {"chat_template_kwargs": {"enable_thinking": True}}
    assert model.wire.max_tokens_field == "max_completion_tokens"
    assert (model.limits.request_rate, model.retry.retries) == (2, 10)


def test_the_address_of_the_command_line_comes_before_that_of_the_config() -> None:
    model = built("VLLMCustomAPIChat", AISBENCH, host_ip="h", host_port=1, base_url="http://127.0.0.1:9/v1")
    assert model.base_urls == ("http://127.0.0.1:9/v1",)


def test_a_schedule_by_timestamps_and_a_ramp_are_kept_for_loads() -> None:
    ramp = {"ramp_up_strategy": "linear", "ramp_up_start_rps": 1, "ramp_up_end_rps": 5}
    model = built("VLLMCustomAPIChat", AISBENCH, use_timestamp=True, traffic_cfg=ramp)
    assert (model.limits.use_timestamp, model.limits.ramp_up_end_rps) == (True, 5)


@pytest.mark.parametrize(
    ("name", "package", "options", "noted"),
    [
        ("HuggingFaceCausalLM", OPENCOMPASS, {}, True),
        ("HuggingFaceCausalLM", OPENCOMPASS, {"torch_dtype": "torch.float"}, False),
        ("HuggingFacewithChatTemplate", OPENCOMPASS, {}, False),
        ("HuggingFacewithChatTemplate", AISBENCH, {"device_map": "auto"}, True),
    ],
)
def test_another_precision_is_a_note(name: str, package: str, options: dict[str, str], noted: bool) -> None:
    _, notes = translated(name, package, path="m", model_kwargs=options)
    assert [note for note in notes if "generation_config" in note] == []  # both decode greedily without `do_sample`
    assert any("float16" in note for note in notes) == noted


def test_max_workers_is_the_number_of_requests_in_flight() -> None:
    assert built("OpenAISDK", path="m", key="ENV", batch_size=8, max_workers=64).max_concurrency == 64


@pytest.mark.parametrize("key", ["sk-a$b", "EMPTY", "none"])
def test_a_key_in_a_config_becomes_a_header(key: str) -> None:
    model = built("OpenAISDK", path="m", key=key, openai_api_base="https://api.example.org/v1")
    assert model.api_key is None
    assert model.headers == {"Authorization": f"Bearer {key}".replace("$", "$$")}


def test_a_variable_that_is_set_may_be_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    assert built("OpenAISDK", path="m", key="TOKEN").api_key == "TOKEN"


@pytest.mark.parametrize(
    ("key", "variable"),
    [("ENV", "OPENAI_API_KEY"), (["ENV"], "OPENAI_API_KEY"), ("MY_KEY", "MY_KEY"), ("", "OPENAI_API_KEY")],
)
def test_the_variable_of_a_key(key: Any, variable: str) -> None:
    assert built("OpenAI", path="m", key=key).api_key == variable


def test_the_temperature_that_the_peer_has_by_default() -> None:
    assert built("OpenAI", path="m", key="ENV").sampling.temperature == 0.7
    assert built("OpenAI", path="m", key="ENV", temperature=0.2).sampling.temperature == 0.2
    assert built("VLLM", path="m").sampling.temperature == 1.0
    assert built("VLLM", path="m", generation_kwargs={"temperature": 0}).sampling.temperature == 0
    sampling = {"top_k": 40, "temperature": 0.8, "max_new_tokens": 9}
    assert built("TurboMindModel", path="m", gen_config=sampling).sampling.temperature == 0
    assert built("TurboMindModel", path="m", gen_config={**sampling, "do_sample": True}).sampling.temperature == 0.8


@pytest.mark.parametrize(
    ("arguments", "address"),
    [
        ({}, "http://localhost:8080/v1"),
        ({"host_ip": "10.0.0.7", "host_port": 1025}, "http://10.0.0.7:1025/v1"),
        ({"host_ip": "h", "host_port": 1, "enable_ssl": True}, "https://h:1/v1"),
        ({"url": "https://gate.example/llm/", "host_ip": "h"}, "https://gate.example/llm/v1"),
        ({"url": "gate.example:99"}, "http://gate.example:99/v1"),
        ({"url": "https://gate.example/v1/chat/completions"}, "https://gate.example/v1"),
        ({"url": "https://gate.example/v1/"}, "https://gate.example/v1"),
    ],
)
def test_the_address_of_a_service(arguments: dict[str, Any], address: str) -> None:
    model = built("VLLMCustomAPIChat", AISBENCH, attr="service", path="", model="m", api_key="", **arguments)
    assert isinstance(model, OpenAIChatModel)
    assert (model.address, model.api_key, model.tokenizer_path) == (address, None, None)


@pytest.mark.parametrize("name", ["VLLMCustomAPI", "VLLMCustomAPIChat", "TritonCustomAPI"])
@pytest.mark.parametrize(
    ("path", "kept"),
    [("/nowhere/m", False), ("./weights/m", False), ("a/b/c", False), ("~/nowhere", False), ("owner/name", True)],
)
def test_weights_that_are_on_the_machine_of_the_server_only_name_no_tokenizer(name: str, path: str, kept: bool) -> None:
    model = built(name, AISBENCH, path=path, model="m", api_key="")
    assert model.tokenizer_path == (path if kept else None)
    model.preflight()


def test_options_of_a_service(tmp_path: Path) -> None:
    values, notes = translated(
        "VLLMCustomAPI",
        AISBENCH,
        path=str(tmp_path),
        stream=True,
        request_rate=0,
        batch_size=3,
        trust_remote_code=False,
        generation_kwargs={"temperature": 0.01, "ignore_eos": False},
    )
    assert notes == []
    assert values == {
        "type": "OpenAICompletionModel",
        "abbr": "m",
        "model": "",
        "base_url": "http://localhost:8080/v1",
        "api_key": None,
        "tokenizer_path": str(tmp_path),
        "max_out_len": 4096,
        "timeout": 3600.0,
        "max_concurrency": 3,
        "stream": True,
        "generation_kwargs": {"temperature": 0.01, "ignore_eos": False},
        "think_tags": None,
    }


def test_an_engine_becomes_a_server() -> None:
    model = built(
        "VLLMwithChatTemplate",
        path="some/model",
        model_kwargs={"tensor_parallel_size": 2, "gpu_memory_utilization": 0.5, "enforce_eager": True, "seed": None},
        max_seq_len=4096,
        batch_size=16,
        run_cfg={"num_gpus": 1},
    )
    assert isinstance(model, OpenAIChatModel)
    words = model.server.words(2)
    assert words[:3] == ["vllm", "serve", "some/model"]
    flags = " ".join(words)
    for flag in ("--tensor-parallel-size 2", "--gpu-memory-utilization 0.5", "--enforce-eager", "--max-model-len 4096"):
        assert flag in flags
    assert "--seed" not in flags
    assert model.server.num_gpus == 2


def test_lmdeploy_becomes_a_server() -> None:
    engine = {"tp": 4, "session_len": 2048, "max_batch_size": 16}
    model = built("LmdeployPytorchModel", path="some/model", engine_config=engine, batch_size=16, concurrency=8)
    assert isinstance(model, OpenAICompletionModel)
    command = " ".join(model.server.words(4))
    assert command.startswith("lmdeploy serve api_server some/model --server-name 127.0.0.1 --server-port {port}")
    assert command.endswith("--backend pytorch --tp 4 --session-len 2048 --max-batch-size 16")
    assert model.max_concurrency == 8


@pytest.mark.parametrize(
    ("name", "arguments", "ours", "options"),
    [
        ("VLLM", {"generation_kwargs": {"temperature": 0}, "model_kwargs": {"tensor_parallel_size": 2}}, "Base", {}),
        ("VLLMwithChatTemplate", {"stop_words": ["x"]}, "Chat", {"temperature": 1.0}),
        ("TurboMindModel", {"gen_config": {"top_k": 1, "temperature": 1e-6}, "engine_config": {"tp": 1}}, "Base", {}),
        (
            "TurboMindModelwithChatTemplate",
            {"gen_config": {"do_sample": True, "temperature": 0.6, "max_new_tokens": 9}, "concurrency": 4},
            "Chat",
            {"temperature": 0.6},
        ),
    ],
)
def test_an_engine_in_this_process(name: str, arguments: dict[str, Any], ours: str, options: dict[str, Any]) -> None:
    model = {"type": f"{OPENCOMPASS}.{name}", "path": "some/model", "max_out_len": 9, "batch_size": 4, **arguments}
    values, notes = translate({"models": [model]}, in_process=True)
    [found] = values["models"]
    assert found["type"] == f"HuggingFace{ours}Model"
    assert found.get("generation_kwargs", {}) == options
    assert (found["path"], found["batch_size"], found.get("stop_words")) == (
        "some/model",
        4,
        arguments.get("stop_words"),
    )
    assert any("--hf" in note.what for note in notes)
    spec = parse_run(LoadedConfig({"models": [{**found, "abbr": "m"}], "datasets": [DATASET]}, "x"))
    assert isinstance(build_model(spec.models[0]), HuggingFaceBaseModel)


def test_thoughts_are_cut_as_there_when_an_answer_is_scored() -> None:
    name = "opencompass.utils.text_postprocessors.extract_non_reasoning_content"
    tags = {"think_start_token": "<seed:think>", "think_end_token": "</seed:think>"}
    values, notes = translated("OpenAISDK", path="m", key="ENV", pred_postprocessor={"type": name, **tags})
    assert values["pred_postprocessor"] == {"type": "extract_non_reasoning_content_peer", "open_tag": False, **tags}
    assert values["think_tags"] is None
    assert ["inside of a thought" in note for note in notes] == [True]


def test_thoughts_stay_in_the_answers_without_a_postprocessor() -> None:
    values, notes = translated("OpenAISDK", path="m", key="ENV")
    assert "pred_postprocessor" not in values
    assert values["think_tags"] is None
    assert notes == []


def test_another_postprocessor_of_a_model_is_a_note() -> None:
    patterns = {"ceval-*": {"type": "opencompass.utils.text_postprocessors.last_option_postprocess", "options": "ABCD"}}
    _, notes = translated("Claude", path="m", key="ENV", pred_postprocessor=patterns)
    assert [note for note in notes if "pred_postprocessor" in note]


def test_a_class_without_a_counterpart_is_left_in_place() -> None:
    values, _ = translated("Mixtral", path="m")
    assert values["type"] == "opencompass.models.Mixtral"
