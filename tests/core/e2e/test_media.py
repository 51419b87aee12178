"""Images from a data file to a server, and to a local model."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.core.e2e.project import Project
from tests.support.media import JPEG, PNG, wav
from tests.support.servers import MockServer
from tests.support.vision_model import image_bytes, save_vision_model

pytestmark = [pytest.mark.process, pytest.mark.torch]


DEMO_MODEL = Path(__file__).parents[3] / "configs" / "data" / "demo_model"

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
LOCAL = "dict(type='HuggingFaceChatModel', abbr='fake', path={path!r}, max_out_len=8)"
MODEL = "dict(type='OpenAIChatModel', abbr='fake', model='mock', base_url={url!r}, retry=0)"


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


MESSAGES = """dict(
    abbr='sums',
    type='LocalDataset',
    path='data/images.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer', media_roots=[{roots}]),
    infer_cfg=dict(
        prompt_template=dict(type='RawPromptTemplate', messages=[dict(expand_column='history')]),
        retriever=dict(type='ZeroRetriever'),
        inferencer=dict(type='GenInferencer'),
    ),
)"""


def image_message(path: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": path}}]}]


def outside_rows(outside: str) -> list[dict[str, Any]]:
    """Rows for `DATASET` and `MESSAGES`; the first names a file outside of the data."""
    return [
        {
            "question": f"<AIS_TEXT_START>What?<AIS_CONTENT_TAG><AIS_IMAGE_START>{path}<AIS_CONTENT_TAG>",
            "history": image_message(path),
            "answer": "x",
        }
        for path in (outside, "data/b.png")
    ]


@pytest.mark.parametrize("dataset", [DATASET, MESSAGES.format(roots="")], ids=["markers", "messages"])
@pytest.mark.parametrize(
    "outside", ["{folder}/private.jpg", "../private.jpg", "data/link.jpg", "https://127.0.0.1:9/a"]
)
def test_a_row_that_names_a_file_outside_of_the_data_fails_alone(
    images: Project, server: MockServer, outside: str, dataset: str
) -> None:
    private = images.root.parent / "private.jpg"
    private.write_bytes(JPEG)
    (images.root / "data" / "link.jpg").symlink_to(private)
    images.write_data(outside_rows(outside.format(folder=private.parent)), "images.jsonl")
    images.write_config(models=MODEL.format(url=server.base_url), datasets=dataset)
    done = images.run("run", "eval.py", "-m", "infer")
    assert done.returncode == 1, done.stderr
    assert sent_urls(server) == {"data:image/png;base64," + base64.b64encode(PNG).decode()}
    refused, fine = (row["completions"][0].get("failure") for row in images.predictions())
    assert "row 0 cannot be asked: a row names the " in refused["message"]
    assert "reader_cfg=dict(media_roots=[" in refused["message"]
    assert refused["where"] == "row 0 · datasets[0].reader_cfg.media_roots"
    assert fine is None
    shown = images.run("view-prompt", "eval.py", "--sample", "0")
    assert (shown.returncode, "media_roots" in shown.stderr) == (2, True)


def test_media_roots_allow_a_folder_and_the_journal_names_the_file(images: Project, server: MockServer) -> None:
    private = images.root.parent / "private.jpg"
    private.write_bytes(JPEG)
    images.write_data(outside_rows(str(private)), "images.jsonl")
    images.write_config(
        models=MODEL.format(url=server.base_url), datasets=MESSAGES.format(roots=repr(str(private.parent)))
    )
    done = images.run("run", "eval.py", "-m", "infer")
    assert done.returncode == 0, done.stderr
    assert any(url.startswith("data:image/jpeg;") for url in sent_urls(server))
    files = sorted((line["files"] for line in images.journal()), key=lambda files: files[0]["path"])
    note = {"mime": "image/jpeg", "bytes": len(JPEG), "sha256": hashlib.sha256(JPEG).hexdigest()}
    assert files[0] == [{"path": str(private), **note}]
    assert files[1][0]["path"] == "data/b.png"


def test_a_local_model_is_shown_no_file_outside_of_the_data(seeing: Project) -> None:
    private = seeing.root.parent / "private.png"
    private.write_bytes(image_bytes("green"))
    seeing.write_data(outside_rows(str(private)), "images.jsonl")
    done = seeing.run("run", "eval.py", "-m", "infer")
    assert done.returncode == 1, done.stderr
    refused, fine = (row["completions"][0].get("failure") for row in seeing.predictions())
    assert "outside of the data folder" in refused["message"]
    assert fine is None


@pytest.fixture
def seeing(images: Project) -> Project:
    """A project whose model is a tiny one with a processor, and whose images differ."""
    save_vision_model(images.root / "seeing")
    for name, colour in (("a", "red"), ("b", "blue")):
        (images.root / "data" / f"{name}.png").write_bytes(image_bytes(colour))
    images.write_config(models=LOCAL.format(path="./seeing"), datasets=DATASET)
    return images


def test_a_local_model_is_shown_images_and_asked_again_when_one_changes(seeing: Project) -> None:
    shown = seeing.run("view-prompt", "eval.py", "-n")
    assert shown.returncode == 0, shown.stderr
    assert "As sent: messages, " in shown.stdout
    assert "⟨image, image/png, " in shown.stdout
    assert seeing.run("check", "eval.py").returncode == 0
    done = seeing.run("run", "eval.py", "-m", "infer")
    assert done.returncode == 0, done.stderr
    first = [row["prediction"] for row in seeing.predictions()]
    assert first[0] != first[1]
    (seeing.root / "data" / "b.png").write_bytes((seeing.root / "data" / "a.png").read_bytes())
    again = seeing.run("run", "eval.py", "-m", "infer", "-r")
    assert again.returncode == 0, again.stderr
    assert "1 of 2" in again.stdout + again.stderr


@pytest.mark.parametrize("verb", [("check",), ("run",), ("view-prompt", "-n")])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("<AIS_IMAGE_START>https://example.org/a.png<AIS_CONTENT_TAG>", "downloads nothing"),
        ("<AIS_AUDIO_START>data/a.wav<AIS_CONTENT_TAG>", "takes image, but the prompt has audio"),
    ],
)
def test_what_a_local_model_does_not_take_is_refused_before_it_is_loaded(
    seeing: Project, verb: tuple[str, ...], value: str, words: str
) -> None:
    (seeing.root / "data" / "a.wav").write_bytes(wav())
    (seeing.root / "seeing" / "model.safetensors").unlink()
    fine = "<AIS_TEXT_START>What?<AIS_CONTENT_TAG>"
    rows = [{"question": fine + value, "answer": "x"}]
    if verb[0] != "view-prompt":  # which shows the first only
        rows.insert(0, {"question": fine, "answer": "y"})
    seeing.write_data(rows, "images.jsonl")
    # The config allows the URL: the model does not take it all the same.
    fetched = DATASET.replace(
        "output_column='answer'", "output_column='answer', media_roots=['https://example.org']", 1
    )
    audio = "\n                'audio': {'type': 'audio_url', 'audio_url': {'url': '{audio}'}},\n            }),"
    seeing.write_config(models=LOCAL.format(path="./seeing"), datasets=fetched.replace("\n            }),", audio, 1))
    done = seeing.run(verb[0], "eval.py", *verb[1:])
    assert done.returncode == 2, done.stdout
    assert words in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_local_model_without_a_processor_names_the_models_that_take_media(images: Project) -> None:
    images.write_config(models=LOCAL.format(path=str(DEMO_MODEL)), datasets=DATASET)
    done = images.run("check", "eval.py")
    assert done.returncode == 2
    assert "use OpenAIChatModel, or HuggingFaceChatModel with a model that has a processor" in " ".join(
        done.stderr.split()
    )
