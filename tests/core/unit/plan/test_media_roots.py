"""Which folders and URLs a config gives to the media of its rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.plan import media_roots_of
from ais_prompt.prompts import MediaRoots
from ais_prompt.types import PartSpec
from tests.support.parts import dataset_spec


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    (folder / "images").mkdir(parents=True)
    (folder / "rows.jsonl").write_text("{}\n")
    (tmp_path / "pictures").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return folder


def found(source: Mapping[str, Any], template: Any = "{question}", media_roots: tuple[str, ...] = ()) -> MediaRoots:
    spec = dataset_spec(Path("unused"))
    args = template if isinstance(template, dict) else {"template": template}
    asked = replace(spec.infer, prompt_template=PartSpec("MMPromptTemplate", args, "x"))
    reader = replace(spec.reader, media_roots=media_roots)
    return media_roots_of(replace(spec, source=PartSpec("Any", source), reader=reader, infer=asked))


@pytest.mark.parametrize(
    ("source", "folders"),
    [
        ({"path": "{data}/rows.jsonl"}, ["data"]),
        ({"path": "{data}"}, ["data"]),
        ({"path": "data/rows.jsonl"}, ["data"]),
        ({"data_files": {"test": ["{data}/rows.jsonl"]}}, ["data"]),
        ({"cls": "peer.Loader", "kwargs": {"path": "data/rows.jsonl", "image_path": "pictures"}}, ["data", "pictures"]),
        ({"path": "owner/name", "name": "pictures"}, []),
        ({"path": "x" * 5000}, []),
    ],
)
def test_the_folders_of_the_data(data: Path, source: Mapping[str, Any], folders: list[str]) -> None:
    filled = json.loads(json.dumps(source).replace("{data}", str(data)))
    assert found(filled).folders == tuple(str(data.parent / folder) for folder in folders)


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("file://{image}", None),
        ("file:///{image}", None),
        ("/{image}", None),
        ("{image}", None),
        ("https://{image}", None),
        ("data:image/png;base64,{image}", None),
        ("file:///srv/set/{image}.png", "/srv/set"),
        ("/srv/set/x-{image}", "/srv/set"),
        ("/srv/set/logo.png", "/srv/set/logo.png"),
        ("https://cdn.example.org/set/{image}", "https://cdn.example.org/set"),
        ("https://cdn.example.org/logo.png", "https://cdn.example.org/logo.png"),
    ],
)
def test_the_config_may_name_any_file_itself(data: Path, url: str, folder: str | None) -> None:
    image = {"type": "image_url", "image_url": {"url": url}}
    for args in (
        {"template": {"round": [{"role": "HUMAN", "prompt_mm": {"image": image}}]}},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "/text/{q}"}, image]}]},
    ):
        roots = found({"path": "owner/name"}, args)
        assert [*roots.folders, *roots.urls] == ([] if folder is None else [folder])


def test_media_roots_of_reader_cfg(data: Path) -> None:
    roots = found({}, media_roots=("pictures", "~/pictures", "/srv", "file:///mnt/x", "https://cdn.example.org/set"))
    pictures = str(data.parent / "pictures")
    expected = MediaRoots(
        (pictures, pictures, "/srv", "/mnt/x"), ("https://cdn.example.org/set",), "datasets[0].reader_cfg.media_roots"
    )
    assert roots == expected
