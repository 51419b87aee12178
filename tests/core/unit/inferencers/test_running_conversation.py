"""Drive one conversation, with answers from the journal and new ones."""

from __future__ import annotations

import pytest

from ais_prompt.inferencers import Conversation, RunningConversation
from ais_prompt.types import Completion, Decoding, Prediction, Request


def two_then_one() -> Conversation:
    """Send two requests at once, then one that depends on both answers."""
    first = yield [Request("s", text, Decoding(1)) for text in ("a", "b")]
    second = yield [Request("s", "".join(answer.text for answer in first), Decoding(1), turn=1)]
    return Prediction("s", 0, "a", second[0].text, None, (*first, *second))


def test_answers_may_come_in_any_order() -> None:
    dialogue = RunningConversation(two_then_one(), lambda _: None)
    a, b = dialogue.open_requests()
    dialogue.answer(b, Completion("2", "stop"))
    assert dialogue.open_requests() == [a]
    dialogue.answer(a, Completion("1", "stop"))
    [last] = dialogue.open_requests()
    assert last.prompt == "12"
    dialogue.answer(last, Completion("end", "stop"))
    assert dialogue.prediction is not None
    assert dialogue.prediction.prediction == "end"
    assert dialogue.open_requests() == []


def test_memory_is_followed_as_far_as_it_reaches() -> None:
    memory = {"a": Completion("1", "stop"), "b": Completion("2", "stop")}
    dialogue = RunningConversation(two_then_one(), lambda request: memory.get(str(request.prompt)))
    assert [request.prompt for request in dialogue.open_requests()] == ["12"]
    whole = RunningConversation(
        two_then_one(), lambda request: memory.get(str(request.prompt), Completion("end", "stop"))
    )
    assert whole.prediction is not None
    assert whole.answers_found == 3


def test_a_conversation_may_ask_nothing() -> None:
    def silent() -> Conversation:
        return Prediction("s", 0, "", None, None, ())
        yield []

    dialogue = RunningConversation(silent(), lambda _: None)
    assert dialogue.prediction is not None
    assert dialogue.open_requests() == []


def test_two_equal_requests_are_two_requests() -> None:
    def twice() -> Conversation:
        answers = yield [Request("s", "a", Decoding(1)), Request("s", "a", Decoding(1))]
        return Prediction("s", 0, "a", [answer.text for answer in answers], None, tuple(answers))

    dialogue = RunningConversation(twice(), lambda _: None)
    while requests := dialogue.open_requests():
        dialogue.answer(requests[0], Completion(str(len(requests)), "stop"))
    assert dialogue.prediction is not None
    assert dialogue.prediction.prediction == ["2", "1"]


def test_an_answer_to_what_is_not_open_is_a_fault() -> None:
    dialogue = RunningConversation(two_then_one(), lambda _: None)
    [a, _] = dialogue.open_requests()
    dialogue.answer(a, Completion("1", "stop"))
    for strange in (a, Request("s", "c", Decoding(1))):
        with pytest.raises(ValueError, match="the request is not open"):
            dialogue.answer(strange, Completion("2", "stop"))
    assert len(dialogue.open_requests()) == 1
