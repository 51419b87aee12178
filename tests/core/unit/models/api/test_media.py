"""Local files on their way to a server."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import DataError
from ais_prompt.models import embed_files
from ais_prompt.types import ChatMessage, prompt_to_json
from tests.support.media import PNG, wav


def embedded(part: dict[str, Any]) -> Any:
    message = prompt_to_json(embed_files((ChatMessage("user", (part,)),)))[0]
    assert isinstance(message, dict)
    return message["content"][0]


@pytest.mark.parametrize("mapping", [True, False])
def test_an_image_becomes_a_data_url_of_its_own_kind(tmp_path: Path, mapping: bool) -> None:
    path = tmp_path / "cat.jpg"
    path.write_bytes(PNG)
    url = f"file://{path}"
    part = embedded({"type": "image_url", "image_url": {"url": url, "detail": "low"} if mapping else url, "file": {}})
    detail = {"detail": "low"} if mapping else {}
    data = "data:image/png;base64," + base64.b64encode(PNG).decode()
    assert part == {"type": "image_url", "image_url": {"url": data, **detail}}


def test_input_audio_gets_base64_and_its_format(tmp_path: Path) -> None:
    path = tmp_path / "talk.mp3"
    path.write_bytes(wav())
    part = embedded({"type": "input_audio", "input_audio": {"data": f"file://{path}", "format": "mp3"}})
    data = base64.b64encode(wav()).decode()
    assert part == {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}


def test_everything_else_stays() -> None:
    remote = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    words = {"type": "text", "text": "a.png"}
    assert embed_files((ChatMessage("user", (words, remote)), ChatMessage("user", "hi"))) == (
        ChatMessage("user", (words, remote)),
        ChatMessage("user", "hi"),
    )
    assert embed_files("a text") == "a text"


def test_a_file_that_vanished_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        embedded({"type": "image_url", "image_url": {"url": f"{tmp_path}/gone.png"}})
