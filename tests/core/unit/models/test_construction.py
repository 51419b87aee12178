"""Making a model opens no weights, tokenizer, socket or process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.catalog import PARTS

WATCH = """
import json, sys

models, folder = json.loads(sys.argv[1]), sys.argv[2]
from ais_prompt.registry import MODELS

for name in models:
    MODELS.get(name)
seen = []


def watch(event, args):
    if event.startswith(("socket.", "subprocess.", "os.system", "os.posix_spawn", "os.fork", "urllib.")):
        seen.append(event)
    if event in ("open", "os.listdir", "os.scandir") and str(args[0]).startswith(folder):
        seen.append(f"{event} {args[0]}")


sys.addaudithook(watch)
errors = {}
for name, arguments in models.items():
    seen.append(name)
    try:
        MODELS.make(name, arguments).decoding(None, ())
    except Exception as error:
        errors[name] = f"{type(error).__name__}: {error}"
print(json.dumps([seen, errors, "torch" in sys.modules]))
"""
UNREACHABLE = "http://192.0.2.1:9/v1"  # TEST-NET-1 of RFC 5737: no machine has this address
ASKED: dict[str, Any] = {"type": "ScriptedModel", "answers": {"x": "y"}}
GOOD: dict[str, dict[str, Any]] = {
    "AnthropicModel": {"model": "m", "base_url": UNREACHABLE, "api_key": "NO_SUCH_KEY", "tokenizer_path": "FOLDER"},
    "CommandModel": {"command": ["no-such-agent", "{question}"], "model": ASKED},
    "FunctionAgentModel": {"function": "json.loads", "model": ASKED},
    "FunctionModel": {"function": "no_such_module.answer"},
    "HuggingFaceBaseModel": {"path": "FOLDER", "loading": {"tokenizer_path": "FOLDER/tokenizer"}},
    "HuggingFaceChatModel": {"path": "no-owner/no-such-model", "tokenizer_path": "FOLDER", "prefix_cache_tokens": 9},
    "OpenAIChatModel": {"model": "m", "base_url": UNREACHABLE, "api_key": "NO_SUCH_KEY", "tokenizer_path": "FOLDER"},
    "OpenAICompletionModel": {"model": "m", "base_url": UNREACHABLE, "client": "openai", "logprobs_via": "echo"},
    "OpenAIResponsesModel": {"model": "m", "base_url": UNREACHABLE, "client": "openai", "stream": True},
    "ScriptedModel": {"answers": {"x": "y"}},
    "ServerAgentModel": {"url": UNREACHABLE, "model": ASKED},
    "TritonModel": {"model": "m", "base_url": UNREACHABLE, "max_tokens_field": "max_new_tokens"},
}
WRONG: dict[str, dict[str, Any]] = {
    "AnthropicModel": {"model": "m", "base_url": UNREACHABLE, "client": "openai"},
    "CommandModel": {"command": "no-such-agent", "model": ASKED},
    "FunctionAgentModel": {"function": "json.loads", "model": {}},
    "FunctionModel": {"function": "my_app.answer", "max_concurrency": 0},
    "HuggingFaceBaseModel": {"path": "FOLDER", "batch_size": 0},
    "HuggingFaceChatModel": {"path": "FOLDER", "generation_kwargs": {"max_length": 3}},
    "OpenAIChatModel": {"model": "m", "base_url": UNREACHABLE, "max_concurrency": 0},
    "OpenAICompletionModel": {"model": "m", "base_url": UNREACHABLE, "client": "no_such"},
    "OpenAIResponsesModel": {"model": "m", "base_url": UNREACHABLE, "seed": 1},
    "ScriptedModel": {"answers": {"(": "y"}},
    "ServerAgentModel": {"url": UNREACHABLE, "model": {"type": "Nothing"}},
    "TritonModel": {"model": "m", "base_url": UNREACHABLE, "stream": True},
}


def make(models: dict[str, dict[str, Any]], folder: Path) -> tuple[list[str], dict[str, str], bool]:
    """What was opened behind each name, the errors, and whether torch was imported, when a process makes models."""
    given = json.dumps({name: models[name] for name in PARTS["models"]}).replace("FOLDER", str(folder))
    done = subprocess.run(
        [sys.executable, "-c", WATCH, given, str(folder)], capture_output=True, text=True, check=True, timeout=120
    )
    opened, errors, torch = json.loads(done.stdout)
    return opened, errors, torch


def test_each_registered_model_is_covered() -> None:
    assert GOOD.keys() == WRONG.keys() >= PARTS["models"].keys()


@pytest.mark.process
def test_making_a_model_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("not JSON")
    assert make(GOOD, tmp_path) == (list(PARTS["models"]), {}, False)


@pytest.mark.process
def test_wrong_arguments_fail_without_opening_anything(tmp_path: Path) -> None:
    opened, errors, torch = make(WRONG, tmp_path)
    assert (opened, list(errors), torch) == (list(PARTS["models"]), list(PARTS["models"]), False)
    assert all(error.startswith("ConfigError: ") for error in errors.values()), errors
