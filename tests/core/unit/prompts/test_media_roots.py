"""Media that a row of somebody else may name, and where they must be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import DataError
from ais_prompt.prompts import ChatTemplate, MediaRoots, MMPromptTemplate, PromptBuilder, PromptList, RawPromptTemplate
from ais_prompt.types import Sample
from tests.support.media import PNG

KINDS = ("image_url", "video_url", "audio_url", "input_audio")


@pytest.fixture
def roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MediaRoots:
    """Those of data in ``data`` for a program that works in ``project``; ``private`` is beside them."""
    for name in ("data", "data/sub", "project", "private", "data-private"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.png").write_bytes(PNG)
    (tmp_path / "data" / "out").symlink_to(tmp_path / "private")
    (tmp_path / "data" / "out.png").symlink_to(tmp_path / "private" / "a.png")
    (tmp_path / "data" / "in.png").symlink_to("sub/a.png")
    (tmp_path / "project" / "out.png").symlink_to("../private/a.png")
    (tmp_path / "project" / "loop.png").symlink_to("loop.png")
    monkeypatch.chdir(tmp_path / "project")
    return MediaRoots.of([str(tmp_path / "data"), "https://cdn.example.org/set/"], "datasets[0].reader_cfg.media_roots")


ALLOWED = [
    "a.png",
    "./sub/../a.png",
    "no-such-file.png",
    "~/a.png",  # a folder of this name: nothing is expanded
    "file://a.png",
    "{root}/data/a.png",
    "{root}/data/in.png",
    "{root}/data/sub/../a.png",
    "../data/a.png",
    "FILE://{root}/data/a.png",
    "file://{root}/data/sub%2fa.png",
    "data:image/png;base64,AAAA",
    "DATA:image/png;base64,AAAA",
    "https://cdn.example.org/set/a.png",
    "HTTPS://CDN.example.org/set/sub/a.png?size=1",
    "nul\0.png",  # cannot be a file
]
REFUSED = [
    "{root}/private/a.png",
    "{root}/private/missing.png",
    "{root}/project/a.png",
    "{root}/data-private/a.png",
    "{root}/data/../private/a.png",
    "{root}/data/out/a.png",
    "{root}/data/out.png",
    "../private/a.png",
    "sub/../../private/a.png",
    "out.png",
    "//{root}/private/a.png",
    "file://{root}/private/a.png",
    "FILE://{root}/private/a.png",
    "File://{root}/data/../private/a.png",
    "file://..%2fprivate%2fa.png",
    "%2e%2e/private/a.png",
    "file://{root}/data/%2E%2E/private/a.png",
    "file:///etc/passwd",
    "/proc/self/environ",
    "http://cdn.example.org/set/a.png",
    "https://cdn.example.org/other/a.png",
    "https://cdn.example.org/set/../other/a.png",
    "https://cdn.example.org/set/%2e%2e/other/a.png",
    "https://cdn.example.org/set/..\\other/a.png",
    "https://cdn.example.org/settings/a.png",
    "https://cdn.example.org.evil.example/set/a.png",
    "https://cdn.example.org@evil.example/set/a.png",
    "https://cdn.example.org:8443/set/a.png",
    "https://[broken/set/a.png",
    "HTTP://169.254.169.254/latest/",
    "ftp://example.org/a.png",
    "s3://bucket/a.png",
]


@pytest.mark.parametrize("reference", ALLOWED)
def test_a_row_may_name_what_is_below_its_roots(roots: MediaRoots, tmp_path: Path, reference: str) -> None:
    roots.check_parts([part(kind, reference.format(root=tmp_path)) for kind in KINDS], 3)


@pytest.mark.thorough
@pytest.mark.parametrize("reference", REFUSED)
@pytest.mark.parametrize("shape", ["url", "text", "list"])
def test_anything_else_is_refused(roots: MediaRoots, tmp_path: Path, reference: str, shape: str) -> None:
    reference = reference.format(root=tmp_path)
    parts: dict[str, Any] = {
        "url": part("image_url", reference),
        "text": {"type": "video_url", "video_url": reference},
        "list": [part("image_url", "a.png"), part("audio_url", reference)],
    }
    with pytest.raises(DataError, match="a row names the ") as caught:
        roots.check_parts([parts[shape]], 3)
    assert caught.value.where == "row 3 · datasets[0].reader_cfg.media_roots"
    assert "reader_cfg=dict(media_roots=[" in caught.value.fix


@pytest.mark.parametrize(
    "sent",
    [
        {"image_url": {"url": "http://evil.example/a.png"}},
        {"type": "image", "source": {"type": "url", "url": "http://evil.example/a.png"}},
        {"type": "image", "image": "file:///etc/a.png"},
        {"type": "input_audio", "input_audio": {"data": "file:///etc/a.wav", "format": "wav"}},
        {"type": "text", "text": "hello", "image_url": {"url": "http://evil.example/a.png"}},
    ],
)
def test_parts_of_other_types_are_looked_at_as_well(roots: MediaRoots, sent: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r"evil|etc"):
        roots.check_parts([sent], 3)


def test_a_text_may_begin_with_an_address(roots: MediaRoots) -> None:
    prompt = PromptList(["https://example.org is", {"role": "user", "content": "https://example.org"}])
    roots.check_prompt(prompt, 3)
    roots.check_parts([{"type": "text", "text": "https://example.org", "image_url": None}], 3)


def test_a_scheme_alone_allows_every_server() -> None:
    roots = MediaRoots.of(["https://"])
    for allowed in ("https://example.org/a.png", "HTTPS://b.example/c.png?d=e"):
        roots.check_parts([part("image_url", allowed)], 3)
    for refused in ("http://example.org/a.png", "https://example.org/../a.png"):
        with pytest.raises(DataError, match="outside of the data folder"):
            roots.check_parts([part("image_url", refused)], 3)


def test_the_fix_of_an_error_is_one(roots: MediaRoots, tmp_path: Path) -> None:
    for reference, root in (
        (f"{tmp_path}/private/a.png", f"{tmp_path}/private"),
        ("../private/a.png", f"{tmp_path}/private"),
        ("https://other.example/x/a.png?next=/b", "https://other.example/x/"),
        ("s3://bucket/a.png", "s3://bucket/"),
    ):
        refused = part("image_url", reference)
        with pytest.raises(DataError) as caught:
            roots.check_parts([refused], 3)
        assert f"[{root!r}]" in caught.value.fix
        MediaRoots.of([root]).check_parts([refused], 3)


def part(kind: str, reference: str) -> dict[str, Any]:
    return {"type": kind, kind: {"url": reference}}


MARKED = {"round": [{"role": "HUMAN", "prompt_mm": {"image": part("image_url", "file://{image}")}}]}
Way = Callable[[PromptBuilder, Sample], object]


def raw_builder(roots: MediaRoots) -> PromptBuilder:
    return PromptBuilder(None, RawPromptTemplate([{"expand_column": "history"}]), output_column=None, media_roots=roots)


@pytest.mark.parametrize(
    "way",
    [
        lambda builder, sample: builder.generation(sample, []),
        lambda builder, sample: builder.labelled(sample, []),
        lambda builder, sample: builder.media(sample),
    ],
    ids=["generation", "labelled", "media"],
)
@pytest.mark.parametrize("kind", ["marked", "messages"])
def test_every_prompt_of_a_row_is_checked(roots: MediaRoots, way: Way, kind: str) -> None:
    def sample(name: str) -> Sample:
        history = [{"role": "user", "content": [part("image_url", name)]}]
        return Sample("s", 0, {"content": f"<AIS_IMAGE_START>{name}", "history": history})

    marked = PromptBuilder(None, MMPromptTemplate(MARKED), output_column=None, media_roots=roots)
    builder = marked if kind == "marked" else raw_builder(roots)
    way(builder, sample("a.png"))
    with pytest.raises(DataError, match="outside of the data folder"):
        way(builder, sample("../private/a.png"))


def test_examples_are_checked(roots: MediaRoots) -> None:
    asked = MMPromptTemplate({"begin": ["</E>"], **MARKED}, ice_token="</E>")
    builder = PromptBuilder(MMPromptTemplate(MARKED), asked, output_column=None, media_roots=roots)
    fine, shot = (Sample(name, 0, {"content": f"<AIS_IMAGE_START>{name}"}) for name in ("a.png", "../private/a.png"))
    builder.generation(fine, [fine])
    for refused in (lambda: builder.generation(fine, [shot]), lambda: builder.example_media(shot)):
        with pytest.raises(DataError, match="outside of the data folder"):
            refused()


def test_chats_are_checked(roots: MediaRoots) -> None:
    def sample(name: str) -> Sample:
        turns = [{"role": "user", "content": [part("image_url", name)]}, {"role": "assistant", "content": "x"}]
        return Sample("s", 0, {"dialogue": turns})

    builder = PromptBuilder(None, ChatTemplate(None, ["dialogue"], None), output_column=None, media_roots=roots)
    builder.dialogue(sample("a.png"))
    with pytest.raises(DataError, match="outside of the data folder"):
        builder.dialogue(sample("../private/a.png"))
