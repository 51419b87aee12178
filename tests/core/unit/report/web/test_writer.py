from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ais_prompt.errors import StoreError
from ais_prompt.report import ServedReport, forget_report, write_report
from ais_prompt.report.web import pages
from ais_prompt.scoring import UNUSABLE_GOLD
from ais_prompt.types import ChatMessage, Completion, Failure, Likelihood, Prediction, SampleScore, Usage
from tests.core.unit.report.web.making import make_run, prediction, scored
from tests.core.unit.report.web.reading import Report, read_report, with_texts

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    '"><img src=x onerror=alert(1)>',
    "\ud800 lone, \x00 control, \u202e backwards, \u2028 line",
    "${title} $body {{x}}",
]


def written(root: Path, predictions: Sequence[Prediction], samples: Sequence[SampleScore] = ()) -> Report:
    folder = make_run(root, predictions, samples)
    write_report(folder)
    return read_report(folder.report)


def test_a_sample_says_what_was_asked_answered_and_made_of_it(tmp_path: Path) -> None:
    asked = prediction(0, "2+2=?", Completion("It is 5.", "stop", Usage(7, 4), 0.5, reasoning="2 and 2\nare 5"))
    report = written(tmp_path, [asked], [scored(0, 0.0, "5")])
    sample = report.sample()
    [request] = sample["requests"]
    [answer] = request["answers"]
    assert (request["prompt"], answer["text"], answer["thinking"]) == ("2+2=?", "It is 5.", "2 and 2\nare 5")
    assert (answer["prompt_tokens"], answer["completion_tokens"], answer["seconds"]) == (7, 4, 0.5)
    assert sample["verdicts"] == [{"extracted": "5", "gold": "4"}]
    assert sample["values"] == {"accuracy": 0.0}
    table = report.unpacked("task-0-table")
    assert (table["state"], table["question"], table["tokens"]) == (["wrong"], ["2+2=?"], [4])
    assert report.data["tasks"][0]["unit"] == "tokens"


def test_the_overview_has_the_scores_of_the_summary_and_the_states_of_samples(tmp_path: Path) -> None:
    failure = Completion(failure=Failure("timeout", "no answer in 60 s"))
    predictions = [prediction(0), prediction(1), prediction(2, "x", failure, answer=None), prediction(3), prediction(4)]
    samples = [
        scored(0),
        scored(1, 0.0),
        SampleScore("id2", "failed", reason="timeout"),
        SampleScore("id3", "unparsed", None, "4", {"accuracy": 0.0}, reason="no answer found"),
        SampleScore("id4", "failed", reason=f"{UNUSABLE_GOLD}: it is empty"),
    ]
    data = written(tmp_path, predictions, samples).data
    [line] = data["scores"]
    assert (line["metric"], line["n"], line["failed"], line["unparsed"]) == ("accuracy", 5, 2, 1)
    [shown] = data["tasks"]
    assert shown["states"] == {"right": 1, "wrong": 1, "failed": 1, "no_gold": 1, "unparsed": 1}
    assert shown["reasons"] == {"timeout": 1, "no answer found": 1, f"{UNUSABLE_GOLD}: it is empty": 1}
    assert (data["name"], data["time"], data["status"]) == ("eval", "20260131_120000", "finished")


def test_the_table_has_the_last_line_of_an_answer_from_which_nothing_was_extracted(tmp_path: Path) -> None:
    answers = ["It is 5.", "2 and 2\nI cannot say. \n", " \n", None]
    failure = Failure("timeout", "no answer in 60 s")
    predictions = [
        prediction(at, "x", Completion(text) if text is not None else Completion(failure=failure), answer=text)
        for at, text in enumerate(answers)
    ]
    unparsed = [SampleScore(f"id{at}", "unparsed", None, "4", {"accuracy": 0.0}) for at in (1, 2)]
    samples = [scored(0), *unparsed, SampleScore("id3", "failed", reason="timeout")]
    assert written(tmp_path, predictions, samples).unpacked("task-0-table")["unread"] == [
        None,
        "I cannot say.",
        None,
        None,
    ]


def test_a_run_that_was_not_scored_shows_answers(tmp_path: Path) -> None:
    cut = prediction(1, "x", Completion("It is", "length"))
    report = written(tmp_path, [prediction(0), cut])
    assert report.unpacked("task-0-table")["state"] == ["answered", "truncated"]
    assert report.data["scores"][0]["note"] == "not scored: predictions only"


