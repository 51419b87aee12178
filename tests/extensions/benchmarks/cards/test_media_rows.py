"""Benchmarks with images: files of VLMEvalKit, images beside the rows, and what is found when they change."""

from __future__ import annotations

import base64
import csv
from pathlib import Path
from typing import Any

import pytest

from ais_prompt import run
from ais_prompt.config import compose_config
from ais_prompt.errors import DataError
from ais_prompt.extensions.benchmarks.cards.catalog_dataset import CatalogDataset
from ais_prompt.extensions.benchmarks.get import check, get
from tests.support.vision_model import image_bytes

QUESTION = {"question": 'What is a "sign"?', "A": "red", "B": "blue", "C": "", "answer": "B", "category": "own"}


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AISPROMPT_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def write_tsv(folder: Path, images: list[str]) -> Path:
    """MMStar as VLMEvalKit writes it."""
    folder.mkdir(exist_ok=True)
    with (folder / "MMStar.tsv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["index", "image", *QUESTION], delimiter="\t")
        writer.writeheader()
        writer.writerows({"index": number, "image": image, **QUESTION} for number, image in enumerate(images))
    return folder


def encoded(colour: str) -> str:
    return base64.b64encode(image_bytes(colour)).decode()


def rows() -> list[dict[str, Any]]:
    return list(CatalogDataset("mmstar").read("test"))


def test_rows_of_vlmevalkit_share_images(tmp_path: Path, data: Path) -> None:
    get("mmstar", write_tsv(tmp_path / "brought", [encoded("red"), "0", encoded("blue")]))
    contents = [row["content"] for row in rows()]
    assert contents[0] == contents[1] != contents[2]
    image = contents[0].removeprefix("<AIS_IMAGE_START>").partition("<AIS_CONTENT_TAG>")[0]
    assert (data / image).read_bytes() == image_bytes("red")
    assert contents[0].endswith('<AIS_TEXT_START>What is a "sign"?\nA. red\nB. blue<AIS_CONTENT_TAG>')
    assert len(list((data / "mmstar" / "media").iterdir())) == 2


def test_an_image_of_a_row_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="row '7', which is not there"):
        get("mmstar", write_tsv(tmp_path / "brought", [encoded("red"), "7"]))


def test_an_image_that_is_none_is_named_with_its_row(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no known kind") as caught:
        get("mmstar", write_tsv(tmp_path / "brought", [encoded("red"), base64.b64encode(b"text" * 99).decode()]))
    assert "row 1" in caught.value.where


def test_data_of_another_machine_bring_their_images(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    get("mmstar", write_tsv(tmp_path / "brought", [encoded("red")]))
    before = rows()
    monkeypatch.setenv("AISPROMPT_DATA", str(tmp_path / "other"))
    get("mmstar", data / "mmstar")
    assert rows() == before, "rows do not depend on the machine"
    assert check(["mmstar"]) == {"mmstar": []}
    [image] = (tmp_path / "other" / "mmstar" / "media").iterdir()
    image.write_bytes(image_bytes("blue"))
    assert check(["mmstar"]) == {"mmstar": [f"the image {image.name} changed"]}


@pytest.mark.thorough
def test_the_prompt_names_the_image_and_its_digest(tmp_path: Path, data: Path) -> None:
    get("mmstar", write_tsv(tmp_path / "brought", [encoded("red")]))
    datasets = compose_config((), ("mmstar",)).values["datasets"]
    models = [{"type": "ScriptedModel", "abbr": "m", "default": "B"}]
    done = run({"models": models, "datasets": datasets, "work_dir": str(tmp_path / "out")}, report=False, quiet=True)
    assert [row.score for row in done.rows] == [1]
    [file] = (tmp_path / "out").rglob("predictions/m/mmstar.jsonl")
    stored = file.read_text("utf-8")
    [image] = (data / "mmstar" / "media").iterdir()
    assert f"file://mmstar/media/{image.name}" in stored
    assert str(data) not in stored
