"""Runs with loaders, evaluators and postprocessors of a peer, from the config to the scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.extensions.peers.code import session
from tests.support.cli import run_cli
from tests.support.peer_package import write_peer

pytestmark = pytest.mark.process

EVALUATORS = "opencompass.openicl.icl_evaluator"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    write_peer(tmp_path / "peer")
    data = tmp_path / "data" / "riddles"
    data.mkdir(parents=True)
    for split in ("train", "test"):
        rows = [{"q": f"{split} riddle {n}", "a": str(n)} for n in range(6)]
        (data / f"easy_{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    yield tmp_path
    session._SESSION.stop()


def dataset(abbr: str, evaluator: str, **changes: Any) -> dict[str, Any]:
    return {
        "abbr": abbr,
        "type": "opencompass.datasets.RiddleDataset",
        "path": "org/riddles",
        "reader_cfg": {"input_columns": ["q"], "output_column": "a"},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": "{q}"},
            "inferencer": {"type": "GenInferencer"},
        },
        "eval_cfg": {
            "evaluator": {"type": f"{EVALUATORS}.{evaluator}"},
            "pred_postprocessor": {"type": "opencompass.utils.texts.last_word"},
        },
        **changes,
    }


def run(folder: Path, *datasets: dict[str, Any], **model: Any) -> tuple[int, str, dict[str, list[dict[str, Any]]]]:
    """Run datasets, and return the exit code, what was shown, and dataset → its scores."""
    answers = {"riddle 0": "it is 0", "riddle 1": "it is 1", "riddle 2": {"failure": "http_400"}, "riddle 3": ""}
    models = [{"type": "ScriptedModel", "abbr": "m", "answers": answers, "default": "it is 9", **model}]
    (folder / "eval.py").write_text(f"models = {models!r}\ndatasets = {list(datasets)!r}\n")
    result = run_cli("run", "eval.py", "--peer-path", "peer", folder=folder, environment={"AISPROMPT_PEER_PATH": None})
    found = {file.stem: json.loads(file.read_text())["scores"] for file in folder.glob("outputs/*/*/results/m/*.json")}
    return result.returncode, result.stdout + result.stderr, found


def test_an_evaluator_scores_what_was_answered(folder: Path) -> None:
    code, shown, scores = run(folder, dataset("riddles", "Detailed"))
    assert code == 1, shown  # a sample failed
    accuracy, questions, _ = scores["riddles"]
    assert (accuracy["metric"], accuracy["value"]) == ("accuracy", 0.4)
    assert accuracy["interval"] is not None
    assert accuracy["counts"] == {"scored": 4, "unparsed": 1, "truncated": 0, "failed": 1}
    assert (questions["metric"], questions["value"], questions["interval"]) == ("questions", 5.0, None)


def test_repeats_are_scored_one_by_one(folder: Path) -> None:
    _, shown, scores = run(folder, dataset("riddles", "Detailed", n=2), answers={"riddle [01]": "it is 1"})
    assert scores["riddles"][0]["value"] == pytest.approx(1 / 6), shown
    assert scores["riddles"][0]["repeats"] == 2


def test_probabilities_of_choices_are_one_answer(folder: Path) -> None:
    module = folder / "peer" / "opencompass" / "openicl" / "icl_evaluator" / "detailed.py"
    lengths = "{'pairs': sum(len(one) == 2 for one in predictions)}"
    module.write_text(
        f"{module.read_text()}\n\nclass Pairs:\n    def score(self, predictions):\n        return {lengths}\n"
    )
    asked = {"prompt_template": {"type": "PromptTemplate", "template": "{q}"}}
    asked["inferencer"] = {"type": "CLPInferencer", "choices": ["yes", "no"]}
    scoring = {"evaluator": {"type": f"{EVALUATORS}.Pairs"}}
    likely = {"prompt_style": "text", "likelihoods": {"yes": 1.0, "no": 2.0}}
    _, shown, scores = run(folder, dataset("riddles", "Pairs", infer_cfg=asked, eval_cfg=scoring), **likely)
    assert scores["riddles"][0]["value"] == 6.0, shown


def test_a_crash_ends_one_task(folder: Path) -> None:
    module = folder / "peer" / "opencompass" / "openicl" / "icl_evaluator" / "detailed.py"
    crash = "\n\nclass Crash:\n    def score(self, predictions, references):\n        import os\n        os._exit(9)\n"
    module.write_text(module.read_text() + crash)
    code, shown, scores = run(folder, dataset("bad", "Crash"), dataset("good", "Detailed"))
    assert code != 0
    assert "ended its process: exit code 9" in shown
    assert list(scores) == ["good"]


def test_scores_of_a_stored_run(folder: Path) -> None:
    _, _, scores = run(folder, dataset("riddles", "Detailed"))
    path = next((folder / "outputs").glob("*/*/run.json")).parent
    result = run_cli("score", str(path), "--peer-path", "peer", folder=folder)
    assert f"{scores['riddles'][0]['value']:.1%}".replace("%", " %") in result.stdout


@pytest.mark.parametrize(
    ("template", "expected"), [("RiddleTemplate", "Solve (13): test riddle 0"), ("TwoTurns", "writes 2 turns, not one")]
)
def test_a_template_with_code_of_its_own_writes_the_prompts(folder: Path, template: str, expected: str) -> None:
    described = dataset("riddles", "Detailed")
    described["infer_cfg"]["prompt_template"] = {"type": f"opencompass.datasets.written.{template}"}
    _, shown, _ = run(folder, described)
    sent = [
        json.loads(line)["origin_prompt"][0]["content"]
        for file in folder.glob("outputs/*/*/predictions/m/*.jsonl")
        for line in file.read_text().splitlines()
    ]
    assert expected in (sent[0] if sent else " ".join(shown.split())), shown
