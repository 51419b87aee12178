"""Names of metrics of which less is better, and scores that say so."""

from __future__ import annotations

from ais_prompt.types import STATUSES, Score, lower_is_better

LESS = (
    *("average_ppl", "perplexity", "word_perplexity", "val_loss", "nll", "bits_per_byte", "avgPPL"),
    *("wer", "WER", "cer", "wer_strict", "EditDistance", "edit_distance", "display_formula_Edit_dist", "error_rate"),
    *("num_errors", "mean_squared_error", "rmse", "ece", "hallucination_rate", "toxicity_score"),
    *("latency_p99", "ttft_seconds_p50", "seconds_per_token", "output_tokens", "cost", "dialogue_error_rate"),
)
MORE = (
    *("accuracy", "exact_match", "f1", "bleu", "rouge1", "score", "rating", "win_rate", "pass@1", "cons@4", "length"),
    *("tokens_per_second", "requests_per_second", "error_detection_accuracy", "errors_found", "loss_reduction"),
    *("neg_mean_squared_error", "within_distance", "no_errors", "edit_similarity", "naive_average", "timeliness"),
)


def test_the_last_word_that_says_so_decides() -> None:
    assert [name for name in LESS if not lower_is_better(name)] == []
    assert [name for name in MORE if lower_is_better(name)] == []


def test_a_score_says_it_by_its_name_unless_its_evaluator_does() -> None:
    def score(metric: str, lower: bool | None = None) -> Score:
        return Score(metric, 1.0, None, 1, dict.fromkeys(STATUSES, 0), lower_is_better=lower)

    for one, less, in_file in (
        (score("wer"), True, True),
        (score("accuracy"), False, None),
        (score("length", lower=True), True, True),
        (score("loss", lower=False), False, False),
    ):
        assert one.lower_is_better is less
        assert one.to_json().get("lower_is_better") is in_file
        assert Score.from_json(one.to_json()) == one
