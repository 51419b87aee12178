"""Judges that rate or compare answers, read by functions of a peer: from the config to the scores."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.extensions.peers.code import session
from tests.support.cli import run_cli
from tests.support.peer_package import write_peer
from tests.support.servers import MockServer

pytestmark = pytest.mark.process

LM = "opencompass.openicl.icl_evaluator.LMEvaluator"
FUNCTIONS = "opencompass.datasets"
MODEL = {"type": "ScriptedModel", "abbr": "m", "answers": {"riddle 0": "zero", "riddle 1": "one"}, "default": "many"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of all tests: one process of the peer works there for all of them."""
    place = tmp_path_factory.mktemp("judges")
    write_peer(place / "peer")
    yield place
    session._SESSION.stop()


@pytest.fixture
def folder(place: Path) -> Path:
    for name in ("data", "old", "outputs"):
        shutil.rmtree(place / name, ignore_errors=True)
    data = place / "data" / "riddles"
    data.mkdir(parents=True)
    for split in ("train", "test"):
        rows = [{"q": f"riddle {n}", "a": {"kind": "hard"}, "task": "Rate {prediction}!"} for n in range(4)]
        (data / f"easy_{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "old").mkdir()
    old = {str(n): {"prediction": f"old {n}"} for n in range(4)}
    (place / "old" / "riddles.json").write_text(json.dumps(old))
    return place


def dataset(function: str | None, template: str, **changes: Any) -> dict[str, Any]:
    reading = {"dict_postprocessor": {"type": f"{FUNCTIONS}.{function}"}} if function else {}
    options = changes.pop("options", {})
    return {
        "abbr": "riddles",
        "type": "opencompass.datasets.RiddleDataset",
        "path": "org/riddles",
        "reader_cfg": {"input_columns": ["q"], "output_column": "a"},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": "{q}"},
            "inferencer": {"type": "GenInferencer"},
        },
        "eval_cfg": {
            "evaluator": {
                "type": LM,
                "prompt_template": {"type": "PromptTemplate", "template": template},
                **reading,
                **options,
            }
        },
        "mode": "singlescore",
        **changes,
    }


class Run:
    """A run of one dataset."""

    def __init__(
        self, folder: Path, described: dict[str, Any], judge: dict[str, Any], *others: dict[str, Any], verb: str = "run"
    ) -> None:
        judges = [{"type": "ScriptedModel", "abbr": "judge", **one} for one in (judge, *others)]
        config = {"models": [MODEL], "datasets": [described], "judge_models": judges}
        (folder / "eval.py").write_text("".join(f"{key} = {value!r}\n" for key, value in config.items()))
        result = run_cli(
            verb, "eval.py", "--peer-path", "peer", folder=folder, environment={"AISPROMPT_PEER_PATH": None}
        )
        self.code, self.shown = result.returncode, result.stdout + result.stderr
        self.scores: dict[str, dict[str, Any]] = {}
        self.details: list[dict[str, Any]] = []
        self.asked: list[str] = []
        for file in folder.glob("outputs/*/*/results/m/*.json"):
            found = json.loads(file.read_text())
            self.scores = {score["metric"]: score for score in found["scores"]}
            self.details = found["details"]
        for file in folder.glob("outputs/*/*/judge/m/predictions/judge/*.jsonl"):
            self.asked = [json.loads(line)["origin_prompt"][0]["content"] for line in file.read_text().splitlines()]


def test_ratings_become_scores(folder: Path) -> None:
    judge = {"answers": {"zero": "[[2]]", "one": "[[4]]"}, "default": "[[9]]"}
    run = Run(folder, dataset("judged.ratings", "{q}: {prediction} ({prediction_en_word_count} words)"), judge)
    assert run.code == 0, run.shown
    assert run.asked == [f"riddle {n}: {said} (1 words)" for n, said in enumerate(["zero", "one", "many", "many"])]
    assert list(run.scores) == ["total", "hard"]
    assert run.scores["total"]["value"] == 6.0
    assert run.scores["total"]["interval"] is not None  # the details have a value for each answer
    assert [one["values"]["total"] for one in run.details] == [2, 4, 9, 9]


def test_each_of_several_judges_has_its_score(folder: Path) -> None:
    strict = {"abbr": "strict", "answers": {"zero": "[[1]]", "one": {"failure": "http_500"}}, "default": "[[5]]"}
    judge = {"answers": {"zero": "[[2]]", "one": "[[4]]"}, "default": "[[9]]"}
    run = Run(folder, dataset("judged.ratings", "{q}: {prediction}"), judge, strict)
    assert run.code == 1, run.shown  # an answer that a judge did not rate is left out for both
    assert "the judges score together" in " ".join(run.shown.split())
    assert list(run.scores)[:2] == ["total", "hard"]
    values = {name: score["value"] for name, score in run.scores.items()}
    assert values["total by judge"] == pytest.approx(20 / 3)
    assert values["total by strict"] == pytest.approx(11 / 3)
    assert values["total"] == pytest.approx(31 / 6)
    assert run.scores["total by strict"]["interval"] is not None
    assert values["krippendorff_alpha"] is not None
    assert [one["status"] for one in run.details] == ["scored", "failed", "scored", "scored"]
    assert run.details[0]["verdicts"] == [
        {"judge": "judge", "vote": 2.0, "orders": []},
        {"judge": "strict", "vote": 1.0, "orders": []},
    ]