def test_turns_of_a_dialogue_stand_with_their_answers(tmp_path: Path) -> None:
    first = (ChatMessage("user", "2+2=?"),)
    second = (*first, ChatMessage("assistant", "4"), ChatMessage("user", "and 1 more?"))
    lost = Completion(failure=Failure("timeout", "late"))
    asked = prediction(0, (first, second), Completion("4", "stop"), lost, gold=["4", "5"], answer=["4", None])
    requests = written(tmp_path, [asked]).sample()["requests"]
    assert [len(request["prompt"]) for request in requests] == [1, 3]
    assert requests[1]["prompt"][2] == {"role": "user", "parts": [{"text": "and 1 more?"}]}
    assert requests[0]["answers"][0]["text"] == "4"
    assert requests[1]["answers"][0]["failure"]["kind"] == "timeout"


def test_labels_keep_their_prompts_and_figures(tmp_path: Path) -> None:
    found = {
        "A": {"prompt": "so: A", "ppl": 1.5, "tokens": 3},
        "B": {"prompt": "so: B", "ppl": float("nan"), "tokens": 3},
    }
    likely = Completion(likelihood=Likelihood(4.5, 3, 3, 5))
    chosen = Prediction("id0", 0, "so: A", "A", "B", (likely, likely), labels=found)
    labels = written(tmp_path, [chosen]).sample()["labels"]
    assert [(label["label"], label["chosen"], label["prompt"]) for label in labels] == [
        ("A", True, "so: A"),
        ("B", False, "so: B"),
    ]
    assert labels[0]["figures"] == {"ppl": 1.5, "tokens": 3}
    assert labels[1]["figures"]["ppl"] is None


def test_each_answer_to_a_question_has_its_own_verdict(tmp_path: Path) -> None:
    asked = prediction(0, "2+2=?", Completion("4"), Completion("five"), answer=["4", "five"])
    one, other = scored(0), SampleScore("id0", "unparsed", None, "4", {"accuracy": 0.0}, "no answer found")
    both = SampleScore("id0", "unparsed", ["4", None], "4", {"accuracy": 0.5}, repeats=(one, other))
    report = written(tmp_path, [asked], [both])
    assert report.sample()["verdicts"] == [
        {"extracted": "4", "gold": "4", "status": "scored", "reason": "", "value": 1.0},
        {"extracted": None, "gold": "4", "status": "unparsed", "reason": "no answer found", "value": 0.0},
    ]
    assert report.unpacked("task-0-table")["extracted"] == ["4 · –"]


def test_media_are_told_in_one_line(tmp_path: Path) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 40_000}}
    parts = ({"type": "text", "text": "What is this?"}, image)
    folder = make_run(tmp_path, [prediction(0, (ChatMessage("user", parts),))])
    write_report(folder)
    [message] = read_report(folder.report).sample()["requests"][0]["prompt"]
    assert message["parts"][0] == {"text": "What is this?"}
    assert message["parts"][1]["media"].startswith("image, image/png, 29.3 KiB: data:image/png;base64,AAA")
    assert "A" * 200 not in folder.report.read_text("utf-8")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_leaves_its_place(tmp_path: Path, text: str) -> None:
    asked = prediction(0, (ChatMessage("user", text),), Completion(text, "stop", reasoning=text), gold=text)
    folder = make_run(tmp_path, [asked], [scored(0, 0.0, text, text)], dataset="a" + text, model="b" + text)
    folder.config_file.write_text(f"# {text}", "utf-8", "backslashreplace")
    write_report(folder)
    report = read_report(folder.report)
    sample = report.sample()
    assert sample["requests"][0]["prompt"][0]["parts"][0]["text"] == text
    assert sample["requests"][0]["answers"][0]["text"] == sample["verdicts"][0]["gold"] == text
    assert report.data["tasks"][0]["model"] == "b" + text
    assert set(report.blocks) == {"data", "labels", "task-0-table", "task-0-chunk-0"}
    assert "<img" not in folder.report.read_text("utf-8")


@pytest.mark.thorough
@given(texts=st.lists(st.text(st.characters()), min_size=1, max_size=6))
@settings(max_examples=30)
def test_every_text_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    predictions = [prediction(number, text, Completion(text)) for number, text in enumerate(texts)]
    report = written(tmp_path_factory.mktemp("run"), predictions)
    for number, text in enumerate(texts):
        [request] = report.sample(number)["requests"]
        assert (request["prompt"], request["answers"][0]["text"]) == (text, text)


