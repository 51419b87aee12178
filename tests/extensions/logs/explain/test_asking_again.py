"""`explain --ask`: prompt, decoding and chance are separated by asking again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.comparison import read_stored_run
from ais_prompt.extensions.logs.explain.asking_again import Questions, choose_questions, separate
from ais_prompt.extensions.logs.explain.ladder import explain_runs
from ais_prompt.types import Completion, Failure, Prediction
from tests.extensions.logs.writers import Asked, write_inspect, write_lm_eval
from tests.support.cli import run_cli
from tests.support.servers import MockServer, mock_server
from tests.support.waiting import wait_until

SHOUT = "Shout.\n\n{}"
NUMBERS = range(1, 13)


def question(number: int) -> str:
    """Braces must reach the model as they are."""
    return f"How many are {number}, {{so}}?"


def answer(number: int, *, shouted: bool = False, long: bool = False) -> str:
    """The model: a shouted prompt spoils every third answer, ``min_tokens`` every fourth."""
    is_wrong = (shouted and number % 3 == 0) or (long and number % 4 == 0)
    return f"ANSWER: {number + is_wrong}"


def asked(answers: Iterable[str]) -> list[Asked]:
    found = []
    for number, text in zip(NUMBERS, answers, strict=True):
        said = text.split()[-1]
        found.append(Asked(question(number), str(number), text, said, float(said == str(number))))
    return found


def rows(*, shouted: bool = False, long: bool = False) -> list[Asked]:
    return asked(answer(number, shouted=shouted, long=long) for number in NUMBERS)


def rules() -> list[dict[str, Any]]:
    """The script of the model for the mock server."""
    found: list[dict[str, Any]] = []
    for number in NUMBERS:
        text = question(number)
        if number % 4 == 0:
            found.append({"text": text, "asks": "min_tokens", "answer": answer(number, long=True)})
        if number % 3 == 0:
            found.append({"text": SHOUT.format(text), "answer": answer(number, shouted=True)})
        found.append({"text": text, "answer": answer(number)})
    return found


def logs(folder: Path, second: list[Asked], prompt: str = SHOUT, **body: Any) -> tuple[str, str]:
    """The log of the plain prompt, and another one."""
    for name in ("a", "b"):
        (folder / name).mkdir()
    return str(write_inspect(folder / "a", rows())), str(write_inspect(folder / "b", second, prompt=prompt, **body))


def scripted(folder: Path) -> str:
    """The model as a config, without decoding."""
    answers = {
        rf"(?s){start}.*are {number}\b": answer(number, shouted=bool(start))
        for start in ("Shout", "")
        for number in NUMBERS
    }
    model = f"dict(type='ScriptedModel', abbr='m', answers={answers!r})"
    (folder / "m.py").write_text(f"models = [{model}]\n")
    return str(folder / "m.py")


def explained(folder: Path, *arguments: str) -> dict[str, Any]:
    done = run_cli("explain", *arguments, "--json", folder=folder)
    assert done.returncode == 0, done.stderr + done.stdout
    [found] = json.loads(done.stdout)["explanations"]
    return dict(found)


def steps(found: dict[str, Any]) -> dict[str, tuple[float, str]]:
    """Cause → its share in points, and how sure it is."""
    return {one["cause"]: (round(100 * one["difference"], 1), one["certainty"]) for one in found["steps"]}


@pytest.mark.thorough
def test_the_prompt_is_certain_if_a_model_gives_the_answers_of_both_logs(tmp_path: Path) -> None:
    pair = logs(tmp_path, rows(shouted=True))
    assert steps(explained(tmp_path, *pair)) == {"prompt or chance": (-33.3, "inferred")}
    found = explained(tmp_path, *pair, "--ask", scripted(tmp_path))
    assert steps(found) == {"prompt": (-33.3, "certain")}
    assert found["steps"][0]["interval"] is None
    assert (found["asked"]["pairs"], found["asked"]["requests"], found["asked"]["as_logged"]) == (4, 16, 8)
    shown = run_cli("explain", *pair, "--ask", "m.py", folder=tmp_path)
    assert f"{pair[0]} 100.0 %, {pair[1]} 66.7 %: -33.3 = prompt -33.3 [certain]" in shown.stdout
    assert "A run asks 8 questions, 16 requests" in shown.stdout
    assert "asked again: 4 pairs of 4 with 16 requests; asked twice, 8 of 8 answers are equal" in shown.stdout


def test_a_sample_of_the_pairs_gives_an_interval(tmp_path: Path) -> None:
    pair = logs(tmp_path, rows(shouted=True))
    found = explained(tmp_path, *pair, "--ask", scripted(tmp_path), "--max-requests", "11")
    assert (found["asked"]["pairs"], found["asked"]["of"], found["asked"]["requests"]) == (2, 4, 8)
    [step] = found["steps"]
    assert (step["cause"], step["certainty"]) == ("prompt", "inferred")
    low, high = step["interval"]
    assert low <= step["difference"] <= high
    assert low < high


def test_answers_that_asking_gives_for_neither_prompt_are_not_of_the_prompt(tmp_path: Path) -> None:
    """The second log has every answer to an even number wrong, which the prompt does not explain."""
    odd = asked(f"ANSWER: {number + (number % 2 == 0)}" for number in NUMBERS)
    found = explained(tmp_path, *logs(tmp_path, odd), "--ask", scripted(tmp_path))
    # Of 2, 4, … 12 the new prompt spoils 6 and 12.
    assert steps(found) == {"prompt": (-16.7, "inferred"), "model or server": (-33.3, "inferred")}


def test_a_page_names_the_rules_and_what_was_asked(tmp_path: Path) -> None:
    pair = logs(tmp_path, rows(shouted=True))
    done = run_cli("explain", *pair, "--ask", scripted(tmp_path), "--html", "page.html", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    assert "asked again: 4 pairs of 4" in page


def test_a_rule_that_is_not_here_has_the_same_words_on_the_page(tmp_path: Path) -> None:
    odd = [replace(one, value=1 - one.value) for one in rows()[:4]] + rows()[4:]
    pair = logs(tmp_path, odd)
    words = "a rule of its own, which cannot be applied here"
    assert words in run_cli("explain", *pair, "--html", "page.html", folder=tmp_path).stdout
    assert words in (tmp_path / "page.html").read_text()
    refused = run_cli("explain", *pair, "--ask", scripted(tmp_path), folder=tmp_path)
    assert refused.returncode != 0
    assert "leave --ask out" in refused.stderr or "a rule is not known here" in refused.stderr


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--ask", "m.py", "--max-requests", "3"), "a pair needs 4 requests, and at most 3 are allowed"),
        (("-r", "latest"), "-r goes on with what --ask has asked"),
        (("--ask", "nothing.py"), "nothing.py"),
    ],
)
def test_options_that_cannot_be_used(tmp_path: Path, options: tuple[str, ...], what: str) -> None:
    scripted(tmp_path)
    done = run_cli("explain", *logs(tmp_path, rows(shouted=True)), *options, folder=tmp_path)
    assert done.returncode == 2
    assert what in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "outputs").exists()


def test_nothing_to_separate(tmp_path: Path) -> None:
    done = run_cli("explain", *logs(tmp_path, rows()), "--ask", scripted(tmp_path), folder=tmp_path)
    assert done.returncode != 0
    assert "no answers differ by something that asking again could separate" in done.stderr


def test_several_datasets(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    first, _ = logs(tmp_path, rows())
    pair = first, str(write_lm_eval(tmp_path / "c", rows(shouted=True)))
    done = run_cli("explain", *pair, "--ask", scripted(tmp_path), folder=tmp_path)
    assert done.returncode == 2
    assert "--ask needs one dataset, and 2 can be explained" in done.stderr
    assert "sums-flexible, sums-strict" in done.stderr


def test_a_model_without_decoding(tmp_path: Path) -> None:
    pair = logs(tmp_path, rows(long=True), min_tokens=5)
    done = run_cli("explain", *pair, "--ask", scripted(tmp_path), folder=tmp_path)
    assert done.returncode == 2
    assert "ScriptedModel has no generation_kwargs, so it cannot get the decoding of the logs" in done.stderr


@pytest.mark.process
def test_prompt_and_decoding_are_separated(tmp_path: Path, server: MockServer) -> None:
    server.follow(*rules())
    pair = logs(tmp_path, rows(shouted=True, long=True), min_tokens=5)
    assert list(steps(explained(tmp_path, *pair))) == ["prompt or decoding or chance"]
    found = explained(tmp_path, *pair, "--ask", server.base_url)
    # 3, 6, 9 by the prompt, 4 and 8 by the decoding, 12 by either: half of it each.
    assert steps(found) == {"prompt": (-29.2, "certain"), "decoding": (-20.8, "certain")}
    bodies = [one["body"] for one in server.requests()]
    assert len(bodies) == found["asked"]["requests"] == 36
    assert sum("min_tokens" in body for body in bodies) == 18
    assert {body["messages"][-1]["content"].partition("How")[0] for body in bodies} == {
        "Shout.\n\n",
        "Add up. Write ANSWER: and the sum.\n\n",
    }


@pytest.mark.process
def test_the_decoding_alone(tmp_path: Path, server: MockServer) -> None:
    server.follow(*rules())
    pair = logs(tmp_path, rows(long=True), prompt="Add up. Write ANSWER: and the sum.\n\n{}", min_tokens=5)
    assert steps(explained(tmp_path, *pair, "--ask", server.base_url)) == {"decoding": (-25.0, "certain")}


@pytest.mark.process
def test_words_that_end_an_answer_are_sent(tmp_path: Path, server: MockServer) -> None:
    server.follow(*rules())
    for name in ("c", "d"):
        (tmp_path / name).mkdir()
    pair = [str(write_lm_eval(tmp_path / name, found)) for name, found in (("c", rows()), ("d", rows(shouted=True)))]
    explained(tmp_path, *pair, "--dataset", "sums-strict", "--ask", server.base_url)
    assert {tuple(one["body"]["stop"]) for one in server.requests()} == {("Q:",)}


@pytest.mark.process
def test_a_field_that_the_whole_request_of_one_log_lacks_is_decoding(tmp_path: Path, server: MockServer) -> None:
    """inspect_ai stores whole requests, so it did not send the ``stop`` of lm-evaluation-harness."""
    server.follow(*rules())
    (tmp_path / "c").mkdir()
    first, _ = logs(tmp_path, rows())
    second = str(write_lm_eval(tmp_path / "c", rows(shouted=True)))
    found = explained(tmp_path, first, second, "--dataset", "sums-strict", "--ask", server.base_url)
    assert found["asked"]["requests"] == 16
    assert {json.dumps(one["body"].get("stop")) for one in server.requests()} == {'["Q:"]', "null"}
    # The prompts are equal, so the model gives the right answers again, and no share is certain.
    assert steps(found) == {"model or server or decoding": (-33.3, "inferred")}


@pytest.mark.process
def test_a_model_that_does_not_answer_alike_is_chance(tmp_path: Path, server: MockServer) -> None:
    """Each wrong answer comes once in two requests, so the difference is no more than chance."""
    wrong = [{"text": question(number), "times": 1, "answer": f"ANSWER: {number + 1}"} for number in (2, 5, 7)]
    server.follow(*wrong, *rules())
    different = asked(f"ANSWER: {number + (number in (2, 5, 7))}" for number in NUMBERS)
    pair = logs(tmp_path, different, prompt="Add up. Write ANSWER: and the sum.\n\n{}")
    found = explained(tmp_path, *pair, "--ask", server.base_url)
    [step] = found["steps"]
    assert (found["asked"]["twice"], found["asked"]["equal"]) == (3, 0)
    assert step["cause"].endswith("chance")
    assert step["difference"] == pytest.approx(-0.25)
    assert step["certainty"] == "inferred"


@pytest.mark.process
def test_pairs_whose_requests_fail_are_left_out(tmp_path: Path, server: MockServer) -> None:
    server.follow({"text": SHOUT.format(question(6)), "status": 400, "body": {"error": "no"}}, *rules())
    pair = logs(tmp_path, rows(shouted=True))
    found = explained(tmp_path, *pair, "--ask", server.base_url)
    assert (found["asked"]["pairs"], found["asked"]["of"]) == (3, 4)
    assert steps(found)["prompt"] == (-33.3, "inferred")
    server.follow({"status": 400, "body": {"error": "no"}})
    done = run_cli("explain", *pair, "--ask", server.base_url, folder=tmp_path)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "fix:" in done.stderr


@pytest.mark.thorough
def test_a_dead_server(tmp_path: Path) -> None:
    done = run_cli("explain", *logs(tmp_path, rows(shouted=True)), "--ask", "http://127.0.0.1:9/v1", folder=tmp_path)
    assert done.returncode != 0
    assert "the server does not answer" in done.stderr
    assert "fix:" in done.stderr


@pytest.mark.process
def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    pair = logs(tmp_path, rows(shouted=True, long=True), min_tokens=5)
    with mock_server(rules(), latency=0.1) as server:
        model = f"dict(type='OpenAIChatModel', abbr='m', model='mock', base_url={server.base_url!r}, max_concurrency=2)"
        (tmp_path / "slow.py").write_text(f"models = [{model}]\n")
        command = [sys.executable, "-m", "ais_prompt", "explain", *pair, "--ask", "slow.py"]
        with subprocess.Popen(
            command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            wait_until(lambda: server.stats()["requests"] >= 8, "eight requests")
            process.send_signal(signal.SIGINT)
            _, told = process.communicate()
        assert process.returncode == 130, told
        [name] = [path.name for path in (tmp_path / "outputs/explain").iterdir() if path.name != "latest"]
        assert f"go on with the same command and -r {name}" in told
        before = server.stats()["requests"]
        assert before < 36
        found = explained(tmp_path, *pair, "--ask", "slow.py", "-r", name)
        assert steps(found) == {"prompt": (-29.2, "certain"), "decoding": (-20.8, "certain")}
        # A request that Ctrl-C has cut is asked again: at most those in flight.
        assert 36 <= server.stats()["requests"] <= 36 + 4


def questions_of(folder: Path, most: int) -> Questions:
    runs = [read_stored_run(path) for path in logs(folder, rows(shouted=True, long=True), min_tokens=5)]
    [ladder], _ = explain_runs(*runs)
    return choose_questions(ladder, most)


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Questions:
    return questions_of(tmp_path_factory.mktemp("logs"), 1_000)


def test_a_larger_sample_has_the_pairs_of_a_smaller_one(questions: Questions) -> None:
    few = choose_questions(questions.ladder, 12).pairs
    assert len(few) == 2
    assert questions.pairs[:2] == few


@pytest.mark.thorough
@given(st.data())
def test_the_steps_add_up_whatever_the_model_answers(questions: Questions, data: st.DataObject) -> None:
    """No answer is lost or counted twice, and no step is certain unless the answers are those of both logs."""
    texts = st.sampled_from(["ANSWER: 3", "ANSWER: 4", "ANSWER: 6", "ANSWER: 12", "none", ""])
    answers = {
        way: [
            _answered(place, data.draw(st.lists(texts, min_size=times, max_size=times)))
            for place in range(len(questions.pairs))
        ]
        for way, times in questions.ways.items()
    }
    found = separate(questions, answers, "run")
    assert sum(step.difference for step in found.steps) == pytest.approx(questions.ladder.difference)
    assert found.asked is not None
    if found.asked.as_logged < found.asked.twice:
        assert {step.certainty for step in found.steps} <= {"inferred"}
    for step in found.steps:
        assert step.interval is None or step.interval[0] <= step.difference + 1e-9
        assert step.interval is None or step.interval[1] >= step.difference - 1e-9


def test_failed_answers_are_not_scored(questions: Questions) -> None:
    failed = Completion(failure=Failure("timeout", "no answer"))
    answers = {
        way: [
            replace(_answered(place, [None] * times), completions=(failed,) * times)
            for place in range(len(questions.pairs))
        ]
        for way, times in questions.ways.items()
    }
    with pytest.raises(Exception, match="no pair of 6 has all of its answers"):
        separate(questions, answers, "run")


def _answered(place: int, texts: list[Any]) -> Prediction:
    return Prediction(
        sample_id=str(place),
        index=place,
        origin_prompt="",
        prediction=texts if len(texts) > 1 else texts[0],
        gold=None,
        completions=tuple(Completion(text=text or "") for text in texts),
    )
