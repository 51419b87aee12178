"""The scripted model: answers, failures and crashes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError
from ais_prompt.models import AsyncModel, BatchModel, ScriptedModel
from ais_prompt.registry import MODELS
from ais_prompt.types import ChatMessage, Completion, Failure, Likelihood, LikelihoodQuery, Prompt, Request, Usage
from tests.support.waiting import WATCHDOG_SECONDS


def ask(model: ScriptedModel, *prompts: Prompt, max_out_len: int | None = None, stop: tuple[str, ...] = ()) -> Any:
    """All prompts side by side; the completion of one prompt, or the list of several."""
    decoding = model.decoding(max_out_len, stop)

    async def gather() -> list[Completion]:
        return await asyncio.gather(*(model.complete(Request("s", prompt, decoding)) for prompt in prompts))

    answers = asyncio.run(gather())
    return answers if len(answers) > 1 else answers[0]


def user(text: str) -> Prompt:
    return (ChatMessage("system", "Be brief."), ChatMessage("user", text))


def test_it_is_an_async_model_with_a_registered_name() -> None:
    model = MODELS.get("ScriptedModel")()
    assert isinstance(model, AsyncModel)
    assert not isinstance(model, BatchModel)


def test_the_first_expression_found_in_the_question_decides() -> None:
    model = ScriptedModel({r"2\+2": "4", "2": "two"}, default="none")
    texts = [answer.text for answer in ask(model, user("2+2=?"), user("is 2 even?"), user("1+1=?"), "2+2 as a text")]
    assert texts == ["4", "two", "none", "4"]


def test_only_the_last_message_of_the_user_is_the_question() -> None:
    shots = (ChatMessage("user", "2+2=?"), ChatMessage("assistant", "4"), ChatMessage("user", "and 3?"))
    assert ask(ScriptedModel({r"2\+2": "4", "and 3": "7"}), shots).text == "7"
    assert ask(ScriptedModel({"x": "found"}, default="none"), (ChatMessage("system", "x"),)).text == "none"
    parts = (
        ChatMessage("user", ({"type": "text", "text": "a cat?"}, {"type": "image_url", "image_url": {"url": "u"}})),
    )
    assert ask(ScriptedModel({"cat": "yes"}), parts).text == "yes"


def test_a_list_is_answered_in_order_and_then_the_default() -> None:
    model = ScriptedModel(["one", "two"], default="over", max_concurrency=1)
    assert [answer.text for answer in ask(model, "a", "b", "c", "d")] == ["one", "two", "over", "over"]


@given(st.text())
def test_an_answer_comes_back_exactly(text: str) -> None:
    assert ask(ScriptedModel(default=text), "x", max_out_len=10_000).text == text


def test_tokens_are_words() -> None:
    answer = ask(ScriptedModel(default="it is four"), user("2 + 2"))
    assert (answer.usage, answer.finish_reason) == (Usage(5, 3), "stop")


def test_a_long_answer_is_cut_and_says_so() -> None:
    answer = ask(ScriptedModel(default=" one two  three"), "x", max_out_len=2)
    assert (answer.text, answer.finish_reason, answer.usage.completion_tokens) == (" one two", "length", 2)


def test_an_answer_ends_before_the_first_stop_text() -> None:
    model = ScriptedModel(default="4\n\nQ: next. END", stop_words=["END"])
    assert ask(model, "x").text == "4\n\nQ: next. "
    assert ask(model, "x", stop=("\n\n", "Q")).text == "4"


def test_a_script_holds_truncation_and_failures() -> None:
    model = ScriptedModel(
        {"long": {"text": "half an", "finish_reason": "length"}, "bad": {"failure": "http_500", "message": "busy"}}
    )
    cut, failed = ask(model, "long", "bad")
    assert (cut.text, cut.finish_reason) == ("half an", "length")
    assert failed.failure == Failure("http_500", "busy")
    assert (failed.text, failed.finish_reason) == ("", None)


def test_an_outage_begins_after_so_many_answers() -> None:
    answers = ask(ScriptedModel(default="ok", fail_after=2), "a", "b", "c")
    assert [answer.failure.kind if answer.failure else answer.text for answer in answers] == ["ok", "ok", "connection"]


@pytest.mark.process
def test_the_process_is_killed_after_so_many_answers() -> None:
    program = """
import asyncio
from ais_prompt.models.scripted import ScriptedModel
from ais_prompt.types import Request

async def main():
    model = ScriptedModel(default='ok', die_after=2, delay=0.01)
    async def ask():
        answer = await model.complete(Request('s', 'x', model.decoding(None, ())))
        print(answer.text, flush=True)
    await asyncio.gather(*(ask() for _ in range(4)))

asyncio.run(main())
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=WATCHDOG_SECONDS, check=False
    )
    assert (result.returncode, result.stdout) == (-9, "ok\nok\n")


def test_scripted_crashes_do_not_change_the_identity() -> None:
    script = {"2": "two"}
    plain = ScriptedModel(script).identity()
    assert ScriptedModel(script, fail_after=1, die_after=2, delay=0.5, max_concurrency=9).identity() == plain
    assert ScriptedModel({"2": "three"}).identity() != plain


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"answers": {"(": "x"}}, "not a regular expression"),
        ({"answers": {"a": {"answer": "x"}}}, "invalid answer"),
        ({"answers": {"a": {"text": "x", "finish_reason": "eos"}}}, "invalid answer"),
        ({"default": {"failure": "http_500", "text": "x"}}, "invalid answer"),
        ({"answers": ["a", "b"]}, "side by side"),
        ({"max_concurrency": 0}, "max_concurrency"),
        ({"delay": -1.0}, "delay"),
    ],
)
def test_a_wrong_script_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        ScriptedModel(**arguments)


def score(prompt: Prompt, scoring: LikelihoodQuery, **script: Any) -> Completion:
    return asyncio.run(ScriptedModel(likelihoods=script.pop("likelihoods")).complete(Request("s", prompt, scoring)))


def test_the_first_expression_in_a_text_decides_its_log_likelihood() -> None:
    likelihoods = {"moon": 1.5, "": 3.0}
    assert score("a full moon", LikelihoodQuery(), likelihoods=likelihoods).likelihood == Likelihood(3.0, 2, 3, 11)
    assert score("a full", LikelihoodQuery(" moon"), likelihoods=likelihoods).likelihood == Likelihood(1.5, 1, 1, 5)
    assert score(user("a full"), LikelihoodQuery(), likelihoods=likelihoods).likelihood == Likelihood(9.0, 3, 4, 16)
    found = score("a full ", LikelihoodQuery(choices=("moon", "sun")), likelihoods=likelihoods).likelihood
    assert found == Likelihood(0.0, 0, 0, 0, (-1.5, -3.0))


@pytest.mark.parametrize(
    ("likelihoods", "text", "kind"),
    [({}, "a moon", "cannot_score"), ({"": "timeout"}, "a moon", "timeout"), ({"": 1.0}, "moon", "no_tokens")],
)
def test_a_text_outside_the_script_has_no_log_likelihood(likelihoods: dict[str, Any], text: str, kind: str) -> None:
    failure = score(text, LikelihoodQuery(), likelihoods=likelihoods).failure
    assert failure is not None
    assert (failure.kind, failure.fatal) == (kind, kind == "cannot_score")


def test_a_wrong_expression_of_a_likelihood_is_refused() -> None:
    with pytest.raises(ConfigError, match="not a regular expression"):
        ScriptedModel(likelihoods={"(": 1.0})
