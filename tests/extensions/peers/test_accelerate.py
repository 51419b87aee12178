"""``-a``: models of transformers become models of a server that is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.peers.model import Accelerator, accelerated

CHAT = {"type": "HuggingFaceChatModel", "path": "owner/model"}


def served(engine: Accelerator = "vllm", **options: Any) -> dict[str, Any]:
    [model], notes = accelerated([{**CHAT, **options}], engine, None)
    assert notes == []
    assert isinstance(model, dict)
    return model


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({}, {"temperature": 0.0}),
        ({"do_sample": False, "temperature": 0.7}, {"temperature": 0.0}),
        ({"do_sample": True}, {"temperature": 1.0}),
        ({"temperature": 0.6, "top_p": 0.9, "top_k": None}, {"temperature": 0.6, "top_p": 0.9}),
        ({"min_new_tokens": 2, "eos_token_id": 7}, {"temperature": 0.0, "min_tokens": 2, "stop_token_ids": [7]}),
        ({"eos_token_id": [7, 8]}, {"temperature": 0.0, "stop_token_ids": [7, 8]}),
    ],
)
@pytest.mark.parametrize("engine", ["vllm", "lmdeploy"])
def test_a_server_samples_as_transformers_would(
    engine: Accelerator, options: dict[str, Any], sent: dict[str, Any]
) -> None:
    assert served(engine, generation_kwargs=options)["generation_kwargs"] == sent


def test_options_of_loading_become_flags_of_the_engine() -> None:
    loading = {"torch_dtype": "torch.float16", "device_map": "auto", "gpu_memory_utilization": 0.8}
    model = served(model_kwargs=loading, trust_remote_code=True, max_seq_len=4096, batch_size=32)
    assert (model["type"], model["model"], model["tokenizer_path"]) == ("OpenAIChatModel", "owner/model", "owner/model")
    assert model["max_concurrency"] == 32
    flags = " ".join(model["server"]["args"])
    assert flags == "--trust-remote-code --dtype float16 --gpu-memory-utilization 0.8 --max-model-len 4096"
    assert not {"path", "batch_size", "model_kwargs", "trust_remote_code"} & model.keys()


def test_code_of_a_model_is_not_trusted_unless_the_config_says_so() -> None:
    assert served()["server"] == {"preset": "vllm", "args": []}


def test_lmdeploy_gets_its_own_flags() -> None:
    model = served("lmdeploy", type="HuggingFaceBaseModel", max_seq_len=2048, run_cfg={"num_gpus": 2})
    assert model["type"] == "OpenAICompletionModel"
    command = " ".join(model["server"]["command"])
    assert command.startswith("lmdeploy serve api_server {model} ")
    assert command.endswith("--tp {num_gpus} --session-len 2048")
    assert model["run_cfg"] == {"num_gpus": 2}


def test_grouped_options_are_read_too() -> None:
    model = served(loading={"model_kwargs": {"dtype": "bfloat16"}}, batching={"batch_size": 4})
    assert model["server"]["args"] == ["--dtype", "bfloat16"]
    assert model["max_concurrency"] == 4


def test_a_folder_beside_the_config_is_named_by_its_whole_path(tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    [model], _ = accelerated([{**CHAT, "path": "weights"}], "vllm", tmp_path)
    assert model["model"] == str(tmp_path / "weights")


def test_what_no_server_has_is_noted() -> None:
    _, [note] = accelerated([{**CHAT, "tokenizer_kwargs": {"use_fast": False}}], "vllm", None)
    assert (note.what, note.where) == ("-a vllm: 'tokenizer_kwargs' is not used", "models[0].tokenizer_kwargs")


def test_other_models_stay_and_a_config_of_others_alone_is_an_error() -> None:
    scripted = {"type": "ScriptedModel"}
    [first, _], _ = accelerated([scripted, CHAT], "vllm", None)
    assert first is scripted
    with pytest.raises(ConfigError, match="there is none"):
        accelerated([scripted, "broken"], "vllm", None)
