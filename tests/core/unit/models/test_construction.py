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

name, arguments, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
from ais_prompt.registry import MODELS

MODELS.get(name)
seen = []


def watch(event, args):
    if event.startswith(("socket.", "subprocess.", "os.system", "os.posix_spawn", "os.fork", "urllib.")):
        seen.append(event)
    if event in ("open", "os.listdir", "os.scandir") and str(args[0]).startswith(folder):
        seen.append(f"{event} {args[0]}")


sys.addaudithook(watch)
try:
    model = MODELS.make(name, arguments)
    model.decoding(None, ())
    print(json.dumps([seen, "", "torch" in sys.modules]))
except Exception as error:
    print(json.dumps([seen, f"{type(error).__name__}: {error}", "torch" in sys.modules]))
"""
UNREACHABLE = "http://192.0.2.1:9/v1"  # TEST-NET-1 of RFC 5737: no machine has this address
GOOD: dict[str, dict[str, Any]] = {
    "AnthropicModel": {"model": "m", "base_url": UNREACHABLE, "api_key": "NO_SUCH_KEY", "tokenizer_path": "FOLDER"},
    "FunctionModel": {"function": "no_such_module.answer"},
    "HuggingFaceBaseModel": {"path": "FOLDER", "loading": {"tokenizer_path": "FOLDER/tokenizer"}},
    "HuggingFaceChatModel": {"path": "no-owner/no-such-model", "tokenizer_path": "FOLDER", "prefix_cache_tokens": 9},
    "OpenAIChatModel": {"model": "m", "base_url": UNREACHABLE, "api_key": "NO_SUCH_KEY", "tokenizer_path": "FOLDER"},
    "OpenAICompletionModel": {"model": "m", "base_url": UNREACHABLE, "client": "openai", "logprobs_via": "echo"},
    "OpenAIResponsesModel": {"model": "m", "base_url": UNREACHABLE, "client": "openai", "stream": True},
    "ScriptedModel": {"answers": {"x": "y"}},
    "TritonModel": {"model": "m", "base_url": UNREACHABLE, "max_tokens_field": "max_new_tokens"},
}
WRONG: dict[str, dict[str, Any]] = {
    "AnthropicModel": {"model": "m", "base_url": UNREACHABLE, "client": "openai"},
    "FunctionModel": {"function": "my_app.answer", "max_concurrency": 0},
    "HuggingFaceBaseModel": {"path": "FOLDER", "batch_size": 0},
    "HuggingFaceChatModel": {"path": "FOLDER", "generation_kwargs": {"max_length": 3}},
    "OpenAIChatModel": {"model": "m", "base_url": UNREACHABLE, "max_concurrency": 0},
    "OpenAICompletionModel": {"model": "m", "base_url": UNREACHABLE, "client": "no_such"},
    "OpenAIResponsesModel": {"model": "m", "base_url": UNREACHABLE, "seed": 1},
    "ScriptedModel": {"answers": {"(": "y"}},
    "TritonModel": {"model": "m", "base_url": UNREACHABLE, "stream": True},
}


def make(name: str, arguments: dict[str, Any], folder: Path) -> tuple[list[str], str, bool]:
    """What was opened, the error, and whether torch was imported, when a model is made in a process of its own."""
    given = json.dumps(arguments).replace("FOLDER", str(folder))
    command = [sys.executable, "-c", WATCH, name, given, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    opened, error, torch = json.loads(done.stdout)
    return opened, error, torch


def test_each_registered_model_is_covered() -> None:
    assert GOOD.keys() == WRONG.keys() >= PARTS["models"].keys()


@pytest.mark.process
@pytest.mark.parametrize("name", PARTS["models"])
def test_making_a_model_opens_nothing(name: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("not JSON")
    assert make(name, GOOD[name], tmp_path) == ([], "", False)


@pytest.mark.process
@pytest.mark.parametrize("name", PARTS["models"])
def test_wrong_arguments_fail_without_opening_anything(name: str, tmp_path: Path) -> None:
    opened, error, torch = make(name, WRONG[name], tmp_path)
    assert (opened, torch) == ([], False)
    assert error.startswith("ConfigError: ")
