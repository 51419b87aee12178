"""Summarizers of the peers."""

from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.config import LoadedConfig, parse_run
from ais_prompt.extensions.peers.translate import translate
from ais_prompt.scoring import Row, select, with_averages
from ais_prompt.types import SummarySpec

SCORES = {"a": 0.2, "b": 0.4, "c": 0.9}


def dataset(abbr: str) -> dict[str, Any]:
    return {
        "abbr": abbr,
        "type": "opencompass.datasets.XDataset",
        "reader_cfg": {"input_columns": [], "output_column": None},
        "infer_cfg": {"inferencer": {"type": "opencompass.openicl.icl_inferencer.GenInferencer"}},
    }


def summarized(**summarizer: Any) -> tuple[SummarySpec, list[str]]:
    """Return what a summarizer means for a run of a, b and c, and the notes."""
    values = {
        "models": [{"type": "ScriptedModel", "abbr": "m"}],
        "datasets": [dataset(abbr) for abbr in SCORES],
        "summarizer": summarizer,
    }
    translated, notes = translate(values)
    return parse_run(LoadedConfig(translated, "x")).summary, [note.what for note in notes]


def rows(spec: SummarySpec) -> dict[tuple[str, str | None], Row]:
    """Return the selected rows by name and metric."""
    counts = {"n": 10, "scored": 10, "unparsed": 0, "truncated": 0, "failed": 0}
    measured = [Row(name, "m", "accuracy", score, **counts) for name, score in SCORES.items()]  # type: ignore[arg-type]
    found = with_averages(measured, spec.groups, lambda _: ())
    return {(row.dataset, row.metric): row for row in select(found, spec.entries, shows_missing=spec.shows_missing)}


@pytest.mark.parametrize(
    ("keys", "metric", "score"),
    [
        ({}, "naive_average", 0.5),
        ({"metric": "accuracy"}, "accuracy", 0.5),
        ({"weights": {"a": 1, "b": 1}}, "weighted_average", 0.3),
        ({"weights": {"a": 3, "b": 1, "c": 0}, "metric": "mine"}, "mine", 0.25),
        ({"std": True}, "standard_deviation", 0.2943920288775949),
        ({"sum": True}, "sum", 1.5),
        ({"harmonic_mean": True}, "harmonic_mean", 3 / (5 + 2.5 + 1 / 0.9)),
        ({"metric": "harmonic_mean"}, "harmonic_mean", 3 / (5 + 2.5 + 1 / 0.9)),
        ({"transforms": {"a": "x / 2", "b": "100 - x"}}, "naive_average", (0.1 + 0.6 + 0.9) / 3),
    ],
)
def test_what_a_group_computes(keys: dict[str, Any], metric: str, score: float) -> None:
    spec, notes = summarized(summary_groups=[{"name": "g", "subsets": ["a", "b", "c"], **keys}])
    assert rows(spec)["g", metric].score == pytest.approx(score)
    assert notes == []


def test_members_with_a_metric_have_weights_by_name_and_metric() -> None:
    group = {
        "name": "g",
        "subsets": [["a", "accuracy"], ["b", "accuracy"]],
        "weights": {"a@accuracy": 3, "b@accuracy": 1},
    }
    spec, _ = summarized(summary_groups=[group])
    assert rows(spec)["g", "weighted_average"].score == pytest.approx(0.25)


def test_names_that_are_not_in_the_run_have_a_row_and_one_note() -> None:
    spec, notes = summarized(
        dataset_abbrs=["--- exams ---", "a", ["b", "bleu"], "mmlu", ["gpqa", "accuracy"], "part"],
        summary_groups=[{"name": "part", "subsets": ["a", "z"]}, {"name": "other", "subsets": ["y", "z"]}],
    )
    found = rows(spec)
    assert list(found) == [
        ("a", "accuracy"),
        ("b", "bleu"),
        ("mmlu", None),
        ("gpqa", "accuracy"),
        ("part", "naive_average"),
    ]
    assert [found[key].note for key in [("b", "bleu"), ("mmlu", None), ("gpqa", "accuracy")]] == ["-", "-", "-"]
    assert found["part", "naive_average"].note == "no average: no score of 1 of 2 parts: z"
    assert len(notes) == 2


