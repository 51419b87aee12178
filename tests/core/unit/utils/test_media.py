"""Media parts: which file they name, and what kind of file it is."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import DataError
from ais_prompt.utils import FILE_NOTE, check_part, describe_part, has_scheme, local_file, source_of
from tests.support.media import JPEG, MP4, PDF, PNG, wav


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def audio(url: str) -> dict[str, Any]:
    return {"type": "audio_url", "audio_url": url}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cat.png").write_bytes(PNG)
    return tmp_path


@pytest.mark.parametrize(
    ("part", "source"),
    [
        (image("https://example.org/a.png"), "https://example.org/a.png"),
        (audio("a.wav"), "a.wav"),
        ({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}, "AAAA"),
        ({"type": "text", "text": "a.png"}, ""),
        ({"type": "image_url"}, ""),
    ],
)
def test_the_source_of_a_part(part: dict[str, Any], source: str) -> None:
    assert source_of(part) == source


def test_what_has_a_scheme() -> None:
    assert all(map(has_scheme, ["https://x", "FILE:///x", "data:image/png;base64,AA", "s3://b/k"]))
    assert not any(map(has_scheme, ["a.png", "/a/b.png", "C:/a.png", "note: a.png", ""]))


@pytest.mark.parametrize(
    "url", ["cat.png", "file://cat.png", "FILE://cat.png", "{folder}/cat.png", "file://{folder}/cat.png"]
)
def test_a_file_may_be_named_by_path_or_url(folder: Path, url: str) -> None:
    file = local_file(image(url.format(folder=folder)))
    assert file is not None
    assert (file.mime, file.extension, file.size) == ("image/png", "png", len(PNG))


@pytest.mark.parametrize("name", ["my cat (1) 猫.png", "100%25.png", "a#b?c.png"])
def test_a_name_is_taken_as_it_stands(folder: Path, name: str) -> None:
    (folder / name).write_bytes(PNG)
    file = local_file(image(f"file://{folder}/{name}"))
    assert file is not None
    assert file.path.name == name


def test_a_quoted_url_is_understood(folder: Path) -> None:
    (folder / "my cat.png").write_bytes(PNG)
    file = local_file(image(f"file://{folder}/my%20cat.png"))
    assert file is not None
    assert file.path.name == "my cat.png"


@pytest.mark.parametrize("part", [image("https://example.org/a.png"), image("data:image/png;base64,AAAA")])
def test_what_lies_elsewhere_is_no_local_file(part: dict[str, Any]) -> None:
    assert local_file(part) is None
    check_part(part)


def test_base64_of_input_audio_is_no_path(folder: Path) -> None:
    assert local_file({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}) is None


@pytest.mark.parametrize(("content", "mime"), [(PNG, "image/png"), (JPEG, "image/jpeg")])
def test_the_kind_is_in_the_content_and_not_in_the_name(folder: Path, content: bytes, mime: str) -> None:
    (folder / "x.gif").write_bytes(content)
    file = local_file(image("x.gif"))
    assert file is not None
    assert file.mime == mime


def test_sound_and_film_share_containers(folder: Path) -> None:
    (folder / "talk.mp4").write_bytes(MP4)
    (folder / "talk.wav").write_bytes(wav())
    check_part(audio("talk.mp4"))
    check_part(audio("talk.wav"))


@pytest.mark.parametrize(
    ("content", "words"),
    [(PDF, "given as image, but it is application/pdf"), (b"<html>not found", "does not say"), (b"", "does not say")],
)
def test_a_file_of_another_kind_is_refused(folder: Path, content: bytes, words: str) -> None:
    (folder / "x.png").write_bytes(content)
    with pytest.raises(DataError, match=words):
        check_part(image("x.png"))


@pytest.mark.parametrize(
    ("url", "words"),
    [("no.png", "No such file"), (".", "not a regular file"), ("x" * 5000, "too long"), ("a\0b", "null")],
)
def test_a_file_that_cannot_be_read_is_refused(folder: Path, url: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        check_part(image(url))


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.png")
    with pytest.raises(DataError, match="not a regular file"):
        check_part(image("pipe.png"))


def test_broken_base64_is_refused() -> None:
    check_part(image("data:image/png;base64,iVBO\nRw=="))
    with pytest.raises(DataError, match="what should be base64 is not"):
        check_part(image("data:image/png;base64,/data/cat.jpg"))


def test_a_note_follows_the_content(folder: Path) -> None:
    notes = []
    for content in (PNG, JPEG):
        (folder / "cat.png").write_bytes(content)
        file = local_file(image("cat.png"))
        assert file is not None
        notes.append(file.note())
    assert [note["mime"] for note in notes] == ["image/png", "image/jpeg"]
    assert [note["sha256"] for note in notes] == [hashlib.sha256(content).hexdigest() for content in (PNG, JPEG)]


def test_descriptions(folder: Path) -> None:
    file = local_file(image("cat.png"))
    assert file is not None
    digest = hashlib.sha256(PNG).hexdigest()[:12]
    described = describe_part({**image("cat.png"), FILE_NOTE: file.note()})
    assert described == f"image, image/png, {len(PNG)} bytes, sha256 {digest}: cat.png"
    assert describe_part(image("https://example.org/a.png")) == "image: https://example.org/a.png"
    inline = describe_part(image("data:image/png;base64," + "A" * 4096))
    assert inline.startswith("image, image/png, 3.0 KiB: data:image/png;base64,AAA")
    assert len(inline) < 200
    assert describe_part({"type": "text", "text": "x"}) == ""