def test_several_judges_of_right_and_wrong_have_their_accuracies(folder: Path) -> None:
    judges = [
        {"abbr": "first", "answers": {"zero": "A", "one": "A"}, "default": "B"},
        {"abbr": "second", "answers": {"zero": "A"}, "default": "B"},
        {"abbr": "third", "answers": {"zero": "A", "one": "A"}, "default": "A"},
    ]
    described = dataset("generic_llmjudge_postprocess", "{q}: {prediction}")  # with mode="singlescore"
    run = Run(folder, described, *judges)
    assert run.code == 0, run.shown
    assert {name: score["value"] for name, score in run.scores.items() if name != "krippendorff_alpha"} == {
        "accuracy": 0.5,
        "accuracy by first": 0.5,
        "accuracy by second": 0.25,
        "accuracy by third": 1.0,
    }


def test_a_prompt_that_a_row_brings_along_shows_the_answer(folder: Path) -> None:
    run = Run(folder, dataset("judged.ratings", "{task}"), {"default": "[[1]]"})
    assert run.asked[:2] == ["Rate zero!", "Rate one!"], run.shown


def test_a_judge_that_fails_costs_the_sample(folder: Path) -> None:
    judge = {"answers": {"zero": {"failure": "http_500"}}, "default": "[[3]]"}
    run = Run(folder, dataset("judged.ratings", "{prediction}"), judge)
    assert run.code == 1
    assert run.scores["total"]["value"] == 3.0
    first = run.details[0]
    assert (first["status"], first.get("reason")) == ("failed", "judge http_500")
    assert run.scores["total"]["counts"] == {"scored": 3, "unparsed": 0, "truncated": 0, "failed": 1}


@pytest.mark.parametrize(("order", "questions", "rate"), [("double", 8, 50.0), (None, 4, 0.0)])
def test_answers_are_compared_with_those_of_another_model(
    folder: Path, order: str | None, questions: int, rate: float
) -> None:
    described = dataset(
        "judged.duels",
        "1: {prediction} 2: {prediction2}",
        mode="m2n",
        base_models=[{"abbr": "old"}],
        given_pred=[{"abbr": "old", "path": "./old"}],
        options={"keep_predictions": True},
        **({"infer_order": order} if order else {}),
    )
    run = Run(folder, described, {"default": "A"})  # it prefers the first
    assert len(run.asked) == questions, run.shown
    assert run.asked[0] == "1: old 0 2: zero"
    assert run.scores["win_rate"]["value"] == rate


def test_ratings_against_a_base_model_are_shown_below_the_scores(folder: Path) -> None:
    described = dataset(
        "judged.duels",
        "1: {prediction} 2: {prediction2}",
        mode="m2n",
        base_models=[{"abbr": "old"}],
        given_pred=[{"abbr": "old", "path": "./old"}],
        summarizer={"type": "opencompass.summarizers.CompassArenaBradleyTerrySummarizer", "with_control_vars": False},
        options={"keep_predictions": True},
    )
    # One of four answers is better: 1 to 3 are 191 points.
    run = Run(folder, described, {"answers": {"zero": "B"}, "default": "A"}, {"abbr": "kind", "default": "C"})
    assert run.code == 0, run.shown
    lines = [line.split() for line in run.shown.splitlines()]
    for judge, rating, rate in (("judge", "809.15", "0.2500"), ("kind", "1000.00", "0.5000")):
        heading, _, *rows = lines[lines.index(f"riddles by {judge}: bt_rating · old is 1000".split()) :][:4]
        shown = {name: (rating, rate, battles) for _, name, rating, _, rate, battles in rows}
        assert shown == {"m": (rating, rate, "4"), "old": ("1000.00", "0.5000", "4")}, heading


