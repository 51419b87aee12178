"""Run many conversations with batch models and async models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pytest

from ais_prompt.errors import ModelError, StoreError
from ais_prompt.inferencers import Conversation, RunningConversation
from ais_prompt.models import ScriptedModel
from ais_prompt.types import Completion, Decoding, Failure, Likelihood, LikelihoodQuery, Prediction, Request
from tools.drive import drive

DECODING = Decoding(max_out_len=8)


class Batches:
    """A batch model that answers with the prompt itself; a prompt that begins with ``!`` fails."""

    prompt_style = "text"
    max_out_len = 8
    max_seq_len = None

    def __init__(self, batch_size: int) -> None:
        self.batch_size = batch_size
        self.loads = 0
        self.seen: list[list[str]] = []

    def load(self) -> None:
        self.loads += 1

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        assert len({request.decoding.max_out_len for request in requests}) == 1
        prompts = [str(request.prompt) for request in requests]
        self.seen.append(prompts)
        return [
            Completion(failure=Failure("broken", "no")) if prompt.startswith("!") else Completion(prompt, "stop")
            for prompt in prompts
        ]

    def identity(self) -> dict[str, Any]:
        return {}

    def decoding(self, max_out_len: int | None, stop: Sequence[str]) -> Decoding:
        return DECODING

    def tokenizer(self) -> None:
        return None

    def count_tokens(self, prompt: Any) -> None:
        return None

    def preflight(self) -> None:
        """Nothing can be missing."""

    def close(self) -> None:
        """Nothing is open."""


class Scores(Batches):
    """Also computes a log-likelihood, from the length of a text."""

    def __init__(self, batch_size: int) -> None:
        super().__init__(batch_size)
        self.scored: list[list[str]] = []

    def log_likelihoods(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        texts = [str(request.prompt) for request in requests]
        self.scored.append(texts)
        for number in sorted(range(len(texts)), key=lambda number: texts[number]):
            length = len(texts[number])
            yield number, Completion(likelihood=Likelihood(float(length), 1, 1, length))


class Yielding(Batches):
    """Yields its answers, the last one first."""

    def generate_each(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        yield from reversed(list(enumerate(self.generate(requests))))


def labelled(number: int) -> Conversation:
    """Request three log-likelihoods, then generate once."""
    scores = yield [Request(str(number), f"{number} {label}", LikelihoodQuery()) for label in ("a", "bb", "ccc")]
    [completion] = yield [Request(str(number), "x", DECODING)]
    found = [score.likelihood.nll for score in scores if score.likelihood]
    return Prediction(str(number), number, "x", found, None, (*scores, completion))


def conversation(number: int, turns: int = 1, text: str = "x", max_out_len: int = 8) -> Conversation:
    """Ask ``turns`` times; each prompt is the last answer and one more letter."""
    completions: list[Completion] = []
    prompt = text
    for turn in range(turns):
        [completion] = yield [Request(str(number), prompt, Decoding(max_out_len), turn=turn)]
        completions.append(completion)
        prompt = completion.text + "."
    return Prediction(str(number), number, text, completions[-1].text, None, tuple(completions))


def dialogues(count: int, **options: Any) -> Iterator[RunningConversation]:
    return (RunningConversation(conversation(number, **options), lambda _: None) for number in range(count))


def outcome(model: Any, work: Iterator[RunningConversation], **options: Any) -> tuple[list[Prediction], list[Request]]:
    """Return the finished predictions and the recorded requests."""
    finished: list[Prediction] = []
    recorded: list[Request] = []
    drive(
        model,
        work,
        lambda request, _: recorded.append(request),
        lambda over: finished.append(over.prediction),  # type: ignore[arg-type]
        **options,
    )
    return finished, recorded


@pytest.mark.parametrize(
    "model", [Batches(3), Yielding(3), ScriptedModel(default="x"), ScriptedModel(max_concurrency=1)]
)
def test_every_conversation_comes_to_its_end_once(model: Any) -> None:
    finished, recorded = outcome(model, dialogues(20, turns=3))
    assert sorted(int(prediction.sample_id) for prediction in finished) == list(range(20))
    assert len(recorded) == len({(request.sample_id, request.turn) for request in recorded}) == 60


def test_turns_go_in_order() -> None:
    finished, _ = outcome(Batches(4), dialogues(5, turns=3, text="a"))
    assert {prediction.prediction for prediction in finished} == {"a.."}


def test_batches_are_full_and_hold_prompts_of_like_length() -> None:
    model = Batches(4)
    work = (RunningConversation(conversation(n, text="x" * (n % 7 + 1)), lambda _: None) for n in range(32))
    outcome(model, work)
    assert [len(batch) for batch in model.seen] == [4] * 8
    lengths = [len(prompt) for batch in model.seen for prompt in batch]
    assert lengths == sorted(lengths, reverse=True)
    assert model.loads == 1


def test_a_model_that_yields_its_answers_gets_first_turns_of_the_whole_window() -> None:
    model = Yielding(2)
    finished, _ = outcome(model, dialogues(6, turns=2))
    assert [len(batch) for batch in model.seen] == [6, 2, 2, 2]
    assert sorted(int(prediction.sample_id) for prediction in finished) == list(range(6))


def test_an_answer_is_recorded_before_the_next_one_is_computed() -> None:
    class Crashing(Yielding):
        def generate_each(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
            yield from islice(super().generate_each(requests), 2)
            raise KeyboardInterrupt

    recorded: list[Request] = []
    with pytest.raises(KeyboardInterrupt):
        drive(Crashing(2), dialogues(5), lambda request, _: recorded.append(request), lambda _: None)
    assert [request.sample_id for request in recorded] == ["4", "3"]


def test_a_score_is_recorded_before_the_next_one_is_computed() -> None:
    class Crashing(Scores):
        def log_likelihoods(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
            scores = super().log_likelihoods(requests)
            yield from islice(scores, 4)
            raise KeyboardInterrupt

    recorded: list[Request] = []
    work = (RunningConversation(labelled(number), lambda _: None) for number in range(3))
    with pytest.raises(KeyboardInterrupt):
        drive(Crashing(2), work, lambda request, _: recorded.append(request), lambda _: None)
    assert [request.prompt for request in recorded] == ["0 a", "0 bb", "0 ccc", "1 a"]


def test_a_model_that_leaves_requests_unanswered_is_an_error() -> None:
    class Lazy(Scores):
        def log_likelihoods(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
            return islice(super().log_likelihoods(requests), 4)

    with pytest.raises(ModelError, match="Lazy answered 4 of 9 requests"):
        outcome(Lazy(2), (RunningConversation(labelled(number), lambda _: None) for number in range(3)))


def test_dialogues_under_way_come_first_and_batches_are_filled_up_with_new_ones() -> None:
    """So what a model has in memory is used before it is freed."""
    model = Batches(2)
    turns = [3, 1, 2, 3, 1]
    work = (RunningConversation(conversation(n, turns=turns[n], text=str(n)), lambda _: None) for n in range(5))
    outcome(model, work)
    assert model.seen == [["0", "1"], ["0.", "2"], ["0..", "2."], ["3", "4"], ["3."], ["3.."]]


def test_a_batch_has_one_decoding() -> None:
    model = Batches(8)
    work = (RunningConversation(conversation(n, max_out_len=n % 2 + 1), lambda _: None) for n in range(8))
    outcome(model, work)
    assert [len(batch) for batch in model.seen] == [4, 4]


def test_texts_are_scored_a_window_at_a_time_and_in_order() -> None:
    model = Scores(2)
    work = (RunningConversation(labelled(number), lambda _: None) for number in range(40))
    finished, recorded = outcome(model, work)
    assert len(finished) == 40
    assert len(recorded) == 160
    assert all(prediction.prediction == sorted(prediction.prediction) for prediction in finished)
    assert {len(texts) for texts in model.scored} <= {32, 24}
    asked = [f"{number} {label}" for number in range(40) for label in ("a", "bb", "ccc")]
    assert [text for texts in model.scored for text in texts] == asked
    assert all(len(batch) <= 2 for batch in model.seen)


def test_a_batch_model_that_cannot_score_says_so() -> None:
    with pytest.raises(ModelError, match="Batches cannot tell how likely a text is"):
        outcome(Batches(2), iter([RunningConversation(labelled(0), lambda _: None)]))


def test_conversations_are_started_as_they_are_needed() -> None:
    started = 0
    most_open = 0
    finished = 0

    def counted() -> Iterator[RunningConversation]:
        nonlocal started, most_open
        for dialogue in dialogues(500):
            started += 1
            most_open = max(most_open, started - finished)
            yield dialogue

    def finish(_: RunningConversation) -> None:
        nonlocal finished
        finished += 1

    drive(ScriptedModel(max_concurrency=4), counted(), lambda *_: None, finish)
    assert (started, finished) == (500, 500)
    assert most_open <= 8


def test_what_is_known_already_is_not_asked_and_nothing_is_loaded() -> None:
    model = Batches(2)
    known = (RunningConversation(conversation(n, turns=2), lambda _: Completion("known", "stop")) for n in range(5))
    finished, recorded = outcome(model, known)
    assert (len(finished), recorded, model.loads) == (5, [], 0)


def test_a_failure_is_a_value_and_the_others_go_on() -> None:
    work = (RunningConversation(conversation(n, text="!" if n == 3 else "x"), lambda _: None) for n in range(30))
    finished, _ = outcome(Batches(4), work)
    assert [prediction.sample_id for prediction in finished if prediction.failed] == ["3"]


@pytest.mark.parametrize(
    "model", [Batches(4), ScriptedModel(default={"failure": "http_500", "message": "out of order"})]
)
def test_a_model_that_only_fails_is_given_up_after_ten(model: Any) -> None:
    recorded: list[Request] = []
    with pytest.raises(ModelError, match="requests so far failed"):
        drive(model, dialogues(1000, text="!"), lambda request, _: recorded.append(request), lambda _: None)
    assert 10 <= len(recorded) < 30


@pytest.mark.parametrize("kind", ["too_long", "content_filter", "empty_prompt"])
def test_failures_of_single_prompts_never_give_a_model_up(kind: str) -> None:
    model = ScriptedModel(default={"failure": kind, "message": "no"})
    finished, _ = outcome(model, dialogues(300))
    assert len(finished) == 300


@pytest.mark.parametrize("kind", ["http_400", "http_422", "response_invalid_prompt", "out_of_memory"])
def test_a_model_that_refuses_everything_is_given_up_after_a_hundred(kind: str) -> None:
    model = ScriptedModel(default={"failure": kind, "message": "no such thing"})
    recorded: list[Request] = []
    with pytest.raises(ModelError, match=f"all 100 requests so far failed: {kind}: no such thing"):
        drive(model, dialogues(1000), lambda request, _: recorded.append(request), lambda _: None)


def test_few_requests_that_all_fail_are_an_error_too() -> None:
    with pytest.raises(ModelError, match="the only request failed: broken: no"):
        outcome(Batches(4), dialogues(1, text="!"))


def test_a_model_that_has_answered_before_is_not_given_up() -> None:
    finished, _ = outcome(Batches(4), dialogues(15, text="!"), has_answered=True)
    assert all(prediction.failed for prediction in finished)


def test_a_server_that_is_down_when_a_run_is_taken_up_again_is_given_up() -> None:
    down = ScriptedModel(default={"failure": "unreachable", "message": "connection refused"})
    recorded: list[Request] = []
    with pytest.raises(ModelError, match="unreachable: connection refused"):
        drive(down, dialogues(1000), lambda request, _: recorded.append(request), lambda _: None, has_answered=True)
    assert len(recorded) < 30


def test_a_fatal_failure_ends_it_at_once() -> None:
    model = ScriptedModel(default={"failure": "http_401", "message": "wrong key", "fatal": True}, max_concurrency=1)
    recorded: list[Request] = []
    with pytest.raises(ModelError, match="every request would fail: http_401: wrong key"):
        drive(model, dialogues(100), lambda request, _: recorded.append(request), lambda _: None)
    assert len(recorded) == 1


def test_a_disk_that_fails_ends_it_as_it_is() -> None:
    def full(*_: Any) -> None:
        raise StoreError("no space left on the disk")

    with pytest.raises(StoreError):
        drive(ScriptedModel(), dialogues(100), full, lambda _: None)


def test_what_is_neither_batch_nor_async_is_refused() -> None:
    with pytest.raises(ModelError, match="neither batches nor single requests"):
        drive(object(), dialogues(1), lambda *_: None, lambda _: None)  # type: ignore[arg-type]
