"""A mirror of the hub that answers what it likes: no file is written outside, every list ends, no token leaves."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ais_prompt.utils import hub
from tests.support.cli import run_cli
from tests.support.hub import FakeHub, fake_hub

TOKEN = "hf_" + "a1B2c3D4" * 4
PATHS = ("../../../../escaped", "/{outside}/escaped", "a/b", "..", ".hidden", "a\\b", "", "x" * 300)


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    pytest.importorskip("huggingface_hub")
    monkeypatch.setenv("AISPROMPT_DATA", str(tmp_path / "a/b/data"))
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([{"question": "1+1=?", "answer": "#### 2"}]), sink)
    with fake_hub() as running:
        running.files = {f"main/{split}/0000.parquet": sink.getvalue() for split in ("train", "test")}
        monkeypatch.setenv("HF_ENDPOINT", running.endpoint)
        yield running


def refusal(tmp_path: Path) -> str:
    """What `data get` says; nothing remains but folders of the cache."""
    done = run_cli("data", "get", "gsm8k")
    assert done.returncode == 2, done.stdout + done.stderr
    assert TOKEN not in done.stdout + done.stderr
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(".hub" in path.parts for path in left), left
    return done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("value", PATHS)
@pytest.mark.parametrize("header", ["ETag", "X-Linked-Etag", "X-Repo-Commit"])
def test_no_header_is_a_path(mirror: FakeHub, tmp_path: Path, header: str, value: str) -> None:
    mirror.headers = {header: value.replace("{outside}", str(tmp_path))}
    assert f"a reply of the hub is refused: {header} is no name" in refusal(tmp_path)


@pytest.mark.parametrize("commit", ["../../../../escaped", "/escaped", "main", "C" * 40, "a" * 41, ""])
def test_the_commit_is_no_path(mirror: FakeHub, tmp_path: Path, commit: str) -> None:
    mirror.commit = commit
    assert "the commit is no SHA-1" in refusal(tmp_path)


SPLITS = ("train", "test")
ODD_PATHS: tuple[object, ...] = (
    *("../main/{}/0.parquet", "/etc/main/{}/0.parquet", "a/../main/{}/0.parquet"),
    *("a\\..\\main/{}/0.parquet", "//main/{}/0.parquet", 5, None, ["x"]),
)
ODD_FIELDS: dict[str, object] = {
    **{f"path {path!r}": {"path": path} for path in ODD_PATHS},
    **{f"size {size!r}": {"size": size} for size in (None, "x", -1, [], 2**80)},
    **{f"lfs {lfs!r}": {"lfs": lfs} for lfs in ("x", [], {}, {"oid": 5, "size": "x", "pointerSize": None})},
    **{f"type {kind!r}": {"type": kind} for kind in (None, "x", 5)},
    **{f"oid {oid!r}": {"oid": oid} for oid in (None, 5)},
}  # fmt: skip
"""Fields of the entries of a list that a hub does not send."""


@pytest.mark.thorough
@pytest.mark.parametrize("field", ODD_FIELDS.values(), ids=ODD_FIELDS)
def test_an_odd_entry_of_a_list_has_one_error(mirror: FakeHub, tmp_path: Path, field: dict[str, object]) -> None:
    listed = mirror.listed()
    for entry, split in zip(listed, SPLITS, strict=True):
        for name, value in field.items():
            entry[name] = value.format(split) if isinstance(value, str) else value
    mirror.listed = lambda: listed  # type: ignore[method-assign]
    done = run_cli("data", "get", "gsm8k")
    assert done.returncode in (0, 2), done.stdout + done.stderr
    outside = [path for path in tmp_path.rglob("*") if path.is_file() and "data" not in path.parts]
    assert outside == []


@pytest.mark.thorough
@pytest.mark.parametrize("value", [{}, [], None, 5, "x", [5], [[]], [{}], {"error": "no"}], ids=repr)
def test_an_odd_list_has_one_error(mirror: FakeHub, tmp_path: Path, value: object) -> None:
    mirror.listed = lambda: value  # type: ignore[method-assign,assignment,return-value]
    assert "fix:" in refusal(tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "following", ["{endpoint}/api/datasets/{repo}/tree/x?cursor={n}", "{endpoint}/api/datasets/{repo}/tree/x"]
)
def test_the_pages_of_a_list_end(
    mirror: FakeHub, tmp_path: Path, following: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "MAX_PAGES", 3)
    address = following.replace("{endpoint}", mirror.endpoint).replace("{repo}", mirror.repo)
    mirror.headers = {"Link": f'<{address}>; rel="next"'}
    assert "a list has more than 3 pages" in refusal(tmp_path)


@pytest.mark.thorough
def test_the_token_goes_to_no_other_host(mirror: FakeHub, tmp_path: Path) -> None:
    with fake_hub() as other:
        other.files, other.commit = mirror.files, mirror.commit
        mirror.redirects = other.endpoint
        assert run_cli("data", "get", "gsm8k").returncode == 0
        assert set(mirror.tokens) == {f"Bearer {TOKEN}"}
        mirror.headers = {"Link": f'<{other.endpoint}/api/datasets/{other.repo}/tree/x>; rel="next"'}
        run_cli("data", "get", "gsm8k", "--update")
        assert len(other.tokens) > 2
        assert set(other.tokens) == {""}
        mirror.headers = {"Link": f'<{other.endpoint}/token>; rel="xet-auth"', "X-Xet-Hash": "a" * 64}
        asked = len(other.tokens)
        done = run_cli("data", "get", "gsm8k", "--update")
        assert "it sends the token to another host" in done.stderr
        assert len(other.tokens) == asked
