"""The digests of a tokenizer tell what changed, and nothing is loaded for them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ais_prompt.errors import ModelError
from ais_prompt.models import tokenizer_digests


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>", "chat_template": "{{ m }}"}))
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "config.json").write_text("{}")
    return tmp_path


def changed(before: dict[str, str], folder: Path) -> set[str]:
    after = tokenizer_digests(str(folder))
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def test_only_the_tokenizer_counts(folder: Path) -> None:
    before = tokenizer_digests(str(folder))
    assert set(before) == {"tokenizer.json", "tokenizer_config.json", "chat_template"}
    (folder / "model.safetensors").unlink()
    (folder / "config.json").write_text('{"a": 1}')
    assert changed(before, folder) == set()


def test_the_chat_template_has_a_digest_of_its_own(folder: Path) -> None:
    before = tokenizer_digests(str(folder))
    config = folder / "tokenizer_config.json"
    config.write_text(json.dumps({"chat_template": "{{ m }}!", "bos_token": "<s>"}, indent=4))
    assert changed(before, folder) == {"chat_template"}
    config.write_text(json.dumps({"bos_token": "<b>", "chat_template": "{{ m }}"}))
    assert changed(before, folder) == {"tokenizer_config.json"}


def test_a_template_in_a_file_of_its_own(folder: Path) -> None:
    before = tokenizer_digests(str(folder))
    (folder / "additional_chat_templates").mkdir()
    (folder / "additional_chat_templates" / "tools.jinja").write_text("{{ t }}")
    (folder / "chat_template.jinja").write_text("{{ m }}")
    assert changed(before, folder) == {"additional_chat_templates/tools.jinja", "chat_template.jinja"}


@pytest.mark.process
def test_a_hub_id_means_its_downloaded_files(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache" / "models--owner--name"
    shutil.copytree(folder, cache / "snapshots" / "abc", ignore=shutil.ignore_patterns("cache"))
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("abc")
    code = "from ais_prompt.models.tokenizer import *; print(tokenizer_digests('owner/name'))"
    environment = {**os.environ, "HF_HUB_CACHE": str(cache.parent)}  # it is read when the library is imported
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(tokenizer_digests(str(folder)))


def test_what_was_not_downloaded_has_no_digests() -> None:
    assert tokenizer_digests("example/no-such-model") == {}
    assert tokenizer_digests("no hub id at all") == {}


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not exist"):
        tokenizer_digests(str(tmp_path / "none"))


def test_a_broken_config(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text("{")
    with pytest.raises(ModelError, match="cannot be read"):
        tokenizer_digests(str(folder))
