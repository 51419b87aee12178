"""No template may write its answer into the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import DataError
from ais_prompt.extensions.leaks.proof import check_gold_is_hidden, shown_columns
from ais_prompt.inferencers import ChatInferencer, GenInferencer, MultiTurnGenInferencer, PPLInferencer
from ais_prompt.prompts import ChatTemplate, MultiTurnPromptTemplate, PromptBuilder, PromptTemplate, RawPromptTemplate
from ais_prompt.types import Sample


def samples(*rows: dict[str, Any], gold: str = "a") -> list[Sample]:
    return [Sample(f"id{index}", index, row, row[gold]) for index, row in enumerate(rows)]


ROWS = samples({"q": "1+1?", "a": "2"}, {"q": "2+2?", "a": "4"})


def check(template: Any, inferencer: Any = None, rows: Sequence[Sample] = ROWS, column: str | None = "a") -> None:
    inferencer = inferencer or GenInferencer()
    builder = PromptBuilder(None, template, output_column=column, mask=inferencer.mask or "")
    check_gold_is_hidden(inferencer, builder, rows, [])


@pytest.mark.parametrize(
    "template",
    [
        PromptTemplate("{q} is {a}"),
        PromptTemplate({"round": [{"role": "HUMAN", "prompt": "{q}"}, {"role": "BOT", "prompt": "{a}"}]}),
        RawPromptTemplate([{"role": "user", "content": "{q}"}]),
    ],
)
def test_a_prompt_that_hides_its_answer_is_well(template: Any) -> None:
    check(template)


def test_a_raw_message_masks_nothing_and_so_tells_the_answer() -> None:
    leaking = RawPromptTemplate([{"role": "user", "content": "{q}"}, {"role": "assistant", "content": "Is it {a}?"}])
    with pytest.raises(DataError) as caught:
        check(leaking)
    assert "changes with the gold in column 'a'" in str(caught.value)
    assert "sample id0, row 0; 2 of 2 samples" in caught.value.where
    check(leaking, column=None)  # there is no gold then


def test_labels_are_written_into_prompts_on_purpose() -> None:
    check(PromptTemplate({"2": "{q} {a}", "4": "{q} {a}"}), PPLInferencer())


@pytest.mark.parametrize("mode", ["every", "every_with_gt", "last"])
def test_the_last_answer_of_a_dialogue_is_hidden(mode: Any) -> None:
    template = MultiTurnPromptTemplate(
        {"round": [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "{answer}"}]}
    )
    rows = samples({"question": ["a", "b"], "answer": ["1", "2"]}, gold="answer")
    check(template, MultiTurnGenInferencer(mode), rows, column="answer")


@pytest.mark.parametrize("mode", ["every", "every_with_gt", "last"])
@pytest.mark.parametrize("after", [[], [{"role": "user", "content": "thanks"}]])
def test_the_last_answer_of_a_column_of_messages_is_hidden(mode: Any, after: list[dict[str, str]]) -> None:
    chat = [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}, *after]
    rows = samples({"dialogue": chat}, gold="dialogue")
    check(ChatTemplate(None, ["dialogue"], "dialogue"), ChatInferencer(infer_mode=mode), rows, column="dialogue")


@given(st.lists(st.text(alphabet="aB {}", max_size=4), min_size=1, max_size=8))
def test_a_template_without_the_gold_never_leaks_whatever_the_data(texts: list[str]) -> None:
    rows = samples(*({"q": text, "a": f"{{q}}{text}{{a}}"} for text in texts))
    check(PromptTemplate("{q} {a}"), rows=rows)


@pytest.mark.parametrize("inferencer", [GenInferencer(), PPLInferencer()])
def test_a_gold_column_that_the_prompt_shows_is_proved(inferencer: Any) -> None:
    rows = [
        Sample(f"id{row}", row, {"q": f"f{row}", "a": "x", "tests": ["t", str(row)]}, {"tests": ["t", str(row)]})
        for row in range(3)
    ]
    labels = {"x": "{q} x {tests}", "y": "{q} y {tests}"}
    template = PromptTemplate("{q} {tests} {a}" if inferencer.mask is not None else labels)
    builder = PromptBuilder(None, template, output_column="a", mask=inferencer.mask or "")
    check_gold_is_hidden(inferencer, builder, rows, [])
    with pytest.raises(DataError) as caught:
        check_gold_is_hidden(inferencer, builder, rows, [], ["tests"])
    assert "changes with the gold in column 'tests'" in str(caught.value)
    assert "row 0; 3 of 3 samples" in caught.value.where
    assert "input_columns" in caught.value.fix


@pytest.mark.parametrize(
    ("template", "columns"),
    [
        (PromptTemplate("{q} {a}"), ["q"]),
        (PromptTemplate({"2": "{q} {hint}", "4": "{q} 4"}), ["q", "hint"]),
        (RawPromptTemplate([{"role": "user", "content": "{hint}"}]), ["hint"]),
    ],
)
def test_the_columns_that_a_prompt_shows_are_seen_by_changing_them(template: Any, columns: list[str]) -> None:
    rows = samples({"q": "1+1?", "hint": 3, "other": None, "a": "2"})
    inferencer: Any = PPLInferencer() if template.labels else GenInferencer()
    assert shown_columns(inferencer, PromptBuilder(None, template, output_column="a"), rows, []) == columns
