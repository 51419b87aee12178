"""What `view-prompt` shows of a request is what the model sends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ais_prompt
from ais_prompt.preview import request_line
from tests.support.servers import MockServer

TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("add", "divide")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def config(model: dict[str, Any], template: Any = "{question}", **inferencer: Any) -> dict[str, Any]:
    return {
        "models": [model],
        "datasets": [
            {
                "abbr": "sums",
                "rows": [{"question": "1+1", "answer": "2"}],
                "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
                "infer_cfg": {
                    "prompt_template": {"type": "PromptTemplate", "template": template},
                    "inferencer": {"type": "GenInferencer", "max_out_len": 7, **inferencer},
                },
            }
        ],
    }


@pytest.mark.parametrize("kind", ["OpenAIChatModel", "OpenAICompletionModel", "OpenAIResponsesModel", "AnthropicModel"])
def test_the_options_of_a_served_model_are_those_of_its_body(server: MockServer, kind: str) -> None:
    human = {"role": "HUMAN", "prompt": "{question}"}
    told = {"begin": [{"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "Be brief."}], "round": [human]}
    model = {"type": kind, "abbr": "m", "model": "m", "base_url": server.base_url, "generation_kwargs": {"top_k": 5}}
    made = config(model, "{question}" if kind == "OpenAICompletionModel" else told)
    [view] = ais_prompt.render_prompts(made)
    ais_prompt.run(made, quiet=True, report=False)
    [asked] = server.requests()
    url = view.request["url"]
    options = {name: value for name, value in view.request.items() if name != "url"}
    assert url == f"{server.base_url.removesuffix('/v1')}{asked['path']}"
    assert options == {name: asked["body"][name] for name in options}
    assert asked["body"].keys() - options.keys() <= {"messages", "prompt", "input", "instructions", "system"}
    assert request_line(view.request).startswith(f"POST {url} · model='m'")


def test_tools_are_named() -> None:
    line = request_line({"url": "http://127.0.0.1:9/v1/chat/completions", "tools": TOOLS, "temperature": 0.5})
    assert line == "POST http://127.0.0.1:9/v1/chat/completions · tools=add, divide · temperature=0.5"


def test_other_models_have_their_decoding() -> None:
    [view] = ais_prompt.render_prompts(config({"type": "ScriptedModel"}, stopping_criteria=["."]))
    assert request_line(view.request) == "max_out_len=7 · temperature=0.0 · stop=('.',)"


@pytest.mark.torch
def test_a_local_model_has_the_variables_of_its_chat_template() -> None:
    model = {
        "type": "HuggingFaceChatModel",
        "path": "data/demo_model",
        "chat_template_kwargs": {"enable_thinking": False},
    }
    [view] = ais_prompt.render_prompts(config(model))
    assert (
        request_line(view.request)
        == "max_out_len=7 · temperature=0.0 · chat_template_kwargs={'enable_thinking': False}"
    )


def test_log_likelihoods_are_told() -> None:
    labels = {"A": "{question} A", "B": "{question} B"}
    made = config({"type": "ScriptedModel", "prompt_style": "text"}, labels)
    made["datasets"][0]["infer_cfg"]["inferencer"] = {"type": "PPLInferencer"}
    assert {request_line(view.request) for view in ais_prompt.render_prompts(made)} == {"asks='log-likelihoods'"}
