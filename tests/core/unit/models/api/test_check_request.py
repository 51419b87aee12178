"""What a server does not take is a fault of the config, before anything is asked."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import PromptError
from ais_prompt.models import AnthropicModel, ApiModel, ChecksRequests, OpenAIChatModel, OpenAIResponsesModel
from ais_prompt.types import ChatMessage, Decoding, LikelihoodQuery, Request
from tests.support.cli import run_cli

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
URL = "http://127.0.0.1:9/v1"
CONFIG = """
models = [dict(type={model!r}, model='m', base_url='http://127.0.0.1:9/v1')]
datasets = [dict(
    abbr='sums', type='LocalDataset', path='sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type={template!r}, {key}={text!r}), inferencer=dict(type={inferencer!r})),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sums.jsonl").write_text(json.dumps({"question": "2+2=?", "answer": "4"}) + "\n")
    (tmp_path / "dot.png").write_bytes(PNG)
    return tmp_path


def check(folder: Path, model: str, inferencer: str, template: str, text: Any) -> tuple[int, str]:
    key = "messages" if template == "RawPromptTemplate" else "template"
    values = {"model": model, "inferencer": inferencer, "template": template, "key": key, "text": text}
    (folder / "eval.py").write_text(CONFIG.format(**values))
    done = run_cli("check", "eval.py", folder=folder)
    return done.returncode, done.stderr


@pytest.mark.parametrize("model", ["OpenAIResponsesModel", "AnthropicModel"])
def test_log_likelihoods_are_a_fault(folder: Path, model: str) -> None:
    labels = {"4": "{question} 4", "6": "{question} 6"}
    code, words = check(folder, model, "PPLInferencer", "PromptTemplate", labels)
    assert code == 2
    assert f"{model} returns no log-likelihoods" in words
    assert "where: datasets[0].infer_cfg" in words
    assert check(folder, "OpenAICompletionModel", "PPLInferencer", "PromptTemplate", labels)[0] == 0


@pytest.mark.parametrize(
    ("model", "part", "code"),
    [
        ("AnthropicModel", {"type": "video_url", "video_url": {"url": "https://h/v.mp4"}}, 2),
        ("OpenAIResponsesModel", {"type": "audio_url", "audio_url": {"url": "https://h/a.wav"}}, 2),
        ("OpenAIChatModel", {"type": "video_url", "video_url": {"url": "https://h/v.mp4"}}, 0),
        ("AnthropicModel", {"type": "image_url", "image_url": {"url": "https://h/i.png"}}, 0),
    ],
)
def test_media_that_the_api_does_not_take_are_a_fault(folder: Path, model: str, part: Any, code: int) -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": "{question}"}, part]}]
    found, words = check(folder, model, "GenInferencer", "RawPromptTemplate", messages)
    assert found == code, words
    if code:
        assert "takes text and images, no part of the type" in words


@pytest.mark.parametrize("kind", [OpenAIResponsesModel, AnthropicModel])
def test_a_local_image_is_put_into_the_body(
    folder: Path, kind: type[ApiModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    content = ({"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {"url": "dot.png"}})
    model = kind("m", URL)
    body = model.endpoint.body("m", Request("s", (ChatMessage("user", content),), Decoding(5)), model.wire)
    text = json.dumps(body)
    assert base64.b64encode(PNG).decode() in text
    assert "image/png" in text
    assert "dot.png" not in text


def test_models_say_what_they_do_not_take() -> None:
    for kind in (OpenAIChatModel, OpenAIResponsesModel, AnthropicModel):
        model = kind("m", URL)
        assert isinstance(model, ChecksRequests)
        model.check_request(Request("s", "Hi", Decoding(5)))
    OpenAIChatModel("m", URL).check_request(Request("s", "Hi", LikelihoodQuery()))
    with pytest.raises(PromptError, match="no role 'tool'"):
        AnthropicModel("m", URL).check_request(Request("s", (ChatMessage("tool", "4"),), Decoding(5)))
