"""The lock file: write it, read it back, and refuse files that this version did not write."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.extensions.evidence.locks.lock_file import read_prompt_lock, write_prompt_lock
from ais_prompt.preview import PromptLock, TaskPrompts, compact_digest, text_of_prompt
from ais_prompt.types import ChatMessage, Prompt

CHAT = (
    ChatMessage("system", ""),
    ChatMessage("user", "Line one\nline two\n"),
    ChatMessage("user", ({"type": "text", "text": "x"},)),
)


def lock_of(*prompts: Prompt) -> PromptLock:
    texts = {"0a1b2c3d4e5f": tuple(map(text_of_prompt, prompts))}
    digests = {sample: tuple(map(compact_digest, of_sample)) for sample, of_sample in texts.items()}
    parts = {"data": {"test": "1 rows 00"}, "decoding": {"max_out_len": 5, "stop": ["\n"]}}
    return PromptLock("eval", {"ais-prompt": "1"}, [TaskPrompts("m", "d", parts, digests, texts, 9, None)])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "eval.lock"


@pytest.mark.parametrize("prompts", [("Q: 1+1\n\nA:",), ("",), (CHAT,), ("label A", "label B"), ("\ud800 \x85 你好",)])
def test_a_lock_comes_back_as_it_was(path: Path, prompts: tuple[Prompt, ...]) -> None:
    write_prompt_lock(path, lock_of(*prompts))
    assert read_prompt_lock(path) == lock_of(*prompts)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.text(st.characters(exclude_categories=["Co"])))
def test_any_text_comes_back(path: Path, text: str) -> None:
    write_prompt_lock(path, lock_of(text, (ChatMessage("user", text),)))
    assert read_prompt_lock(path) == lock_of(text, (ChatMessage("user", text),))


def test_a_changed_line_of_a_prompt_is_one_line_of_the_file(path: Path) -> None:
    write_prompt_lock(path, lock_of("Q: 1+1\nThink.\nA:"))
    before = path.read_text().splitlines()
    write_prompt_lock(path, lock_of("Q: 1+1\nThank.\nA:"))
    changed = [line.strip() for line in path.read_text().splitlines() if line not in before]
    assert changed[0] == '"Thank.",'
    assert len(changed) == 2  # and the digest


def edited(path: Path, change: Callable[[Any], None]) -> ConfigError:
    """Return the error for an edited lock."""
    write_prompt_lock(path, lock_of("Q: 1+1\nA:"))
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))
    with pytest.raises(ConfigError) as caught:
        read_prompt_lock(path)
    assert caught.value.where == str(path)
    return caught.value


def test_a_lock_that_was_edited_is_refused(path: Path) -> None:
    assert "there is no such key" in edited(path, lambda lock: lock.update(comment="ours")).what
    assert "config: " in edited(path, lambda lock: lock.pop("config")).what
    task = "tasks.0"
    error = edited(path, lambda lock: lock["tasks"][0]["digests"].update({"0a1b2c3d4e5f": "short"}))
    assert f"{task}.digests.0a1b2c3d4e5f: not digests of 8 characters" in error.what
    error = edited(path, lambda lock: lock["tasks"][0]["kept"][0].update(prompts=[["Q: 1+2", "A:"]]))
    assert "does not match its digest" in error.what
    assert "edited by hand" in error.fix


def test_a_lock_of_another_version_is_refused(path: Path) -> None:
    error = edited(path, lambda lock: lock.update(format=2))
    assert "format 2, this version of ais-prompt reads 1" in error.what
    assert "aisprompt lock" in error.fix


@pytest.mark.parametrize("content", ["", "<<<<<<< HEAD\n{}", "[]", "{}", '"text"', "\xff"])
def test_what_is_no_lock_is_refused(path: Path, content: str) -> None:
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ConfigError, match="lock") as caught:
        read_prompt_lock(path)
    assert caught.value.fix


def test_a_lock_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write") as caught:
        write_prompt_lock(tmp_path / "file" / "eval.lock", lock_of("text"))
    assert "--lock-file" in caught.value.fix


def test_a_lock_that_is_not_there(path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no prompt lock") as caught:
        read_prompt_lock(path)
    assert "aisprompt lock" in caught.value.fix