def test_the_last_of_several_groups_of_a_name_and_metric_counts() -> None:
    first = {"name": "g", "subsets": ["a", "b"]}
    last = {"name": "g", "subsets": ["b", "c"]}
    other = {"name": "g", "subsets": ["a", "c"], "metric": "mine"}
    of_a_dataset = {"name": "a", "subsets": ["b"]}
    spec, notes = summarized(summary_groups=[first, other, last, of_a_dataset])
    found = rows(spec)
    assert found["g", "mine"].score == pytest.approx(0.55)
    assert found["g", "naive_average"].score == pytest.approx(0.65)
    assert found["a", "naive_average"].score == pytest.approx(0.4)
    assert notes == []


def test_names_have_no_slash() -> None:
    values = {
        "models": [{"type": "ScriptedModel", "abbr": "m"}],
        "datasets": [dataset("x/a"), dataset("x/b")],
        "summarizer": {
            "dataset_abbrs": ["", "x/a", ["g", "weighted_average"]],
            "summary_groups": [{"name": "g", "subsets": ["x/a", "x/b"], "weights": {"x/a": 1, "x/b": 2}}],
        },
    }
    translated, _ = translate(values)
    spec = parse_run(LoadedConfig(translated, "x")).summary
    assert [entry.name for entry in spec.entries] == ["x_a", "g"]
    assert spec.groups[0].weights == {"x_a": 1.0, "x_b": 2.0}


def test_other_summarizers_and_their_keys_are_notes() -> None:
    spec, notes = summarized(
        type="opencompass.summarizers.MultiFacetedSummarizer",
        dataset_abbrs_list=[{"name": "x", "dataset_abbrs": ["a", "b"]}, {"name": "y", "dataset_abbrs": ["b", "c"]}],
    )
    assert [entry.name for entry in spec.entries] == ["a", "b", "c"]
    assert notes == ["the tables of dataset_abbrs_list are shown as one"]
    _, notes = summarized(type="ais_bench.benchmark.summarizers.VBenchSummarizer", attr="performance", odd=1)
    assert len(notes) == 3


def test_the_total_of_mt_bench_is_over_the_rated_answers_of_all_temperatures() -> None:
    kind = {"type": "opencompass.summarizers.MTBenchSummarizer"}
    judge = {"type": "ScriptedModel", "abbr": "judge"}
    template = {"type": "opencompass.openicl.icl_prompt_template.PromptTemplate", "template": "{prediction}"}
    evaluator = {"type": "opencompass.openicl.icl_evaluator.LMEvaluator", "prompt_template": template}
    scoring = {"eval_cfg": {"evaluator": evaluator}}
    subjective = {"type": "opencompass.summarizers.SubjectiveSummarizer", "function": "subjective"}
    for own, summarizer in (({"summarizer": kind}, subjective), ({}, kind)):
        values = {
            "models": [{"type": "ScriptedModel", "abbr": "m"}],
            "datasets": [{**dataset(abbr), **scoring, **own} for abbr in ("a", "b", "c")],
            "judge_models": [judge],
            "summarizer": summarizer,
        }
        translated, notes = translate(values)
        spec = parse_run(LoadedConfig(translated, "x")).summary
        counts = {"n": 9, "scored": 9, "unparsed": 0, "truncated": 0, "failed": 0}
        measured = [
            Row(name, "m", metric, score, **counts)  # type: ignore[arg-type]
            for name, total, rated in (("a", 6.0, 10.0), ("b", 9.0, 20.0), ("c", 3.0, 10.0))
            for metric, score in (("total", total), ("rated", rated))
        ]
        averages = with_averages(measured, spec.groups, lambda _: ())
        [total] = [row for row in averages if row.dataset == "MTBench"]
        assert (total.metric, total.score) == ("total", pytest.approx((60 + 180 + 30) / 40))
        assert not notes