def test_samples_lie_in_chunks_that_the_table_knows(tmp_path: Path) -> None:
    report = written(tmp_path, [prediction(number, f"{number}+1=?") for number in range(450)])
    table = report.unpacked("task-0-table")
    assert (table["chunks"], table["index"]) == ([200, 200, 50], list(range(450)))
    assert table["question"] == [f"{number}+1=?" for number in range(450)]
    assert report.sample(49, chunk=2)["requests"][0]["prompt"] == "449+1=?"


def test_results_of_other_samples_are_nobodys(tmp_path: Path) -> None:
    """Of the run that is there a sample came later, one went, and two changed their places."""
    samples = [scored(number, number / 4) for number in (3, 0, 7, 2)]
    report = written(tmp_path, [prediction(number) for number in range(4)], samples)
    table = report.unpacked("task-0-table")
    assert table["value"] == [0.0, None, 0.5, 0.75]
    assert table["state"] == ["wrong", "answered", "partial", "partial"]


def test_characters_are_counted_where_tokens_are_not_known(tmp_path: Path) -> None:
    told = Completion("four", "stop", Usage(7, 2))
    report = written(tmp_path, [prediction(0, "x", told), prediction(1, "x", Completion("four!", "stop"))])
    assert report.data["tasks"][0]["unit"] == "characters"
    assert report.unpacked("task-0-table")["characters"] == [4, 5]
    assert report.data["lengths"]["characters"]["groups"][0]["median"] == 4


def test_broken_results_are_told(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [prediction(0), prediction(1)], [scored(0), scored(1)])
    path = folder.results("model", "sums")
    path.write_bytes(path.read_bytes().replace(b'"sample_id":"id1"', b'"sample":"id1"'))
    write_report(folder)
    [shown] = read_report(folder.report).data["tasks"]
    assert shown["samples"] == 1
    assert "missing required field 'sample_id'" in shown["trouble"]
    assert "aisprompt score" in shown["trouble"]


@pytest.mark.thorough
def test_shots_that_prompts_share_take_little_room(tmp_path: Path) -> None:
    shots = "\n".join(f"Question {n}: a text of some length, number {n}\nAnswer: {n}" for n in range(200))
    folder = make_run(tmp_path, [prediction(number, f"{shots}\n{number}+1=?") for number in range(1000)])
    write_report(folder)
    assert folder.report.stat().st_size < 340_000 < len(shots) * 1000 / 30


def test_a_broken_predictions_file_is_told(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [prediction(0), prediction(1)])
    with folder.predictions("model", "sums").open("a") as stream:
        stream.write("{broken\n")
    write_report(folder)
    [shown] = read_report(folder.report).data["tasks"]
    assert shown["samples"] == 2
    assert "not JSON" in shown["trouble"]


@pytest.mark.parametrize("content", ["", "{}", "[1]", '[{"model": "a"}]'])
def test_a_summary_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    folder = make_run(tmp_path, [prediction(0)])
    (folder.summary_dir / "summary.json").write_text(content)
    with pytest.raises(StoreError, match=r"summary|JSON"):
        write_report(folder)
    assert not folder.report.exists()


def test_numbers_that_json_does_not_know_are_left_out(tmp_path: Path) -> None:
    asked: Any = prediction(0, "x", Completion("y", seconds=float("nan")))
    report = written(tmp_path, [asked], [scored(0, float("nan"))])
    assert report.unpacked("task-0-table")["value"] == [None]
    assert report.data["scores"][0]["score"] is None


def test_the_samples_are_in_the_file_up_to_a_size_and_else_in_view_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(tmp_path, [prediction(number) for number in range(100)])
    monkeypatch.setattr(pages, "CHUNK_SAMPLES", 10)
    for most, has_samples in ((1_000_000, True), (500, False)):
        monkeypatch.setattr(pages, "MOST_BYTES", most)
        forget_report(folder)
        write_report(folder)
        report = read_report(folder.report)
        assert report.data["has_samples"] == has_samples
        assert ("task-0-table" in report.blocks) == ("task-0-chunk-0" in report.blocks) == has_samples
        assert report.data["tasks"][0]["samples"] == 100
        assert report.data["tasks"][0]["states"] == {"answered": 100}


def test_the_file_and_view_show_the_same_of_each_sample(tmp_path: Path) -> None:
    failed = prediction(1, "x\ny", Completion(failure=Failure("timeout", "no answer in 60 s")), answer=None)
    folder = make_run(tmp_path, [prediction(0), failed, prediction(2)], [scored(0), scored(2, 0.0)])
    write_report(folder)
    report, served = read_report(folder.report), ServedReport(folder)
    served.index().wait(whole=True)
    for number in range(3):
        chunk = served.sample(f"number={number}")
        assert with_texts(chunk["samples"][0], chunk["lines"]) == report.sample(number)
