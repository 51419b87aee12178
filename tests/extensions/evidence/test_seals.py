"""Sealed runs: what `seal` writes, and what `verify` finds if anything of it was changed."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.config import Options
from ais_prompt.extensions.evidence.seal_file import LOCK, SEAL, SIGNATURE, Seal, merkle_root, statement_leaf, unpack
from ais_prompt.extensions.evidence.verify import ask_again
from ais_prompt.store import RunFolder
from tests.core.unit.cli.test_output import document
from tests.support.cli import run_cli
from tests.support.servers import MockServer

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


SERVED = "dict(type='OpenAIChatModel', abbr='m', model='mock', base_url='{url}', stream=True)"


def sealed(folder: Path, *commands: list[str], config: str = CONFIG) -> None:
    """Run commands with another config, and seal its run."""
    shutil.rmtree(folder / "outputs")
    (folder / "e.py").write_text(config)
    for command in (*commands, ["seal", "e", "-o", "e.seal"]):
        done = run_cli(*command, folder=folder)
        assert done.returncode == 0, done.stderr


def served(server: MockServer) -> str:
    """Return the config with a model behind a server."""
    scripted = CONFIG.splitlines()[1]
    return CONFIG.replace(scripted, f"models = [{SERVED.format(url=server.base_url)}]")


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
        seal = replace(msgspec.json.decode(files[SEAL], type=Seal), leaves=len(leaves))
        files[SEAL] = msgspec.json.encode(replace(seal, root=merkle_root([statement_leaf(seal), *leaves])))
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


def without_wrong_answers(files: dict[str, bytes]) -> None:
    """Leave out the samples that were answered wrongly, wherever they are."""
    name = "predictions/m/sums.jsonl"
    wrong = {one["id"] for one in map(json.loads, files[name].splitlines()) if one["prediction"] == "7"}
    for file, key in ((name, "id"), ("journal/m/sums.jsonl", "sample_id")):
        lines = files[file].splitlines(keepends=True)
        files[file] = b"".join(line for line in lines if json.loads(line)[key] not in wrong)
    facts = json.loads(files["run.json"])
    facts["tasks"]["m/sums"]["samples"] -= len(wrong)
    files["run.json"] = json.dumps(facts).encode()


def score_again(folder: Path) -> None:
    """Put scores into the seal that fit its answers."""
    run = folder / "forged"
    unpack(folder / "e.seal", run)
    assert run_cli("score", str(run), folder=folder).returncode == 0
    forge(folder, lambda files: files.update({"results/m/sums.json": (run / "results/m/sums.json").read_bytes()}))


@pytest.mark.process
def test_wrong_answers_that_were_left_out_are_found(folder: Path) -> None:
    forge(folder, without_wrong_answers)
    score_again(folder)
    done = run_cli("verify", "e.seal", folder=folder)
    assert done.returncode == 1
    assert "m/sums: 3 samples of 5 are left out" in done.stdout


@pytest.mark.process
def test_a_run_that_says_it_ended_early_is_not_known_to_be_whole(folder: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        without_wrong_answers(files)
        facts = json.loads(files["run.json"])
        facts["tasks"]["m/sums"]["of"] = 5
        files["run.json"] = json.dumps(facts).encode()

    forge(folder, change)
    score_again(folder)
    assert verified(folder)[1]["prompts"][0] is None


@pytest.mark.process
def test_a_dataset_that_was_left_out_is_found(folder: Path) -> None:
    second = CONFIG + "datasets.append({**datasets[0], 'abbr': 'more'})\n"
    sealed(folder, ["run", "e.py"], config=second)
    assert verified(folder)[0] == 0

    def change(files: dict[str, bytes]) -> None:
        for name in [name for name in files if name.endswith(("more.json", "more.jsonl"))]:
            del files[name]
        facts = json.loads(files["run.json"])
        del facts["tasks"]["m/more"]
        files["run.json"] = json.dumps(facts).encode()

    forge(folder, change)
    assert verified(folder)[1]["data"] == [False, True]


JUDGED = CONFIG.replace(
    "pred_postprocessor=dict(type='gsm8k_postprocess')))]", "))]\ndatasets[0]['eval_cfg'] = dict(evaluator=dict(JUDGE))"
).replace(
    "JUDGE",
    "type='GenericLLMEvaluator', judge_cfg=dict(type='ScriptedModel', abbr='judge', default='CORRECT? B'), "
    "prompt_template=dict(type='PromptTemplate', template='{q} {a} {prediction}')",
)


def test_verdicts_of_a_judge_are_claimed_only_where_it_was_asked_again(folder: Path) -> None:
    sealed(folder, ["run", "e.py"], config=JUDGED)
    code, found = verified(folder)
    assert (code, found["scores"], found["judges"]) == (0, [True], [None])
    code, found = verified(folder, "--config", "e.py", "--ask", "3")
    assert (code, found["model"]) == (0, [True])

    [run] = (folder / "outputs/e").iterdir()
    replies = run / "judge/m/journal/judge/sums.jsonl"
    replies.write_text(replies.read_text().replace("CORRECT? B", "CORRECT? A"))
    shutil.rmtree(run / "judge/m/predictions")
    for command in (["score", "e"], ["seal", "e", "-o", "e.seal"]):
        assert run_cli(*command, folder=folder).returncode == 0
    assert verified(folder)[1]["judges"] == [None]
    assert verified(folder, "--config", "e.py", "--ask", "1")[1]["model"] == [False]


def test_a_dataset_that_was_left_out_is_found_by_a_config_of_the_verifier(folder: Path) -> None:
    (folder / "own.py").write_text(CONFIG + "datasets.append({**datasets[0], 'abbr': 'more'})\n")
    code, found = verified(folder, "--config", "own.py")
    assert (code, found["data"]) == (1, [False, True])


def test_tasks_that_the_config_of_the_verifier_has_not_are_not_known(folder: Path) -> None:
    sealed(folder, ["run", "e.py"], config=CONFIG + "datasets.append({**datasets[0], 'abbr': 'more'})\n")
    (folder / "own.py").write_text(CONFIG)
    code, found = verified(folder, "--config", "own.py")
    assert (code, found["data"], "content" in found) == (0, [None, True], True)


@pytest.mark.parametrize(
    "name",
    [
        "results/m/other.json",
        "results/other/sums.json",
        "predictions/m/other.jsonl",
        "journal/m/other.jsonl",
        "journal/m/sums/sums.jsonl",
        "judge/m/journal/judge/sums.jsonl",
        "shards/1/journal/m/other.jsonl",
    ],
)
def test_files_of_no_task_are_found(folder: Path, name: str) -> None:
    forge(folder, lambda files: files.update({name: b'{"scores": []}\n'}))
    code, found = verified(folder)
    assert (code, found["content"]) == (1, [True, False])


def test_an_empty_file_that_was_added_or_removed_is_found(folder: Path) -> None:
    forge(folder, lambda files: files.update({"results/m/more.jsonl": b""}), seal_again=False)
    assert verified(folder)[1]["content"] == [False]


@pytest.mark.parametrize(
    "change",
    [
        replaced(SEAL, b'Z"', b'Z\\nsignature  OK  signed by the key that you named"'),
        replaced(SEAL, b'"ais-prompt": "', b'"ais-prompt": "\\u001b[8m'),
        replaced(SEAL, b'"ais-prompt": "', b'"ais-prompt": "1\\n'),
        lambda files: files.update({"results/m/x\x1b[8m\nsignature  OK.json": b"{}"}),
        lambda files: files.update({"x\nsignature  OK": b"{}"}),
    ],
    ids=["date", "version", "line of a version", "name of a file", "strange file"],
)
def test_a_seal_writes_no_line_of_the_report(folder: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    forge(folder, change)
    done = run_cli("verify", "e.seal", folder=folder)
    assert done.returncode in (1, 2)
    assert "\x1b" not in done.stdout + done.stderr
    assert not any(line.startswith("signature  OK") for line in (done.stdout + done.stderr).splitlines())


def test_a_seal_of_many_lines_or_values_is_refused_before_it_is_read(folder: Path) -> None:
    many = {"lines": b"\n" * 5_000_000, "values": b"[" + b"[]," * 5_000_000 + b"1]\n"}
    for name, content in many.items():
        with zipfile.ZipFile(folder / f"{name}.seal", "w", zipfile.ZIP_DEFLATED) as archive:
            with zipfile.ZipFile(folder / "e.seal") as old:
                archive.writestr(SEAL, old.read(SEAL))
            archive.writestr("predictions/m/x.jsonl", content)
            archive.writestr("predictions/m/y.jsonl", random.Random(1).randbytes(100_000))  # so that it is large enough
        done = run_cli("verify", f"{name}.seal", folder=folder)
        assert (done.returncode, "has more lines or values" in done.stderr) == (2, True), done.stderr


@pytest.mark.process
def test_scores_that_were_left_out_are_not_known(folder: Path) -> None:
    forge(folder, lambda files: files.pop("results/m/sums.json"))  # type: ignore[arg-type,return-value]
    assert verified(folder)[1]["scores"] == [None]


@pytest.mark.process
def test_the_date_and_the_versions_of_a_seal_are_sealed(folder: Path) -> None:
    forge(folder, replaced(SEAL, b'"made": "20', b'"made": "19'), seal_again=False)
    assert verified(folder)[1]["content"] == [False]


@pytest.mark.process
def test_another_version_is_named(folder: Path) -> None:
    forge(folder, replaced(SEAL, b'"ais-prompt": "', b'"ais-prompt": "9.'))
    done = run_cli("verify", "e.seal", folder=folder)
    assert done.returncode == 0
    assert "with ais-prompt 9." in done.stdout
    assert ", verified with " in done.stdout


@pytest.mark.process
def test_another_order_of_the_answers_is_found(folder: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        name = "predictions/m/sums.jsonl"
        files[name] = b"".join(files[name].splitlines(keepends=True)[::-1])

    forge(folder, change)
    code, found = verified(folder)
    assert (code, found["prompts"], found["scores"]) == (1, [True, True], [False])


def test_a_run_of_a_server_is_verified_and_asked_again(folder: Path, server: MockServer) -> None:
    sealed(folder, ["run", "e.py"], config=served(server))
    code, found = verified(folder, "--config", "e.py", "--ask", "5")
    assert (code, found["prompts"], found["scores"], found["model"]) == (0, [True], [True], [True])
    server.follow({"answer": "no idea"})
    assert verified(folder, "--config", "e.py", "--ask", "5")[1]["model"] == [False]


def test_a_run_of_shards_is_verified_and_asked_again(folder: Path, server: MockServer) -> None:
    shards = [["run", "e.py", "-r", "night", "--shard", f"{number}/2"] for number in range(2)]
    sealed(folder, *shards, config=served(server))
    assert not list((folder / "outputs").glob("*/*/journal"))
    code, found = verified(folder, "--config", "e.py", "--ask", "5")
    assert (code, found["prompts"], found["scores"], found["model"]) == (0, [True], [True], [True])


def test_times_of_a_load_are_sealed_but_not_known_to_be_true(folder: Path, server: MockServer) -> None:
    sealed(folder, ["run", "e.py", "-m", "perf"], config=served(server))
    with zipfile.ZipFile(folder / "e.seal") as archive:
        assert "performances/m/sums.json" in archive.namelist()
    code, found = verified(folder)
    assert (code, found["prompts"], found["performance"], found["scores"]) == (0, [True, True], [None], [None])


def test_a_sweep_is_sealed_load_by_load(folder: Path, server: MockServer) -> None:
    (folder / "s.py").write_text(served(server))
    assert run_cli("run", "s.py", "-m", "perf", "--sweep", "concurrency=1,2", folder=folder).returncode == 0
    done = run_cli("seal", "s", folder=folder)
    assert done.returncode == 2
    assert "the run has several loads" in done.stderr
    command = done.stderr.split("aisprompt ")[-1].split()
    assert run_cli(*command, "-o", "e.seal", folder=folder).returncode == 0
    assert verified(folder)[0] == 0


@pytest.mark.process
def test_a_share_of_forged_answers_is_found_as_often_as_is_promised(folder: Path) -> None:
    rows = [{"q": f"{n}+{n}", "a": "7"} for n in range(4, 44)]
    (folder / "data/sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    sealed(folder, ["run", "e.py"])
    forged, tries, asked = 10, 30, 3

    def change(files: dict[str, bytes]) -> None:
        lines = files["journal/m/sums.jsonl"].splitlines(keepends=True)
        lines[:forged] = [line.replace(b'"7"', b'"8"') for line in lines[:forged]]
        files["journal/m/sums.jsonl"] = b"".join(lines)
        ids = [json.loads(line)["sample_id"].encode() for line in lines[:forged]]
        predictions = files["predictions/m/sums.jsonl"].splitlines(keepends=True)
        files["predictions/m/sums.jsonl"] = b"".join(
            line.replace(b'"prediction":"7"', b'"prediction":"8"').replace(b'"text":"7"', b'"text":"8"')
            if any(id_ in line for id_ in ids)
            else line
            for line in predictions
        )

    forge(folder, change)
    score_again(folder)
    assert verified(folder)[0] == 0
    source = Options(str(folder / "e.py"), overrides=(f"paths_relative_to={str(folder)!r}",))
    found = 0
    for number in range(tries):
        run = folder / f"try{number}"
        unpack(folder / "e.seal", run)
        finding = ask_again(RunFolder(run), source, asked, "aisprompt verify")
        found += finding.holds is False
    expected = tries * (1 - (1 - forged / len(rows)) ** asked)
    assert abs(found - expected) < 4 * (expected * (1 - expected / tries)) ** 0.5


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
    assert "more than 300 times its size" in done.stderr
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


@pytest.mark.thorough
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


def test_a_missing_seal_has_a_document(tmp_path: Path) -> None:
    [error] = document(tmp_path, "verify", "missing.seal", code=2)["errors"]
    assert "missing.seal" in error["what"]
    assert error["fix"].endswith("verify --help")
