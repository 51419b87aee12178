"""The score under other postprocessors: values worked out by hand, and a bounded number of samples."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ais_prompt.evaluators import AccEvaluator
from ais_prompt.extensions.audits import other_readings
from ais_prompt.extensions.audits.other_readings import best_extractor, find_sensitivity, others_than, warning_of
from ais_prompt.plan import build_postprocessor
from ais_prompt.scoring import Scorer
from ais_prompt.types import Completion, PartSpec, Prediction, SampleScore, Sensitivity

FIRST = PartSpec("first_option_postprocess", {"options": "ABC"}, "eval_cfg.pred_postprocessor")


def scorer_of(spec: PartSpec) -> Callable[[Prediction], SampleScore]:
    return Scorer(AccEvaluator(), build_postprocessor(spec), lambda gold: gold).score


def predictions(texts: list[str], gold: str = "C") -> list[Prediction]:
    return [Prediction(f"s{n}", n, "?", text, gold, (Completion(text),)) for n, text in enumerate(texts)]


def found_in(texts: list[str]) -> Sensitivity:
    found = find_sensitivity(FIRST, iter(predictions(texts)), len(texts), scorer_of, "accuracy")
    assert found is not None
    return found


def test_scores_of_the_other_postprocessors_are_those_they_would_give() -> None:
    found = found_in(["The answer is C."] * 8 + ["The answer is A. The answer is C."] * 2)
    assert (found.score, found.samples, found.of) == (0.8, 10, 10)
    assert found.stderr == pytest.approx((0.8 * 0.2 / 9) ** 0.5)
    others = {other.postprocessor: (other.score, other.changed) for other in found.others}
    assert others == {"last_option_postprocess": (1.0, 2)}
    assert [other.postprocessor for other in found.far] == list(others)
    warning = warning_of(found, fraction=True)
    assert warning is not None
    assert "last_option_postprocess +20.0 points (2 samples)" in warning
    assert Sensitivity.from_json(found.to_json()) == found


def test_no_warning_where_the_others_give_a_lower_score() -> None:
    found = found_in(["The answer is C. The answer is A."] * 20)
    assert found.far
    assert warning_of(found, fraction=True) is None


def test_no_warning_where_all_agree() -> None:
    assert warning_of(found_in(["The answer is C.", "The answer is B."] * 5), fraction=True) is None


def test_a_score_of_100_percent_has_a_standard_error_too() -> None:
    found = found_in(["The answer is C."] * 20)
    assert found.score == 1.0
    assert 0.02 < found.stderr < 0.1


def test_of_many_samples_a_seeded_number_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_readings, "MOST", 50)
    texts = ["The answer is C.", "The answer is A. The answer is C."] * 100
    found, again = found_in(texts), found_in(texts)
    assert (found.samples, found.of) == (50, 200)
    assert found == again
    assert "50 samples of 200, drawn at random" in str(warning_of(found, fraction=True))


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("first_option_postprocess", ["last_option_postprocess"]),
        ("gsm8k_postprocess", ["math_postprocess_v2", "last_number_postprocess"]),
        ("label_postprocess", ["strategyqa_pred_postprocess", "first_line_postprocess"]),
        ("json_postprocess", []),
        ("builtins.str", []),
    ],
)
def test_those_of_the_same_kind_are_plausible(name: str, others: list[str]) -> None:
    assert [spec.type for spec in others_than(PartSpec(name, {}, ""))] == others


def test_every_alternative_needs_no_argument() -> None:
    for name in other_readings.PLAUSIBLE:
        for other in others_than(PartSpec(name, {}, "")):
            build_postprocessor(other)("The answer is (B), 12.")


def test_a_reader_of_one_form_has_readers_of_numbers_options_and_words_in_its_place() -> None:
    spec = PartSpec("after_phrase_postprocess", {"phrase": "Answer:"}, "")
    assert {"last_number_postprocess", "first_option_postprocess"} < {other.type for other in others_than(spec)}


def test_options_go_along_where_they_are_understood() -> None:
    assert [spec.args for spec in others_than(FIRST)] == [{"options": "ABC"}]
    assert others_than(PartSpec("gsm8k_postprocess", {"options": "AB"}, ""))[0].args == {}


def test_the_best_postprocessor_is_that_with_the_highest_score() -> None:
    texts = ["The answer is C."] * 5 + ["The answer is A. The answer is C."] * 4 + ["I do not know"]
    specs = [FIRST, PartSpec("last_option_postprocess", {"options": "ABC"}, "")]
    best = best_extractor(specs, iter(predictions(texts)), len(texts), scorer_of, "accuracy")
    assert best is not None
    assert (best.spec.type, best.score, best.samples, best.of) == ("last_option_postprocess", 0.9, 10, 10)
    assert best_extractor(specs, iter(()), 0, scorer_of, "accuracy") is None


def test_shipped_postprocessors_could_be_in_the_place_of_a_variant() -> None:
    others = others_than(PartSpec("first_option_postprocess_peer", {}, ""))
    assert [spec.type for spec in others] == ["first_option_postprocess", "last_option_postprocess"]
