"""`aisprompt data`: what arrives is what its lock says, whatever happens on the way."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ais_prompt.errors import DataError
from ais_prompt.extensions.benchmarks.cards.catalog_dataset import CatalogDataset
from ais_prompt.extensions.benchmarks.get import unpack
from tests.support.cli import run_cli
from tests.support.hub import FakeHub, fake_hub

ROWS = [{"question": f"What is {n}+{n}?", "answer": f"It is {2 * n}.\n#### {2 * n}"} for n in range(2000)]


def parquet(rows: list[dict[str, Any]]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AISPROMPT_DATA", str(tmp_path / "data"))
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "data"


@pytest.fixture
def hub(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda _seconds: None)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with fake_hub() as running:
        running.files = {
            "main/train/0000.parquet": parquet(ROWS[:5]),
            "main/test/0000.parquet": parquet(ROWS),
            "socratic/test/0000.parquet": parquet(ROWS[:1]),
        }
        monkeypatch.setenv("HF_ENDPOINT", running.endpoint)
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files as their publisher has them."""
    place = tmp_path / "brought" / "grade_school_math" / "data"
    place.mkdir(parents=True)
    for split, rows in {"train": ROWS[:5], "test": ROWS[:7]}.items():
        (place / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "brought"


def data(*args: object) -> CompletedProcess[str]:
    return run_cli("data", *map(str, args))


def lock_of(root: Path) -> dict[str, Any]:
    return dict(json.loads((root / "gsm8k/data.lock").read_text()))


@pytest.mark.thorough
def test_the_hub_brings_rows_and_the_lock_names_the_commit(root: Path, hub: FakeHub) -> None:
    done = data("get", "gsm8k")
    assert done.returncode == 0, done.stderr
    assert "train 5 rows, test 2,000 rows" in done.stdout
    assert list(CatalogDataset("gsm8k").read("test")) == ROWS
    lock = lock_of(root)
    assert (lock["kind"], lock["origin"], lock["revision"]) == ("hub", "openai/gsm8k", hub.commit)
    assert set(lock["files"]) == {"main/train/0000.parquet", "main/test/0000.parquet"}
    assert data("check", "gsm8k").stdout == data("check").stdout == "gsm8k: as in its lock\n"
    sent = hub.sent
    assert "here already" in data("get", "gsm8k").stdout
    assert hub.sent == sent


@pytest.mark.thorough
def test_a_download_that_breaks_off_goes_on_where_it_broke(
    root: Path, hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 100)  # what is written together
    hub.breaks = 2
    # Version 1 of huggingface_hub does not go on by itself, but by the command that the error names.
    tries = (data("get", "gsm8k") for _ in range(3))
    assert next((done for done in tries if done.returncode == 0), None), "it broke off three times"
    assert list(CatalogDataset("gsm8k").read("test")) == ROWS
    assert hub.ranges, "nothing was resumed"
    assert hub.sent < 1.5 * sum(map(len, hub.files.values())) + 2000


def test_a_hub_that_never_sends_a_whole_file_is_an_error_and_leaves_no_lock(root: Path, hub: FakeHub) -> None:
    hub.breaks = 10**6
    done = data("get", "gsm8k")
    assert done.returncode == 2
    assert "run it again: the download goes on" in done.stderr
    assert not (root / "gsm8k").exists()


def test_a_hub_that_cannot_be_reached_is_no_broken_download(
    root: Path, hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    done = data("get", "gsm8k")
    assert done.returncode == 2
    assert "the files cannot be listed: " in done.stderr
    assert "where: http://127.0.0.1:9/datasets/openai/gsm8k" in done.stderr
    assert "check the connection, name a mirror with HF_ENDPOINT" in done.stderr
    assert not (root / "gsm8k").exists()


@pytest.mark.thorough
def test_a_file_with_other_bytes_than_listed_is_refused_and_removed(root: Path, hub: FakeHub) -> None:
    hub.corrupt = True
    done = data("get", "gsm8k")
    assert done.returncode == 2
    assert "is not the file that the hub lists" in done.stderr
    hub.corrupt = False
    assert data("get", "gsm8k").returncode == 0
    assert list(CatalogDataset("gsm8k").read("test")) == ROWS


@pytest.mark.thorough
def test_changed_rows_at_the_publisher_are_named_and_taken_only_with_update(root: Path, hub: FakeHub) -> None:
    assert data("get", "gsm8k").returncode == 0
    before = lock_of(root)
    changed = [*ROWS[:3], {**ROWS[3], "answer": "#### 7"}, *ROWS[4:]]
    hub.files["main/test/0000.parquet"] = parquet(changed)
    (root / "gsm8k/test.parquet").unlink()
    done = data("get", "gsm8k")
    assert done.returncode == 2
    assert "test: row 3 changed" in done.stderr
    assert "--update" in done.stderr
    assert lock_of(root) == before
    assert data("get", "gsm8k", "--update").returncode == 0
    assert list(CatalogDataset("gsm8k").read("test")) == changed


@pytest.mark.thorough
def test_what_the_hub_refuses_says_what_to_do(root: Path, hub: FakeHub) -> None:
    hub.gated = True
    assert "accept its terms at" in data("get", "gsm8k").stderr
    hub.gated = False
    hub.files = {"README.md": b"moved"}
    assert "has no files" in data("get", "gsm8k").stderr
    hub.repo = "else/where"
    assert "the hub does not have it" in data("get", "gsm8k").stderr


def test_offline_nothing_is_asked(root: Path, hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    done = data("get", "gsm8k")
    assert done.returncode == 2
    assert "HF_HUB_OFFLINE is set" in done.stderr
    assert hub.sent == 0


def test_a_file_of_another_version_is_named_as_such(root: Path, hub: FakeHub) -> None:
    hub.files["main/test/0000.parquet"] = parquet([{"problem": "1+1", "answer": "2"}])
    done = data("get", "gsm8k")
    assert done.returncode == 2
    assert "another version of gsm8k: no column 'question' (it has 'problem', 'answer')" in done.stderr
    assert not list(root.glob("*gsm8k*"))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (parquet([{"question": {"text": "1+1"}, "answer": "2"}]), "the column 'question' has objects"),
        (b"", "the file is empty"),
        (parquet(ROWS)[:-20], "the file is not Parquet"),
        (parquet(ROWS)[:200], "the file is not Parquet"),
        (parquet([{"question": "1+1", "answer": "2"}][:0]), "the file has no rows"),
    ],
)
def test_files_that_are_broken_or_hold_something_else(root: Path, tmp_path: Path, content: bytes, why: str) -> None:
    for split, rows in (("train", parquet(ROWS[:3])), ("test", content)):
        file = tmp_path / "brought" / "main" / split / "0000.parquet"
        file.parent.mkdir(parents=True)
        file.write_bytes(rows)
    done = data("get", "gsm8k", "--from", tmp_path / "brought")
    assert done.returncode == 2
    assert why in done.stderr
    assert f"where: {tmp_path / 'brought' / 'main' / 'test' / '0000.parquet'}" in done.stderr
    assert not list(root.glob("*gsm8k*"))


@pytest.mark.parametrize("form", ["folder", "zip", "tar.gz"])
def test_a_folder_or_archive_that_was_brought(root: Path, folder: Path, tmp_path: Path, form: str) -> None:
    source = folder
    if form == "zip":
        source = tmp_path / "brought.zip"
        with zipfile.ZipFile(source, "w") as packed:
            for file in folder.rglob("*.jsonl"):
                packed.write(file, file.relative_to(folder))
    elif form == "tar.gz":
        source = tmp_path / "brought.tar.gz"
        with tarfile.open(source, "w:gz") as tar:
            tar.add(folder, ".")
    done = data("get", "gsm8k", "--from", source)
    assert done.returncode == 0, done.stderr
    assert list(CatalogDataset("gsm8k").read("test")) == ROWS[:7]
    assert lock_of(root)["kind"] == "files"
    assert sorted(path.name for path in root.iterdir()) == ["gsm8k"]


def test_stored_data_of_another_machine_keep_their_lock(root: Path, folder: Path, tmp_path: Path) -> None:
    assert data("get", "gsm8k", "--from", folder).returncode == 0
    other = tmp_path / "other machine"
    root.rename(other)
    assert data("get", "gsm8k", "--from", other).returncode == 0
    assert lock_of(root) == json.loads((other / "gsm8k/data.lock").read_text())
    (other / "gsm8k/test.parquet").write_bytes(b"broken")
    done = data("get", "gsm8k", "--from", other)
    assert done.returncode == 2
    assert "are not those of its lock" in done.stderr
    assert data("check", "gsm8k").returncode == 0


@pytest.mark.thorough
@pytest.mark.parametrize("split", ["../../escaped", "/escaped", "..", "a/b", "", "a\\b", "a\0b", ".hidden", "-x"])
def test_a_split_of_a_lock_is_no_path(root: Path, folder: Path, tmp_path: Path, split: str) -> None:
    assert data("get", "gsm8k", "--from", str(folder)).returncode == 0
    brought = tmp_path / "x" / "y" / "z"
    shutil.copytree(root / "gsm8k", brought)
    lock = json.loads((brought / "data.lock").read_text())
    lock["splits"][split] = lock["splits"]["test"]
    (brought / "data.lock").write_text(json.dumps(lock))
    for ending in ("parquet", "rows"):
        shutil.copyfile(brought / f"test.{ending}", tmp_path / "x" / f"escaped.{ending}")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    done = data("get", "gsm8k", "--from", str(brought))
    assert (done.returncode, "is no name" in done.stderr) == (2, True), done.stderr
    assert before == {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}


def test_check_names_the_rows_that_changed_and_a_run_refuses_them(root: Path, folder: Path) -> None:
    data("get", "gsm8k", "--from", folder)
    changed = [*ROWS[:2], {**ROWS[2], "answer": "#### 5"}, *ROWS[3:7]]
    (root / "gsm8k/test.parquet").write_bytes(parquet(changed))
    done = data("check", "gsm8k")
    assert (done.returncode, done.stdout) == (1, "gsm8k: not as in its lock\n  test: row 2 changed\n")
    with pytest.raises(DataError, match="are not those of its lock"):
        CatalogDataset("gsm8k").read("test")
    (root / "gsm8k/test.parquet").write_bytes(parquet(ROWS[1:7]))
    assert "test: 7 rows became 6\n  test: row 0 is gone" in data("check", "gsm8k").stdout
    (root / "gsm8k/test.parquet").write_bytes(b"PAR1")
    assert "test: the file is not Parquet" in data("check", "gsm8k").stdout


def test_data_that_are_nowhere_are_an_error_with_the_command(root: Path) -> None:
    done = run_cli("check", "--models", "demo_chat", "--datasets", "gsm8k_gen_4shot_chat")
    assert done.returncode == 2
    assert "fix:   aisprompt data get gsm8k" in done.stderr


def test_wrong_names_and_paths(root: Path, tmp_path: Path) -> None:
    assert "did you mean 'gsm8k'?" in data("get", "gsm8").stderr
    assert "there is no such folder or file" in data("get", "gsm8k", "--from", tmp_path / "nowhere").stderr
    (tmp_path / "empty").mkdir()
    done = data("get", "gsm8k", "--from", tmp_path / "empty")
    assert "there are no files of gsm8k here: it is empty" in done.stderr
    assert "train.jsonl and test.jsonl" in done.stderr


def test_two_files_that_could_be_the_same_split(root: Path, folder: Path) -> None:
    other = folder / "old"
    other.mkdir()
    (other / "test.jsonl").write_text(json.dumps(ROWS[0]))
    assert "could be the test split" in data("get", "gsm8k", "--from", folder).stderr


@pytest.mark.usefixtures("root")
def test_without_a_name_there_is_nothing_to_get_and_all_that_is_here_to_check() -> None:
    assert data("check").stdout == "no data are here: aisprompt data get NAME\n"
    done = data("get")
    assert done.returncode == 2
    assert "Name the benchmarks to get" in done.stderr


def _tar(path: Path, **member: Any) -> Path:
    with tarfile.open(path, "w") as tar:
        info = tarfile.TarInfo(member.pop("name"))
        for key, value in member.items():
            setattr(info, key, value)
        tar.addfile(info, io.BytesIO(b"x" * info.size))
    return path


@pytest.mark.parametrize(
    ("member", "why"),
    [
        ({"name": "../out.txt", "size": 1}, "leads out"),
        ({"name": "/etc/out.txt", "size": 1}, "leads out"),
        ({"name": "a/../../out.txt", "size": 1}, "leads out"),
        ({"name": "C:\\out.txt", "size": 1}, "leads out"),
        ({"name": "link", "type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}, "link or device"),
        ({"name": "link", "type": tarfile.LNKTYPE, "linkname": "../secret"}, "link or device"),
        ({"name": "pipe", "type": tarfile.FIFOTYPE}, "link or device"),
        ({"name": "large.bin", "size": 1001}, "larger than 1,000 bytes"),
    ],
)
def test_a_hostile_archive_is_refused(tmp_path: Path, member: dict[str, Any], why: str) -> None:
    archive = _tar(tmp_path / "bad.tar", **member)
    target = tmp_path / "in" / "here"
    target.mkdir(parents=True)
    with pytest.raises(DataError, match=why):
        unpack(archive, target, most_bytes=1000)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.tar", "in"]
    assert not (tmp_path / "in" / "out.txt").exists()


def test_headers_of_a_tar_archive_are_bounded_before_they_are_read(tmp_path: Path) -> None:
    pax = tarfile.XHDTYPE
    sparse = b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n31 GNU.sparse.name=aaaaaaaaaaa\n"
    headers = {
        "a long name": [(tarfile.GNUTYPE_LONGNAME, b"n" * 2**20)],
        "a long link": [(tarfile.GNUTYPE_LONGLINK, b"n" * 2**20)],
        "attributes": [(pax, b"n" * 2**20)],
        "attributes of all files": [(tarfile.XGLTYPE, b"n" * 2**20)],
        "many names": [(tarfile.GNUTYPE_LONGNAME, b"n" * 4000)] * 9,
        "digits": [(pax, b"7" * 4000)],
        "a sparse file": [(pax, sparse), (tarfile.REGTYPE, b"99999999\n" + b"1\n" * 2**19)],
    }
    for name, members in headers.items():
        for mode in ("w", "w:gz", "w:bz2", "w:xz"):
            archive = tmp_path / "bad.tar"
            with tarfile.open(archive, mode) as tar:  # type: ignore[call-overload]
                for kind, content in (*members, (tarfile.REGTYPE, b"")):
                    info = tarfile.TarInfo("x")
                    info.type, info.size = kind, len(content)
                    tar.addfile(info, io.BytesIO(content))
            (target := tmp_path / f"{name} {mode[2:]}").mkdir()
            with pytest.raises(DataError, match="a header has"):
                unpack(archive, target)
    with tarfile.open(tmp_path / "folders.tar", "w") as tar:
        for number in range(9):
            info = tarfile.TarInfo(f"folder{number}")
            info.type = tarfile.DIRTYPE
            tar.addfile(info)
    with pytest.raises(DataError, match="more than 8 files"):
        unpack(tmp_path / "folders.tar", tmp_path / "folders", most_files=8)


@pytest.mark.parametrize("name", ["cut.tar.gz", "cut.zip", "empty.tgz", "text.tar"])
def test_an_archive_that_is_damaged(root: Path, folder: Path, tmp_path: Path, name: str) -> None:
    whole = io.BytesIO()
    if name.endswith(".zip"):
        with zipfile.ZipFile(whole, "w") as packed:
            for file in folder.rglob("*.jsonl"):
                packed.write(file, file.name)
    else:
        with tarfile.open(fileobj=whole, mode="w:gz") as tar:
            tar.add(folder, ".")
    content = whole.getvalue()
    cut = {"empty.tgz": b"", "text.tar": b"Not found"}.get(name, content[: len(content) // 2])
    (tmp_path / name).write_bytes(cut)
    done = data("get", "gsm8k", "--from", tmp_path / name)
    assert done.returncode == 2
    assert "the archive cannot be unpacked: " in done.stderr
    assert f"where: {tmp_path / name}" in done.stderr
    assert "fix:   copy or download it again" in done.stderr
    assert not list(root.glob("*gsm8k*"))


def test_faults_inside_an_archive_name_the_archive(root: Path, folder: Path, tmp_path: Path) -> None:
    archive = tmp_path / "brought.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in folder.rglob("*.jsonl"):
            packed.writestr(file.name, '{"problem": "1+1"}\n')
    assert f"where: {archive}/train.jsonl, row 0" in data("get", "gsm8k", "--from", archive).stderr
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("other.txt", "")
    done = data("get", "gsm8k", "--from", archive)
    assert "there are no files of gsm8k here: it has other.txt" in done.stderr
    assert f"where: {archive}\n" in done.stderr


def test_a_zip_bomb_and_a_link_in_a_zip_are_refused(tmp_path: Path) -> None:
    bomb, link = tmp_path / "bomb.zip", tmp_path / "link.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("zeros", b"0" * 10**6)
    with zipfile.ZipFile(link, "w") as packed:
        info = zipfile.ZipInfo("link")
        info.external_attr = 0o120777 << 16
        packed.writestr(info, "/etc/passwd")
    for archive, why in ((bomb, "larger than"), (link, "link or device")):
        target = tmp_path / archive.stem
        target.mkdir()
        with pytest.raises(DataError, match=why):
            unpack(archive, target, most_bytes=1000)
    with pytest.raises(DataError, match="more than 0 files"):
        unpack(bomb, tmp_path / "bomb", most_files=0)
