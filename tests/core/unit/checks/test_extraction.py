"""The gold of a dataset must come back out of ordinary phrasings."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from ais_prompt.checks import PHRASINGS, ExtractionTrial, try_extraction
from ais_prompt.plan import PlannedDataset
from ais_prompt.report import describe
from ais_prompt.types import EvalSpec, PartSpec
from tests.support.parts import dataset_spec, write_rows


def first_word(text: str) -> str | None:
    """A postprocessor that understands bare answers only."""
    return text.split()[0]


def no_text(text: str) -> str | None:
    """A postprocessor that reads no answer."""
    raise ValueError(text)


RESULTS = {"a result", "what comes out", "Chinese, a result"}
"""Phrasings of results that do not fit the label of an option."""


def extraction(
    folder: Path, postprocessor: str | None, golds: list[str], evaluator: str = "AccEvaluator"
) -> ExtractionTrial | None:
    path = write_rows(folder / "rows.jsonl", [{"question": f"q{n}", "answer": gold} for n, gold in enumerate(golds)])
    spec = dataset_spec(path)
    part = PartSpec(postprocessor, {}, "p") if postprocessor else None
    return try_extraction(
        PlannedDataset(replace(spec, eval=EvalSpec(PartSpec(evaluator, {}, "e"), part, where="eval")))
    )


@pytest.mark.parametrize(
    ("postprocessor", "golds", "evaluator", "lost"),
    [
        ("gsm8k_postprocess", ["18", "1,000", "-3", "0.5"], "Gsm8kEvaluator", set()),
        ("first_option_postprocess", ["A", "B", "C", "D"], "AccEvaluator", RESULTS),
        ("last_option_postprocess", ["A", "B", "C", "D"], "AccEvaluator", RESULTS),
    ],
)
def test_the_shipped_ones_find_every_phrasing_that_fits(
    tmp_path: Path, postprocessor: str, golds: list[str], evaluator: str, lost: set[str]
) -> None:
    found = extraction(tmp_path, postprocessor, golds, evaluator)
    assert found is not None
    assert found.golds == 4
    assert {one.phrasing for one in found.lost} == lost


def test_what_is_lost_is_told_with_an_example(tmp_path: Path) -> None:
    found = extraction(tmp_path, f"{__name__}.first_word", ["18", "7"])
    assert found is not None
    lost = {answer.phrasing: answer for answer in found.lost}
    assert "plain" not in lost
    assert (lost["bold"].text, lost["bold"].extracted) == ("The answer is **18**.", "The")
    lines = list(describe([found]))
    assert lines[0].startswith(
        f"Extraction of sums: {len(PHRASINGS) - len(lost)} of {len(PHRASINGS)} ordinary phrasings"
    )
    assert "  lost, bold: 'The answer is **18**.' gives 'The'" in lines


def test_of_answers_that_are_all_lost_a_few_are_told(tmp_path: Path) -> None:
    found = extraction(tmp_path, f"{__name__}.no_text", ["18"])
    assert found is not None
    lines = list(describe([found]))
    assert lines[0].startswith(f"Extraction of sums: 0 of {len(PHRASINGS)} ordinary phrasings")
    assert (len(lines), lines[-1]) == (5, "  … and the 27 others")


def test_only_short_golds_and_postprocessors_are_tried(tmp_path: Path) -> None:
    assert extraction(tmp_path, None, ["18"]) is None
    assert extraction(tmp_path, "gsm8k_postprocess", ["def f():\n    return 1", "x" * 81]) is None


def test_a_postprocessor_that_raises_has_lost_the_answer(tmp_path: Path) -> None:
    found = extraction(tmp_path, "builtins.int", ["18"])
    assert found is not None
    assert any(str(answer.extracted).startswith("ValueError: ") for answer in found.lost)