def test_metrics_are_the_means_over_several_base_models(folder: Path) -> None:
    """A summarizer reads what the judge says; no function does."""
    given = {str(n): {"prediction": f"other {n}"} for n in range(4)}
    (folder / "old" / "other.json").write_text(json.dumps(given))
    described = dataset(
        None,
        "1: {prediction} 2: {prediction2}",
        mode="m2n",
        base_models=[{"abbr": "old"}, {"abbr": "other"}],
        given_pred=[{"abbr": "old", "path": "./old"}, {"abbr": "other", "path": "./old/other.json"}],
        summarizer={"type": "opencompass.summarizers.CompassBenchSummarizer"},
    )
    judge = {"answers": {"1: old": '"choice": "B++"', "1: other 0": '"choice": "A+"'}, "default": '"choice": "A=B"'}
    run = Run(folder, described, judge)
    found = {name: score["value"] for name, score in run.scores.items()}
    assert found == {"score": 43.75, "old/score": 100.0, "other/score": -12.5}, run.shown


def test_a_range_of_rows_is_compared_with_the_same_rows(folder: Path) -> None:
    described = dataset(
        "judged.duels",
        "{prediction} {prediction2}",
        mode="m2n",
        base_models=[{"abbr": "old"}],
        given_pred=[{"abbr": "old", "path": "./old"}],
        options={"keep_predictions": True},
    )
    described["reader_cfg"]["test_range"] = "[1:2]"
    assert Run(folder, described, {"default": "A"}).asked == ["old 1 one"]


def test_a_function_may_ask_for_the_rows(folder: Path) -> None:
    run = Run(folder, dataset("judged.by_rows", "{prediction}"), {"answers": {"zero": "zero!", "one": "one?"}})
    assert {name: score["value"] for name, score in run.scores.items()} == {"score": 2.0, "rows": 4.0}, run.shown


def test_what_nothing_reads_is_kept(folder: Path) -> None:
    run = Run(folder, dataset(None, "{prediction}"), {"default": "fine"})
    assert run.code == 0, run.shown
    assert "nothing in the config reads what the judge says" in " ".join(run.shown.split())
    assert len(run.asked) == 3 + 1
    assert list(run.scores) == ["judged"]


def test_check_finds_what_is_missing(folder: Path) -> None:
    missing = dataset("judged.unheard_of", "{prediction}")
    assert "there is no opencompass.datasets.judged.unheard_of" in " ".join(
        Run(folder, missing, {}, verb="check").shown.split()
    )
    wrong = dataset("judged.ratings", "{prediction}")
    wrong["eval_cfg"]["evaluator"]["dict_postprocessor"]["colour"] = 1
    assert "unexpected keyword argument 'colour'" in " ".join(Run(folder, wrong, {}, verb="check").shown.split())
    (folder / "old" / "riddles.json").unlink()
    keys = {"mode": "m2n", "base_models": [{"abbr": "old"}], "given_pred": [{"abbr": "old", "path": "./old"}]}
    shown = " ".join(Run(folder, dataset("judged.duels", "{prediction}", **keys), {}, verb="check").shown.split())
    assert "there are no answers of the model 'old' to 'riddles'" in shown


def test_a_judge_behind_a_server_is_asked_once_and_not_again(folder: Path, server: MockServer) -> None:
    server.follow({"text": "", "answer": "[[7]]"})
    judge = {"type": "OpenAIChatModel", "model": "j", "base_url": server.base_url, "api_key": None}
    run = Run(folder, dataset("judged.ratings", "{q} {prediction}"), judge)
    assert run.code == 0, run.shown
    assert run.scores["total"]["value"] == 7.0
    assert len(server.requests()) == 4
    again = run_cli("score", "eval", "--peer-path", "peer", folder=folder, environment={"AISPROMPT_PEER_PATH": None})
    assert again.returncode == 0, again.stderr
    assert len(server.requests()) == 4


@pytest.mark.parametrize("rule", ["Detailed", "WholeOnly"])
def test_the_rule_of_a_cascade_may_ask_for_the_rows(folder: Path, rule: str) -> None:
    judge = {
        "type": "opencompass.evaluator.GenericLLMEvaluator",
        "prompt_template": {"type": "PromptTemplate", "template": "{q}: {prediction}?"},
        "dict_postprocessor": {"type": "opencompass.datasets.generic_llmjudge_postprocess"},
    }
    described = dataset(None, "")
    del described["mode"]
    described["reader_cfg"]["output_column"] = "word"
    described["eval_cfg"]["evaluator"] = {
        "type": "opencompass.evaluator.CascadeEvaluator",
        "rule_evaluator": {"type": f"opencompass.openicl.icl_evaluator.{rule}"},
        "llm_evaluator": judge,
    }
    rows = [{"q": f"riddle {n}", "word": word} for n, word in enumerate(["zero", "two", "many", "few"])]
    for split in ("train", "test"):
        (folder / "data" / "riddles" / f"easy_{split}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows)
        )
    run = Run(folder, described, {"answers": {"riddle 1": "A"}, "default": "B"})
    assert run.asked == ["riddle 1: one?", "riddle 3: many?"], run.shown
    assert {name: score["value"] for name, score in run.scores.items()} == {"accuracy": 0.75, "rule_accuracy": 0.5}
