"""Media of a whole dataset, looked at before anything is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt.checks import check_media
from ais_prompt.errors import DataError
from ais_prompt.prompts import MMPromptTemplate, PromptBuilder, PromptTemplate
from ais_prompt.types import Sample
from tests.support.media import PNG

TEMPLATE = {
    "round": [{"role": "HUMAN", "prompt_mm": {"image": {"type": "image_url", "image_url": {"url": "{image}"}}}}]
}


def samples(folder: Path, *names: str) -> list[Sample]:
    contents = [f"<AIS_IMAGE_START>{folder / name}<AIS_CONTENT_TAG>" for name in names]
    return [Sample(f"s{row}", row, {"content": content}) for row, content in enumerate(contents)]


def test_one_missing_file_is_named_with_its_row(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    builder = PromptBuilder(None, MMPromptTemplate(TEMPLATE), output_column=None)
    check_media(builder, samples(tmp_path, "a.png"))
    with pytest.raises(DataError) as caught:
        check_media(builder, samples(tmp_path, "a.png", "no.png"))
    assert "no.png" in caught.value.what
    assert caught.value.where == "sample s1, row 1"


def test_many_are_counted(tmp_path: Path) -> None:
    builder = PromptBuilder(None, MMPromptTemplate(TEMPLATE), output_column=None)
    with pytest.raises(DataError, match=r"3 samples have media that cannot be sent; the first: .*x\.png"):
        check_media(builder, samples(tmp_path, "x.png", "y.png", "z.png"))


def test_text_has_no_media() -> None:
    check_media(PromptBuilder(None, PromptTemplate("{q}"), output_column=None), [Sample("s", 0, {"q": "no.png"})])
