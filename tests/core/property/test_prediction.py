"""A line of a predictions file says what was asked and answered, whatever it was."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.types import ChatMessage, Completion, Prediction
from ais_prompt.utils import encode

PARTS = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": st.text()}), max_size=2).map(tuple)
MESSAGES = st.lists(st.builds(ChatMessage, st.text(), st.one_of(st.text(), PARTS)), min_size=1, max_size=3).map(tuple)
PROMPTS = st.one_of(st.text(), MESSAGES)


@given(
    st.one_of(PROMPTS, st.lists(PROMPTS, max_size=3).map(tuple)),
    st.lists(st.one_of(st.none(), st.text())),
    st.one_of(st.none(), st.integers(1)),
)
def test_a_line_is_read_back_as_it_was(prompts: object, answers: list[str | None], failed_turn: int | None) -> None:
    completions = tuple(Completion(answer or "", "stop") for answer in answers)
    line = Prediction("s", 0, prompts, answers, answers, completions, failed_turn)  # type: ignore[arg-type]
    assert Prediction.from_json(json.loads(json.dumps(line.to_json()))) == line
    stored = encode(line.to_json())
    assert Prediction.from_line(stored) == line
    assert Prediction.from_line(stored, with_prompt=False) == replace(line, origin_prompt="")
