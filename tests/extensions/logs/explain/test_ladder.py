"""`explain`: injected causes are found, to 0.1 point where a step is computed, one at a time and together."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.comparison import read_stored_run
from ais_prompt.extensions.logs.explain.ladder import Ladder, explain_runs
from tests.extensions.logs.writers import Asked, write_inspect, write_inspect_json, write_lm_eval
from tests.support.cli import run_cli
from tests.support.real_data import REAL_DATA, ROOT, needs

RAN = ROOT / "tests/data/other_logs"
LOGS = REAL_DATA / "foreign_logs"
NAMES = "anna ben carla david emma felix greta hugo ida jonas".split()


def asked(number: int) -> Asked:
    """A question whose answer is right but for every fifth; the filter of the log takes the number after ANSWER."""
    right = number % 5 != 0
    said = number if right else number + 1
    question = f"{NAMES[number % 10]} has {number} apples. How many apples has {NAMES[number % 10]}?"
    return Asked(question, str(number), f"Thinking.\nANSWER: {said}\nNot {number + 7}.", str(said), float(right))


BASE = tuple(asked(number) for number in range(1, 41))


def ladder_of(first: Path, second: Path, dataset: str | None = None) -> Ladder:
    found, notes = explain_runs(read_stored_run(str(first)), read_stored_run(str(second)), dataset)
    assert found, notes
    return found[0]


def steps(ladder: Ladder) -> dict[str, float]:
    """Cause → its share in points."""
    return {step.cause: round(100 * step.difference, 3) for step in ladder.steps}


def places(tmp_path: Path) -> tuple[Path, Path]:
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    return first, second


def cut(rows: Sequence[Asked]) -> list[Asked]:
    """Every tenth answer, a right one, is cut before the number."""
    return [
        replace(one, answer="Thinking.", extracted="", value=0.0, is_cut=True) if number % 10 == 0 else one
        for number, one in enumerate(rows)
    ]


def test_truncation_is_certain_where_the_logs_tell_why_answers_end(tmp_path: Path) -> None:
    first, second = places(tmp_path)
    ladder = ladder_of(write_inspect(first, BASE), write_inspect(second, cut(BASE)))
    assert steps(ladder) == {"truncation": -10.0}
    assert ladder.steps[0].certainty == "certain"


def test_two_tools_with_other_filters(tmp_path: Path) -> None:
    """The same answers: the extraction of lm-eval takes the last number."""
    first, second = places(tmp_path)
    last = [replace(one, extracted=str(int(one.gold) + 7), value=0.0) for one in BASE]
    log = write_lm_eval(second, last)
    results = json.loads(next(second.glob("results*")).read_text())
    results["configs"]["sums"]["filter_list"] = [
        {"name": name, "filter": [{"function": "regex", "regex_pattern": r"(\d+)", "group_select": -1}]}
        for name in ("strict", "flexible")
    ]
    next(second.glob("results*")).write_text(json.dumps(results))
    ladder = ladder_of(write_inspect(first, BASE), log, "sums-strict")
    assert steps(ladder) == {"extraction": -80.0}
    assert ladder.steps[0].certainty == "certain"
    assert ladder.pairing.ways == {"question": 40}
    assert [[None if one is None else round(one, 3) for one in row] for row in ladder.crossed] == [
        [0.8, 0.0],
        [0.8, 0.0],
    ]


def test_a_gold_in_another_notation_is_the_same_gold(tmp_path: Path) -> None:
    """The golds of GSM8K end with "#### 18", which the metric of lm-eval strips; another tool has "18" alone."""
    first, second = places(tmp_path)
    log = write_lm_eval(second, [replace(one, gold=f"So. #### {one.gold}") for one in BASE])
    results = next(second.glob("results*"))
    values = json.loads(results.read_text())
    values["configs"]["sums"]["metric_list"][0]["regexes_to_ignore"] = ["(?s).*#### "]
    results.write_text(json.dumps(values))
    ladder = ladder_of(write_inspect(first, BASE), log, "sums-strict")
    assert steps(ladder) == {}
    assert [round(score or 0, 3) for row in ladder.crossed for score in row] == [0.8] * 4


def test_a_hidden_field_of_the_body(tmp_path: Path) -> None:
    first, second = places(tmp_path)
    other = [replace(one, answer=f"{one.answer} Bye.") for one in BASE]
    ladder = ladder_of(write_inspect(first, BASE), write_inspect(second, other, min_tokens=16))
    assert ladder.requests == {"min_tokens": (None, 16)}
    assert steps(ladder) == {"decoding or chance": 0.0}
    assert ladder.steps[0].certainty == "inferred"
    assert "min_tokens None → 16" in ladder.steps[0].why


def test_dropped_failures_and_other_samples(tmp_path: Path) -> None:
    first, second = places(tmp_path)
    kept = [one for one in BASE if one.value or int(one.gold) > 20]
    ladder = ladder_of(write_inspect(first, BASE), write_inspect(second, kept))
    assert steps(ladder) == {"other samples": round(100 * (32 / 36 - 32 / 40), 3)}
    assert ladder.steps[0].certainty == "certain"


def test_failures_that_a_tool_leaves_out(tmp_path: Path) -> None:
    """Requests of the second log failed on half of the questions with wrong answers, and these are not scored."""
    first, second = places(tmp_path)
    path = write_inspect_json(second, BASE)
    values = json.loads(path.read_text())
    for sample in values["samples"][4::10]:
        sample.update(error={"message": "timeout"}, scores={})
    values["results"]["scores"][0]["metrics"]["accuracy"]["value"] = 32 / 36
    path.write_text(json.dumps(values))
    ladder = ladder_of(write_inspect(first, BASE), path)
    assert steps(ladder) == pytest.approx({"failures": 100 * (32 / 36 - 0.8)}, abs=0.01)
    assert ladder.steps[0].certainty == "certain"


def test_another_aggregation(tmp_path: Path) -> None:
    first, second = places(tmp_path)
    log = write_lm_eval(second, BASE)
    results = next(second.glob("results*"))
    results.write_text(results.read_text().replace("0.8", "0.75"))
    ladder = ladder_of(write_inspect(first, BASE), log, "sums-strict")
    assert steps(ladder) == {"aggregation": -5.0}


def test_three_causes_at_once_add_up(tmp_path: Path) -> None:
    first, second = places(tmp_path)
    changed = [one for one in cut(BASE) if int(one.gold) <= 33]
    changed = [replace(one, gold="none", value=0.0) if int(one.gold) % 7 == 1 else one for one in changed]
    ladder = ladder_of(write_inspect(first, BASE), write_inspect(second, changed))
    assert set(steps(ladder)) == {"other samples", "data", "truncation"}
    assert sum(steps(ladder).values()) == pytest.approx(100 * ladder.difference, abs=0.01)


def test_a_rule_that_is_not_here_leaves_the_rest_open(tmp_path: Path) -> None:
    first, second = places(tmp_path)
    odd = [replace(one, value=1 - one.value) if int(one.gold) % 4 == 0 else one for one in BASE]
    ladder = ladder_of(write_inspect(first, BASE), write_inspect(second, odd))
    assert [step.cause for step in ladder.steps] == ["scoring rule"]
    assert ladder.steps[0].certainty == "certain"
    assert ladder.crossed[0][1] is None


@pytest.mark.thorough
def test_too_few_pairs_are_not_divided(tmp_path: Path) -> None:
    first, second = places(tmp_path)
    others = [replace(one, question=f"Spell {one.question[::-1]}") for one in BASE[:30]]
    logs = write_inspect(first, BASE), write_inspect(second, [*others, *BASE[30:]])
    ladder = ladder_of(*logs)
    assert not ladder.steps
    assert ladder.pairing.share == pytest.approx(0.25)
    compared = run_cli("compare", *map(str, logs), "--json", folder=tmp_path)
    [found] = json.loads(compared.stdout)["comparisons"]
    assert not found["shares"]
    assert found["undivided"] == "only 25 % of the samples are paired, so the difference is not divided"
    assert found["undivided"] in run_cli("compare", *map(str, logs), folder=tmp_path).stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("first", "second", "dataset", "found"),
    [
        ("inspect_match.eval", "lm_eval", "sums_lm-strict-match", {"extraction": 15.0}),
        ("inspect_match.eval", "lm_eval", "sums_lm-flexible-extract", {}),
        ("inspect_match.eval", "inspect_pattern.eval", None, {"truncation": -25.0, "extraction": 10.0}),
    ],
)
def test_tools_that_ran_on_the_same_questions(
    first: str, second: str, dataset: str | None, found: dict[str, float]
) -> None:
    ladder = ladder_of(RAN / first, RAN / second, dataset)
    assert ladder.pairing.share == 1
    assert steps(ladder) == found
    assert {step.certainty for step in ladder.steps} <= {"certain"}


@pytest.mark.thorough
def test_the_sentence_the_table_and_json(tmp_path: Path) -> None:
    first, second = places(tmp_path)
    logs = str(write_inspect(first, BASE)), str(write_inspect(second, cut(BASE)))
    done = run_cli("explain", *logs, "--pairs", "2", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "-10.0 = truncation -10.0 [certain]" in done.stdout
    assert "… and 2 more" in done.stdout
    [found] = json.loads(run_cli("explain", *logs, "--json", folder=tmp_path).stdout)["explanations"]
    assert (found["steps"][0]["cause"], found["pairing"]["paired"]) == ("truncation", 40)
    assert len(found["steps"][0]["pairs"]) == 4
    compared = run_cli("compare", *logs, folder=tmp_path)
    assert "-10.0 (" in compared.stdout
    assert not (tmp_path / "outputs").exists()


def edited(path: Path, place: Path, change: Callable[[list[Any]], None], accuracy: float) -> Path:
    """A copy of a log of inspect_ai in JSON with changed samples and their accuracy."""
    values = json.loads(path.read_text())
    change(values["samples"])
    values["results"]["scores"][0]["metrics"]["accuracy"]["value"] = accuracy
    place.write_text(json.dumps(values))
    return place


@needs(LOGS)
def test_a_cut_answer_in_a_copy_of_a_real_log(tmp_path: Path) -> None:
    def cut_first(samples: list[Any]) -> None:
        choice = samples[0]["output"]["choices"][0]
        choice.update(stop_reason="max_tokens")
        choice["message"]["content"] = "I need to"
        samples[0]["scores"]["choice"].update(value="I", answer="")

    log = LOGS / "every_eval_ever/inspect/data_arc_sonnet.json"
    ladder = ladder_of(log, edited(log, tmp_path / "copy.json", cut_first, 0.8))
    assert [(step.cause, step.certainty) for step in ladder.steps] == [("truncation", "certain")]


@needs(LOGS)
def test_real_logs_pair_as_they_must() -> None:
    arc = ladder_of(*(LOGS / f"every_eval_ever/inspect/data_arc_{model}.json" for model in ("qwen", "sonnet")))
    assert (len(arc.pairing.names), arc.pairing.after) == (3, 5)
    assert "max_tokens" in arc.requests
    runs = [read_stored_run(str(LOGS / f"inspect_ai/{name}")) for name in sorted_popularity()]
    _, [note] = explain_runs(*runs)
    assert "10 of 10 pairs have equal answers; by the rule of the other log the unscored answers score 80.0 %" in note


def sorted_popularity() -> list[str]:
    return sorted(path.name for path in (LOGS / "inspect_ai").glob("2025-02*.eval"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("start", "reading"), [("", ""), ("So. #### ", ", dataset_postprocessor=dict(type='gsm8k_dataset_postprocess')")]
)
def test_a_run_of_ours_is_compared_with_a_log(tmp_path: Path, start: str, reading: str) -> None:
    first, _ = places(tmp_path)
    log = str(write_inspect(first, BASE))
    rows = [{"question": one.question, "answer": f"{start}{one.gold}"} for one in BASE]
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = {one.question.replace("?", r"\?"): one.answer for one in BASE}
    (tmp_path / "eval.py").write_text(
        f"""
models = [dict(type='ScriptedModel', abbr='m', answers={answers!r})]
datasets = [dict(
    abbr='sums', type='LocalDataset', path='sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template='Sum. {{question}}'),
        retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(
        evaluator=dict(type='AccEvaluator'), pred_postprocessor=dict(type='first_number_postprocess'){reading}))]
"""
    )
    assert run_cli("run", "eval.py", folder=tmp_path).returncode == 0
    for verb in ("compare", "explain"):
        done = run_cli(verb, "eval", log, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "80.0 %" in done.stdout
    [found] = json.loads(run_cli("explain", "eval", log, "--json", folder=tmp_path).stdout)["explanations"]
    assert "data" not in [step["cause"] for step in found["steps"]]


def test_logs_of_two_tools_are_compared_directly(tmp_path: Path) -> None:
    first, second = places(tmp_path)
    logs = str(write_inspect(first, BASE)), str(write_lm_eval(second, cut(BASE)))
    done = run_cli("compare", *logs, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "accuracy → exact_match" in done.stdout
    assert "-10.0" in done.stdout
    assert "only in" not in done.stdout
