"""Answers end before a stop text, whatever the server does with it."""

from __future__ import annotations

from typing import Any

import pytest

from ais_prompt import OpenAIChatModel, OpenAICompletionModel
from ais_prompt.catalog import PARTS
from ais_prompt.models import ApiModel
from ais_prompt.registry import MODELS
from ais_prompt.types import Completion, Decoding, Request

STOPS = ("\n", "Q:", "A:", "###", "END")
KINDS = [kind for kind in map(MODELS.get, PARTS["models"]) if isinstance(kind, type) and issubclass(kind, ApiModel)]


def model(kind: type[ApiModel], **options: Any) -> ApiModel:
    return kind("m", "http://127.0.0.1:9/v1", api_key=None, stop_words=STOPS, **options)


def request(served: ApiModel) -> Request:
    decoding = served.decoding(8, ())
    assert isinstance(decoding, Decoding)
    return Request("0", "2+2", decoding)


def test_an_answer_ends_before_the_first_stop_text() -> None:
    cases = [
        ("4 END", "4 "),
        ("4Q: 5END", "4"),
        ("4", "4"),
        ("<think>5\nA: 6</think>4\n5", "4"),
        ("[THINK]5\n[/THINK]4\n", "4"),
    ]
    for said, answer in cases:
        for kind in KINDS:
            served = model(kind)
            found = served.finish(Completion(said, "length"), request(served))
            assert (found.text, found.finish_reason) == (answer, "length" if said == answer else "stop")


@pytest.mark.parametrize("kind", [OpenAIChatModel, OpenAICompletionModel])
def test_a_server_is_sent_four_stop_texts(kind: type[ApiModel]) -> None:
    served = model(kind)
    assert served.sent(request(served))[1]["stop"] == list(STOPS[:4])


@pytest.mark.parametrize("field", ["include_stop_str_in_output", "no_stop_trim"])
def test_a_stop_text_that_is_asked_for_stays(field: str) -> None:
    served = model(OpenAIChatModel, generation_kwargs={field: True})
    assert served.finish(Completion("4 END"), request(served)).text == "4 END"
