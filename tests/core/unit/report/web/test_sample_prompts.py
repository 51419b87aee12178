"""The prompts of any sample: their pieces are known from the first prompts of the run, or nothing is claimed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.preview import (
    Origin,
    PromptView,
    Span,
    align,
    kept_prompts,
    preview_sample,
    traced_views,
    write_prompts,
)
from ais_prompt.report import sample_prompts_html
from ais_prompt.store import RunFolder
from ais_prompt.types import Completion, Prediction
from tests.support.prompt_tasks import prompt_task

DATA, OTHER, TEMPLATE = Origin("data", "q"), Origin("data", "a"), Origin("template")
SHOT = Origin("data", "q", 1)
TURNS = [{"role": "HUMAN", "prompt": "{q}"}, {"role": "BOT", "prompt": "{a}"}]


def spans(*pieces: tuple[str, Origin]) -> tuple[Span, ...]:
    return tuple(Span(*piece) for piece in pieces)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Q: 5+5\nA: ", ["Q: ", "5+5", "\nA: "]),
        ("Q: \nA: ", ["Q: ", "\nA: "]),
        ("Q: \nA: \nA: ", ["Q: ", "\nA: ", "\nA: "]),
        ("Q: 5+5", None),
        ("Q:\nA: ", None),
        ("Q: A: ", None),
        ("", None),
    ],
)
def test_a_text_between_texts_of_a_template(text: str, pieces: list[str] | None) -> None:
    found = align(text, spans(("Q: ", TEMPLATE), ("3+3", DATA), ("\nA: ", TEMPLATE)))
    assert (None if found is None else [span.text for span in found]) == pieces


@pytest.mark.parametrize(
    ("text", "is_traced"), [("1 or 2", True), ("1 or 2 or 3", False), (" or ", True), ("1", False)]
)
def test_what_can_be_cut_in_two_ways_is_not_traced(text: str, is_traced: bool) -> None:
    assert (align(text, spans(("a", DATA), (" or ", TEMPLATE), ("b", OTHER))) is not None) == is_traced


def test_values_side_by_side_and_other_examples_are_not_traced() -> None:
    assert align("ab", spans(("a", DATA), ("b", OTHER))) is None
    example = spans(("1+1", SHOT), ("\n", TEMPLATE), ("3+3", DATA))
    assert align("2+2\n5+5", example) is None
    assert align("1+1\n5+5", example) == spans(("1+1", SHOT), ("\n", TEMPLATE), ("5+5", DATA))


def predicted(views: Sequence[PromptView], **more: Any) -> Prediction:
    prompts = tuple(view.prompt for view in views)
    prompt: Any = prompts[0] if len(prompts) == 1 else prompts
    return Prediction(views[0].sample_id, views[0].index, prompt, "", views[0].gold, (Completion(""),), **more)


def two(prompt: Any, **more: Any) -> tuple[list[PromptView], list[PromptView]]:
    """The prompts of two rows."""
    views = list(preview_sample(prompt_task(prompt, **more), 2, origins=True))
    return views[: len(views) // 2], views[len(views) // 2 :]


def test_prompts_of_labels_are_traced_by_those_of_the_same_label() -> None:
    rows = [{"q": "3+3", "a": "x"}, {"q": "5+5", "a": "y"}]
    first, second = two({label: f"{{q}} is {label}" for label in "xy"}, rows=rows, inferencer={"type": "PPLInferencer"})
    labels = {view.title.removeprefix("label "): {"prompt": view.prompt} for view in second}
    found = list(traced_views(predicted(second, labels=labels), "model", "data", first))
    assert [(view.title, view.index, view.origins) for view in found if view] == [
        (view.title, 1, view.origins) for view in second
    ]


@pytest.mark.parametrize(("mode", "traced"), [("every", 1), ("every_with_gt", 2)])
def test_a_turn_behind_an_answer_of_the_model_is_not_traced(mode: str, traced: int) -> None:
    rows = [{"q": ["1+1", "2+2"], "a": ["2", "4"]}, {"q": ["5+5", "6+6"], "a": ["10", "12"]}]
    template = {"type": "MultiTurnPromptTemplate", "turn_columns": ["q", "a"], "template": {"round": TURNS}}
    inferencer = {"type": "MultiTurnGenInferencer", "infer_mode": mode}
    first, second = two(template, rows=rows, inferencer=inferencer, style="messages")
    found = list(traced_views(predicted(second), "model", "data", first))
    assert [view and view.title for view in found] == [*["turn 1", "turn 2"][:traced], *[None] * (2 - traced)]
    page = sample_prompts_html(found, RunFolder(Path("run")), "data", 1)
    assert ("1 of 2 prompts of the sample are shown here" in page) == (traced == 1)
    assert list(traced_views(predicted(second), "model", "data", [])) == [None, None]


@pytest.mark.parametrize(("hint", "is_kept"), [("none", True), ("", False), (" ", False), (None, False), ([], False)])
def test_a_row_with_an_empty_value_tells_nothing(tmp_path: Path, hint: Any, is_kept: bool) -> None:
    task = prompt_task("{q}{hint}!", rows=[{"q": "3+3", "a": "6", "hint": hint}])
    write_prompts([task], RunFolder(tmp_path))
    assert bool(kept_prompts(RunFolder(tmp_path), "model", "data")) == is_kept
    assert kept_prompts(RunFolder(tmp_path), "model", "other") == []


def test_the_command_is_safe_to_copy(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "a'b; <i>")
    page = sample_prompts_html([], folder, "su*ms; ls", 17)
    assert "<i>" not in page
    assert "-p &#x27;su[*]ms; ls&#x27; --sample 17 --html</code>" in page
