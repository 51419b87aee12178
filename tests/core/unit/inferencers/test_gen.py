"""`GenInferencer`: one prompt per sample."""

from __future__ import annotations

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.inferencers import GenInferencer, InferenceContext
from ais_prompt.models import ScriptedModel
from ais_prompt.prompts import PromptBuilder, PromptTemplate, make_chat_format
from ais_prompt.types import Completion, Decoding, Failure, Sample

SAMPLE = Sample("s", 3, {"question": "1+1=?", "answer": "2"}, "2")


def context(*end_tokens: int) -> InferenceContext:
    builder = PromptBuilder(None, PromptTemplate("{question} {answer}"), output_column="answer", mask="_")
    model = ScriptedModel(prompt_style="text", max_out_len=7, stop_words=["END"])
    return InferenceContext(builder, make_chat_format("text", None, lambda: None), model, (), end_tokens)


def test_one_request_with_the_settings_of_both_sides() -> None:
    [request] = next(GenInferencer(stopping_criteria=["\n"]).converse(SAMPLE, [], context()))
    assert (request.sample_id, request.prompt) == ("s", "1+1=? _")
    assert isinstance(request.decoding, Decoding)
    assert request.decoding.max_out_len == 7
    assert set(request.decoding.stop) == {"END", "\n"}
    [longer] = next(GenInferencer(max_out_len=99).converse(SAMPLE, [], context()))
    assert isinstance(longer.decoding, Decoding)
    assert longer.decoding.max_out_len == 99


@pytest.mark.parametrize(("said", "asked"), [(12, 12), ("12", 12), (None, 7), (0, 7), (-1, 7), (True, 7), ("", 7)])
def test_a_column_may_say_how_long_the_answer_is(said: object, asked: int) -> None:
    sample = Sample("s", 0, {"question": "?", "answer": "2", "length": said}, "2")
    [request] = next(GenInferencer(max_out_len="length").converse(sample, [], context()))
    assert isinstance(request.decoding, Decoding)
    assert request.decoding.max_out_len == asked


def test_the_end_token_of_the_meta_template_reaches_the_model() -> None:
    [request] = next(GenInferencer().converse(SAMPLE, [], context(5)))
    assert isinstance(request.decoding, Decoding)
    assert request.decoding.stop_tokens == (5,)


@pytest.mark.parametrize(
    ("completion", "text"), [(Completion("2", "stop"), "2"), (Completion(failure=Failure("timeout", "none")), None)]
)
def test_the_prediction_is_the_text_or_nothing(completion: Completion, text: str | None) -> None:
    conversation = GenInferencer().converse(SAMPLE, [], context())
    next(conversation)
    with pytest.raises(StopIteration) as stop:
        conversation.send([completion])
    prediction = stop.value.value
    assert (prediction.prediction, prediction.gold, prediction.index) == (text, "2", 3)
    assert prediction.failed is (text is None)


def test_several_answers_to_one_prompt() -> None:
    conversation = GenInferencer(n=3, seed=7, stop_token_ids=[5, 9]).converse(SAMPLE, [], context(5))
    requests = next(conversation)
    assert [request.repeat for request in requests] == [0, 1, 2]
    assert len({request.prompt for request in requests}) == 1
    assert all(isinstance(request.decoding, Decoding) for request in requests)
    assert {(request.decoding.seed, request.decoding.stop_tokens) for request in requests} == {(7, (5, 9))}
    with pytest.raises(StopIteration) as stop:
        conversation.send(
            [Completion("2", "stop"), Completion(failure=Failure("timeout", "none")), Completion("3", "stop")]
        )
    assert stop.value.value.prediction == ["2", None, "3"]
    assert len(stop.value.value.completions) == 3


def test_at_least_one_answer_is_asked_for() -> None:
    with pytest.raises(ConfigError, match="n must be from 1 to 10,000, not 0"):
        GenInferencer(n=0)
