"""Sealed runs: what `seal` writes, and what `verify` finds if anything of it was changed."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.extensions.seals.seal_file import LOCK, SEAL, SIGNATURE, merkle_root
from tests.support.cli import run_cli

CONFIG = """
models = [dict(type='ScriptedModel', abbr='m', answers={'2.2': 'It is 4.', '3.3': '6'}, default='7')]
datasets = [dict(type='LocalDataset', abbr='sums', path='data/sums.jsonl',
    reader_cfg=dict(input_columns=['q'], output_column='a'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{q}?'), retriever=dict(type='ZeroRetriever'),
                   inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator'), pred_postprocessor=dict(type='gsm8k_postprocess')))]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a config, its data, a finished run and its seal."""
    (tmp_path / "data").mkdir()
    rows = [{"q": f"{n}+{n}", "a": str(2 * n)} for n in range(1, 6)]
    (tmp_path / "data/sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "e.py").write_text(CONFIG)
    for command in (["run", "e.py"], ["seal", "e", "-o", "e.seal"]):
        done = run_cli(*command, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    return tmp_path


def verified(folder: Path, *options: str) -> tuple[int, dict[str, list[bool | None]]]:
    """Return the exit code of `verify`, and what it found: subject → whether it holds."""
    done = run_cli("verify", "e.seal", "--json", *options, folder=folder)
    found: dict[str, list[bool | None]] = {}
    for one in json.loads(done.stdout)["findings"]:
        found.setdefault(one["subject"], []).append(one["holds"])
    return done.returncode, found


def forge(folder: Path, change: Callable[[dict[str, bytes]], None], *, seal_again: bool = True) -> None:
    """Change files of the seal, and write a seal that fits them, as somebody would who wants to deceive."""
    with zipfile.ZipFile(folder / "e.seal") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    if seal_again:
        leaves = []
        for name in sorted(files.keys() - {SEAL, SIGNATURE}):
            parts = files[name].splitlines(keepends=True) if name.endswith(".jsonl") else [files[name]]
            leaves += [hashlib.sha256(b"\0" + name.encode() + b"\0" + part).digest() for part in parts]
        files[SEAL] = json.dumps(
            json.loads(files[SEAL]) | {"root": merkle_root(leaves), "leaves": len(leaves)}
        ).encode()
    with zipfile.ZipFile(folder / "e.seal", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def replaced(name: str, old: bytes, new: bytes) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        assert old in files[name]
        files[name] = files[name].replace(old, new)

    return change


def test_the_tree_is_that_of_rfc_6962() -> None:
    def whole(leaves: list[bytes]) -> bytes:  # its section 2.1, as it is written
        if len(leaves) == 1:
            return leaves[0]
        split = 1
        while split * 2 < len(leaves):
            split *= 2
        return hashlib.sha256(b"\1" + whole(leaves[:split]) + whole(leaves[split:])).digest()

    for number in range(1, 40):
        leaves = [hashlib.sha256(bytes([one])).digest() for one in range(number)]
        assert merkle_root(leaves) == whole(leaves).hex()
    assert merkle_root([]) == hashlib.sha256().hexdigest()


@given(st.lists(st.binary(max_size=4), max_size=9), st.data())
def test_every_change_of_a_leaf_changes_the_root(texts: list[bytes], data: st.DataObject) -> None:
    leaves = [hashlib.sha256(text).digest() for text in texts]
    number = data.draw(st.integers(0, len(leaves)))
    other = [*leaves[:number], hashlib.sha256(b"another").digest(), *leaves[number + data.draw(st.integers(0, 1)) :]]
    assert merkle_root(leaves) != merkle_root(other)


@pytest.mark.process
def test_an_honest_run_is_verified(folder: Path) -> None:
    code, found = verified(folder)
    assert (code, found) == (
        0,
        {"content": [True], "signature": [None], "data": [True], "prompts": [True, True], "scores": [True]},
    )
    shutil.copytree(folder / "data", folder / "elsewhere/data")
    shutil.rmtree(folder / "data")
    assert verified(folder)[1]["data"] == [None]
    assert verified(folder, "--data", "elsewhere") == (code, found)


@pytest.mark.process
@pytest.mark.parametrize(
    ("change", "differs"),
    [
        (replaced("predictions/m/sums.jsonl", b"It is 4.", b"It is 5."), "prompts"),
        (replaced("predictions/m/sums.jsonl", b'"2+2?"', b'"2+3?"'), "prompts"),
        (replaced("journal/m/sums.jsonl", b'"key":"2:', b'"key":"2:0'), "prompts"),
        (replaced("results/m/sums.json", b'"value": 0.4', b'"value": 0.8'), "scores"),
        (replaced(LOCK, b'"5 rows ', b'"5 rows 0'), "prompts"),
    ],
    ids=["answer", "prompt", "key", "score", "lock"],
)
def test_what_was_changed_before_it_was_sealed_is_found(
    folder: Path, change: Callable[[dict[str, bytes]], None], differs: str
) -> None:
    forge(folder, change)
    code, found = verified(folder)
    assert found["content"] == [True]
    assert code == 1
    assert False in found[differs]


@pytest.mark.process
def test_what_was_changed_afterwards_is_found_first(folder: Path) -> None:
    root = json.loads(zipfile.ZipFile(folder / "e.seal").read(SEAL))["root"]
    assert verified(folder, "--root", root)[0] == 0
    assert verified(folder, "--root", "0" * 64) == (1, {"content": [False], "signature": [None]})
    forge(folder, replaced("run.json", b"finished", b"Finished"), seal_again=False)
    assert verified(folder) == (1, {"content": [False], "signature": [None]})


@pytest.mark.process
def test_other_data_are_found(folder: Path) -> None:
    rows = folder / "data/sums.jsonl"
    rows.write_text(rows.read_text().replace('"a": "8"', '"a": "7"'))
    code, found = verified(folder)
    assert code == 1
    assert found["data"] == [False]
    assert found["prompts"] == [False, False]  # its gold is part of a prediction


@pytest.mark.process
def test_answers_that_were_forged_throughout_are_found_by_asking(folder: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        for name in ("journal/m/sums.jsonl", "predictions/m/sums.jsonl"):
            files[name] = files[name].replace(b'"7"', b'"8"')

    forge(folder, change)
    run = folder / "forged"
    with zipfile.ZipFile(folder / "e.seal") as archive:
        archive.extractall(run)
    assert run_cli("score", str(run), folder=folder).returncode == 0
    forge(folder, lambda files: files.update({"results/m/sums.json": (run / "results/m/sums.json").read_bytes()}))
    code, found = verified(folder)
    assert (code, found["prompts"], found["scores"]) == (0, [True, True], [True])
    code, found = verified(folder, "--config", "e.py", "--ask", "5")
    assert (code, found["model"]) == (1, [False])


@pytest.mark.process
def test_an_honest_model_gives_its_answers_again(folder: Path) -> None:
    code, found = verified(folder, "--config", "e.py", "--ask", "3")
    assert (code, found["model"]) == (0, [True])
    (folder / "other.py").write_text(CONFIG.replace("'6'", "'66'"))
    done = run_cli("verify", "e.seal", "--config", "other.py", "--ask", "3", folder=folder)
    assert done.returncode == 2
    assert "answered by another model" in done.stderr
    assert run_cli("verify", "e.seal", "--ask", "3", folder=folder).returncode == 2


@pytest.mark.process
def test_nothing_of_a_sealed_config_is_executed(folder: Path) -> None:
    (folder / "mine.py").write_text("open('executed', 'w')\n")
    forge(folder, replaced("config.py", b"'AccEvaluator'", b"'mine.Evaluator'"))
    code, found = verified(folder)
    assert (code, found["prompts"]) == (0, [None])
    assert not (folder / "executed").exists()


@pytest.mark.process
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda files: files.update({"../x.py": b""}), "a file that no seal has: ../x.py"),
        (lambda files: files.update({"predictions/../../x.jsonl": b""}), "a file that no seal has"),
        (lambda files: files.update({"predictions/m/x.sh": b""}), "a file that no seal has"),
        (lambda files: files.pop(SEAL), "it needs each file once"),
        (lambda files: files.update({SEAL: b"[]"}), "broken"),
        (lambda files: files.update({SEAL: files[SEAL].replace(b'"format": 1', b'"format": 2')}), "has form 2"),
    ],
)
def test_a_file_that_is_no_seal_is_refused(
    folder: Path, change: Callable[[dict[str, bytes]], None], words: str
) -> None:
    forge(folder, change, seal_again=False)
    done = run_cli("verify", "e.seal", folder=folder)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (folder.parent / "x.jsonl").exists()


@pytest.mark.process
def test_a_bomb_is_refused(folder: Path) -> None:
    with zipfile.ZipFile(folder / "bomb.seal", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr(SEAL, "{}")
        archive.writestr("predictions/m/x.jsonl", b"0" * 100_000_000)
    done = run_cli("verify", "bomb.seal", folder=folder)
    assert done.returncode == 2
    assert "more than 1,000 times its size" in done.stderr
    (folder / "text.seal").write_text("no zip")
    assert run_cli("verify", "text.seal", folder=folder).returncode == 2


@pytest.mark.process
def test_a_run_that_is_not_finished_is_not_sealed(folder: Path) -> None:
    [run] = (folder / "outputs/e").iterdir()
    (run / "run.json").write_text((run / "run.json").read_text().replace('"finished"', '"interrupted"'))
    done = run_cli("seal", "e", folder=folder)
    assert done.returncode == 2
    assert "the run is interrupted" in done.stderr


@pytest.mark.process
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs OpenSSH")
def test_a_signature_is_of_a_key_and_of_this_seal(folder: Path) -> None:
    for name in ("key", "other"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    assert verified(folder, "--signer", "key.pub")[1]["signature"] == [False]
    assert run_cli("seal", "e", "-o", "e.seal", "--sign", "key", folder=folder).returncode == 0
    assert verified(folder)[1]["signature"] == [None]
    assert verified(folder, "--signer", "key.pub")[1]["signature"] == [True]
    assert verified(folder, "--signer", "other.pub")[1]["signature"] == [False]
    forge(folder, replaced("run.json", b"finished", b"Finished"))
    code, found = verified(folder, "--signer", "key.pub")
    assert (code, found["content"], found["signature"]) == (1, [True], [False])
    done = run_cli("seal", "e", "--sign", "nowhere", folder=folder)
    assert done.returncode == 2
    assert "ssh-keygen" in done.stderr


def test_answers_that_were_asked_again_because_they_were_truncated_are_verified_so(folder: Path) -> None:
    cut = CONFIG.replace("default='7'", "default='one two three four 7', max_out_len=4")
    (folder / "e.py").write_text(cut)
    for command in (
        ["run", "e.py"],
        ["run", "e.py", "-r", "--retry-truncated", "max_out_len=9"],
        ["seal", "e", "-o", "e.seal"],
    ):
        (folder / "e.seal").unlink(missing_ok=True)
        done = run_cli(*command, folder=folder)
        assert done.returncode == 0, done.stderr
    code, found = verified(folder, "--config", "e.py", "--ask", "5")
    assert (code, found["model"], found["prompts"]) == (0, [True], [True])
