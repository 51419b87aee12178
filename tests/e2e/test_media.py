"""Images from a data file to a server."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator

import pytest

from tests.e2e.project import Project
from tests.media import JPEG, PNG
from tests.servers import MockServer, mock_server

DATASET = """dict(
    abbr='sums',
    type='LocalDataset',
    path='data/images.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='MMPromptTemplate', template=dict(round=[
            dict(role='HUMAN', prompt_mm={
                'text': {'type': 'text', 'text': '{question}'},
                'image': {'type': 'image_url', 'image_url': {'url': 'file://{image}'}},
            }),
            dict(role='BOT', prompt='{answer}'),
        ])),
        retriever=dict(type='ZeroRetriever'),
        inferencer=dict(type='GenInferencer'),
    ),
)"""
MODEL = "dict(type='OpenAIChatModel', abbr='fake', model='mock', base_url={url!r}, retry=0)"


@pytest.fixture(scope="module")
def server() -> Iterator[MockServer]:
    with mock_server() as running:
        yield running


@pytest.fixture
def images(project: Project, server: MockServer) -> Project:
    server.follow()
    question = "<AIS_TEXT_START>What is {0}?<AIS_CONTENT_TAG><AIS_IMAGE_START>data/{0}.png<AIS_CONTENT_TAG>"
    project.write_data([{"question": question.format(name), "answer": name} for name in "ab"], "images.jsonl")
    for name in "ab":
        (project.root / "data" / f"{name}.png").write_bytes(PNG)
    project.write_config(models=MODEL.format(url=server.base_url), datasets=DATASET)
    return project


def sent_urls(server: MockServer) -> set[str]:
    contents = [request["body"]["messages"][0]["content"] for request in server.requests()]
    return {part["image_url"]["url"] for content in contents for part in content if part["type"] == "image_url"}


def test_a_local_file_is_sent_in_the_request_and_stored_as_a_name(images: Project, server: MockServer) -> None:
    done = images.run("run", "eval.py", "-m", "infer")
    assert done.returncode == 0, done.stderr
    assert sent_urls(server) == {"data:image/png;base64," + base64.b64encode(PNG).decode()}
    stored = images.predictions()[0]["origin_prompt"][0]["content"]
    assert stored[0] == {"type": "text", "text": "What is a?"}
    assert stored[1]["image_url"] == {"url": "file://data/a.png"}
    assert (stored[1]["file"]["mime"], stored[1]["file"]["bytes"]) == ("image/png", len(PNG))


def test_a_changed_file_is_asked_again(images: Project, server: MockServer) -> None:
    assert images.run("run", "eval.py", "-m", "infer").returncode == 0
    (images.root / "data" / "b.png").write_bytes(JPEG)
    done = images.run("run", "eval.py", "-m", "infer", "-r")
    assert done.returncode == 0, done.stderr
    assert server.stats()["requests"] == 3
    assert any(url.startswith("data:image/jpeg;") for url in sent_urls(server))


@pytest.mark.parametrize("verb", [("check",), ("run",), ("view-prompt", "-n")])
def test_a_missing_file_is_found_before_anything_is_asked(
    images: Project, server: MockServer, verb: tuple[str, ...]
) -> None:
    (images.root / "data" / "b.png").unlink()
    done = images.run(verb[0], "eval.py", *verb[1:])
    assert done.returncode == 2, done.stdout
    assert "data/b.png" in done.stderr
    assert "row 1" in done.stderr
    assert "Traceback" not in done.stderr
    assert server.stats()["requests"] == 0


def test_view_prompt_shows_type_size_and_digest_of_a_local_file(images: Project) -> None:
    done = images.run("view-prompt", "eval.py", "-n")
    digest = hashlib.sha256(PNG).hexdigest()
    assert done.returncode == 0, done.stderr
    assert f"⟨image, image/png, {len(PNG)} bytes, sha256 {digest[:12]}: file://data/a.png⟩" in done.stdout
    [view] = json.loads(images.run("view-prompt", "eval.py", "--json").stdout)
    part = view["prompt"][0]["content"][1]
    assert part["file"] == {"mime": "image/png", "bytes": len(PNG), "sha256": digest}
