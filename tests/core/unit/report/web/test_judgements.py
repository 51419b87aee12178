"""What judges were asked about a sample, with the verdict of each reply."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ais_prompt.judges import question_id
from ais_prompt.report import Judgement, SampleChunk, ServedReport, judgement_places, read_judgements
from ais_prompt.store import RunFolder, write_predictions
from ais_prompt.types import Completion, JudgeVerdict, Prediction, SampleScore
from ais_prompt.utils import encode
from tests.core.unit.report.web.making import make_run


def places(folder: RunFolder, sample_id: str) -> list[tuple[Path, int]]:
    return [(path, start) for name, path, start in judgement_places(folder, "model", "pairs") if name == sample_id]


def judgements(folder: RunFolder, sample_id: str) -> list[Judgement]:
    return read_judgements(places(folder, sample_id))


ANSWER = Prediction("id0", 0, "Q", "an answer", None, (Completion("an answer"),))


def test_both_orders_and_both_judges_have_their_verdicts(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    said = {"one": ("[[A]]", "[[A]]"), "org/two": ("[[A]]", "hm")}
    score = SampleScore(
        "id0",
        "scored",
        "an answer",
        None,
        {"win_rate": 0.5},
        verdicts=(JudgeVerdict("one", 0.5, ("first", "first")), JudgeVerdict("org/two", None, ("first", None))),
    )
    for judge, replies in said.items():
        write_predictions(
            folder.judge("model").predictions(judge, "pairs"),
            [
                Prediction(question_id(score, swapped=bool(place)), place, "Which?", text, None, (Completion(text),))
                for place, text in enumerate(replies)
            ],
        )
    found = judgements(folder, "id0")
    assert [(one.judge, one.said.prediction, *one.verdict_of(score, ANSWER)) for one in found] == [
        ("one", "[[A]]", "first", False),
        ("one", "[[A]]", "first", True),
        ("org%2Ftwo", "[[A]]", "first", False),
        ("org%2Ftwo", "hm", None, True),
    ]
    chunk = SampleChunk()
    chunk.add(ANSWER, score, places(folder, "id0"))
    shown = chunk.samples[0]["judgements"]
    assert [(one["judge"], one["verdict"], one["swapped"]) for one in shown[:2]] == [
        ("one", "first", False),
        ("one", "first", True),
    ]


def test_a_judgement_of_another_answer_has_no_verdict(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    reply = Prediction("id0-0123456789ab", 0, "Which?", "[[A]]", None, (Completion("[[A]]"),))
    write_predictions(folder.judge("model").predictions("one", "pairs"), [reply])
    [found] = judgements(folder, "id0")
    score = SampleScore("id0", "scored", "x", None, {}, verdicts=(JudgeVerdict("one", "A"),))
    assert found.verdict_of(score, ANSWER) == (None, False)
    assert found.verdict_of(None, ANSWER) == (None, False)


class Asking:
    """Asks about three parts of an answer, in a question about all or in a question about each."""

    def __init__(self, *, together: bool) -> None:
        self._together = together

    def parts(self, gold: Any) -> list[dict[str, Any]]:
        return [{"asked": f"all of {gold}"}] if self._together else [{"asked": one} for one in "abc"]

    def marks(self, vote: str | float | None, gold: Any) -> list[float | None]:
        return [float(one in str(vote)) for one in "abc"]

    def said(self, vote: str | float | None, gold: Any) -> list[tuple[str, Any]]:
        return [(one, one in str(vote)) for one in "abc"]

    def marks_by_name(self, answer: SampleScore) -> dict[str, float]:
        return {}


def test_a_reply_has_what_it_says_of_each_part() -> None:
    for together in (True, False):
        asking = Asking(together=together)
        score = SampleScore("id0", "failed", "an answer", "gold", verdicts=(JudgeVerdict("one", "ac"),))
        names = [question_id(score, part=part) for part in asking.parts("gold")]
        replies = [Judgement("one", Prediction(name, 0, "?", "", None, ())) for name in names]
        said = [one.said_of_parts(score, ANSWER, asking) for one in replies]
        each = [("a", True), ("b", False), ("c", True)]
        assert said == ([each] if together else [[one] for one in each])
        assert {one.verdict_of(score, ANSWER)[1] for one in replies} == {False}
        other = Judgement("one", Prediction("id0-0123456789ab", 0, "?", "", None, ()))
        assert other.said_of_parts(score, ANSWER, asking) == other.said_of_parts(None, ANSWER, asking) == []


def test_a_served_sample_reads_only_the_lines_of_its_own_judgements(tmp_path: Path) -> None:
    samples = [SampleScore(f"id{n}", "scored", f"answer {n}", None, {"accuracy": 1.0}) for n in range(3)]
    answers = [Prediction(f"id{n}", n, "Q", f"answer {n}", None, (Completion(f"answer {n}"),)) for n in range(3)]
    folder = make_run(tmp_path, answers, samples, dataset="pairs")
    path = folder.judge("model").predictions("one", "pairs")
    replies = [
        Prediction(question_id(score), n, "Which?", f"reply {n}", None, (Completion(f"reply {n}"),))
        for n, score in enumerate(samples)
    ]
    write_predictions(path, replies)
    report = ServedReport(folder)
    report.index().wait(whole=True)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([b"x" * (len(lines[0]) - 1) + b"\n", *lines[1:]]))
    for number in (1, 2):
        shown = report.sample(f"number={number}")
        [judgement] = shown["samples"][0]["judgements"]
        assert judgement["judge"] == "one"
        assert f"reply {number}" in str(shown["lines"])


def test_a_broken_file_of_a_judge_takes_away_only_what_is_broken(tmp_path: Path) -> None:
    samples = [SampleScore(f"id{n}", "scored", f"answer {n}", None, {"accuracy": 1.0}) for n in range(3)]
    answers = [Prediction(f"id{n}", n, "Q", f"answer {n}", None, (Completion(f"answer {n}"),)) for n in range(3)]
    folder = make_run(tmp_path, answers, samples, dataset="pairs")
    path = folder.judge("model").predictions("one", "pairs")
    replies = [
        Prediction(question_id(score), n, "Which?", f"reply {n}", None, (Completion(f"reply {n}"),))
        for n, score in enumerate(samples)
    ]
    write_predictions(path, replies)
    first, _, third = path.read_bytes().splitlines(keepends=True)
    no_prediction = encode({"id": question_id(samples[1])})
    path.write_bytes(first[:20] + b"\n" + no_prediction + third)
    folder.judge("model").predictions("two", "pairs").mkdir(parents=True)
    report = ServedReport(folder)
    report.index().wait(whole=True)
    none, failed, whole = (report.sample(f"number={n}")["samples"][0]["judgements"] for n in range(3))
    assert none == []
    assert [one["judge"] for one in failed + whole] == ["one", "one"]
    assert "not a prediction" in str(failed)
