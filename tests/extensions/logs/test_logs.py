"""Logs of other tools: read whole, found by their content, bounded, and scored like runs of this program."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.cli import VERBS
from ais_prompt.config import Options
from ais_prompt.extensions.logs import log_files, rules
from ais_prompt.extensions.logs.import_log import import_log
from ais_prompt.extensions.logs.rules import logged_choice, logged_letters, logged_marked_letter
from ais_prompt.plan import stored_spec
from ais_prompt.report import StoredTask, read_stored_results
from ais_prompt.store import ImportedLog, RunFolder
from tests.core.unit.cli.test_output import document
from tests.extensions.logs.writers import (
    ASKED,
    PATTERN,
    PROMPT,
    WRITERS,
    inspect_header,
    inspect_samples,
    write_evalscope,
    write_inspect,
    write_inspect_json,
    write_json,
    write_lines,
    write_lm_eval,
)
from tests.support.cli import run_cli
from tests.support.real_data import REAL_DATA, needs

LOGS = REAL_DATA / "foreign_logs"
FINISH_REASONS = {"inspect_ai", "inspect_ai in JSON", "evalscope", "HELM"}


def imported(path: Path, work_dir: Path) -> ImportedLog:
    return import_log(path, Options(work_dir=str(work_dir)), "aisprompt import")


def tasks_of(log: ImportedLog) -> dict[str, StoredTask]:
    return {task.dataset: task for task in read_stored_results(log.folder).tasks}


@pytest.fixture(params=WRITERS)
def tool(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def log(tool: str, tmp_path: Path) -> Path:
    folder = tmp_path / "log"
    folder.mkdir()
    return WRITERS[tool](folder)


def test_a_log_is_read_whole(tool: str, log: Path, tmp_path: Path) -> None:
    task = next(iter(tasks_of(imported(log, tmp_path / "runs")).values()))
    assert task.scores[0].value == pytest.approx(2 / 3)
    samples = list(task.samples())
    for sample, asked in zip(samples, ASKED, strict=True):
        score = sample.score
        assert score is not None
        prediction = sample.prediction
        assert (prediction.prediction, prediction.gold) == (asked.answer, asked.gold)
        assert next(iter(score.values.values())) == asked.value
        if tool not in ("HELM",):
            assert score.extracted == asked.extracted
        if tool != "NeMo Evaluator":
            assert prediction.columns["question"] == asked.question
            assert sample.question() == PROMPT.format(asked.question)
        cut = asked.is_cut and tool in FINISH_REASONS
        assert score.status == ("truncated" if cut else "scored")
        known = "length" if cut else "stop"
        assert prediction.completions[0].finish_reason == (known if tool in FINISH_REASONS else "unknown")


def test_the_content_decides_and_not_the_name(log: Path, tmp_path: Path) -> None:
    for path in sorted(log.rglob("*")) if log.is_dir() else [log]:
        if path.suffix in (".eval", ".jsonl") and path.parent.name != "m":  # evalscope's names pair its files
            path.rename(path.with_suffix(".txt"))
    found = log if log.is_dir() or log.exists() else log.with_suffix(".txt")
    assert imported(found, tmp_path / "runs").tasks[0].scores[0].value == pytest.approx(2 / 3)


def test_every_verb_works_on_an_imported_log(tmp_path: Path) -> None:
    log = write_inspect(tmp_path, max_tokens=64)
    for _ in range(2):
        done = run_cli("import", "log.eval", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "accuracy 0.6667" in done.stdout
    [first, _] = sorted((tmp_path / "outputs/log").iterdir())
    [row] = json.loads((first / "summary/summary.json").read_text())  # what `view` shows
    assert (row["dataset"], row["score"]) == ("sums", pytest.approx(2 / 3))
    scored = run_cli("score", "log", folder=tmp_path)
    assert (scored.returncode, "66.7 %" in scored.stdout) == (0, True), scored.stderr
    first, second = sorted((tmp_path / "outputs/log").iterdir())
    compared = run_cli("compare", str(first), str(second), folder=tmp_path)
    assert compared.returncode == 0, compared.stderr
    assert run_cli("baseline", "log", "-o", "b.json", folder=tmp_path).returncode == 0
    for form in ("csv", "inspect", "lm-eval", "eee"):
        assert run_cli("export", "log", "--to", form, folder=tmp_path).returncode == 0
    dataset = stored_spec(read_stored_results(imported(log, tmp_path / "runs").folder).folder).datasets[0]
    assert dataset.source.args["decoding"] == {"temperature": 0.0, "max_tokens": 64}


def test_the_run_of_a_folder_has_its_whole_name(tmp_path: Path) -> None:
    folder = tmp_path / "out-1.8.1"
    folder.mkdir()
    assert imported(write_lm_eval(folder), tmp_path / "runs").folder.root.parent.name == "out-1.8.1"


@pytest.mark.process
def test_no_verb_refuses_the_log_of_any_tool(log: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert run_cli("import", str(log), folder=tmp_path).returncode == 0
    [name] = (tmp_path / "outputs").iterdir()
    runs = sorted(map(str, name.iterdir()))
    for verb in (
        *(("score", name.name), ("status", name.name), ("baseline", name.name, "-o", "b.json")),
        *(("compare", *runs), ("explain", *runs, "--html", "pairs.html"), ("seal", name.name, "-o", "sealed")),
        *(("export", name.name, "--to", form) for form in ("csv", "parquet", "inspect", "lm-eval", "eee")),
    ):
        if verb[0] in VERBS:  # `seal` is of another extension
            done = run_cli(*verb, folder=tmp_path)
            assert done.returncode == 0, f"{verb}: {done.stderr}"


@pytest.mark.process
def test_a_rule_of_its_own_keeps_its_scores(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    header = inspect_header()
    header["results"]["scores"][0].update(name="graded", scorer="graded")
    samples = inspect_samples()
    for sample in samples:
        sample["scores"] = {"graded": {"value": "I" if sample["id"] == 1 else "C"}}
    write_json(tmp_path / "log.json", {**header, "samples": samples})
    done = run_cli("import", "log.json", folder=tmp_path)
    assert "the tool scores by a rule of its own" in done.stderr
    scored = run_cli("score", "log", folder=tmp_path)
    assert scored.returncode == 0, scored.stderr
    assert "keeps the scores of its log" in caplog.text
    [folder] = (tmp_path / "outputs/log").iterdir()
    [task] = read_stored_results(RunFolder(folder)).tasks
    assert task.scores[0].value == pytest.approx(2 / 3)


def test_another_rule_takes_the_place_of_that_of_the_log(tmp_path: Path) -> None:
    write_lm_eval(tmp_path / "log")
    done = run_cli("import", "log", "--json", folder=tmp_path)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["kind"] == "import"
    assert (tmp_path / document["folder"] / "run.json").is_file()
    assert all(task["samples"] for task in document["tasks"])
    rule = "{'evaluator': {'type': 'ContainedAnswerEvaluator'}}"
    scored = run_cli("score", "log", "--set", f"datasets.0.eval_cfg={rule}", folder=tmp_path)
    assert scored.returncode == 0, scored.stderr
    [folder] = (tmp_path / "outputs/log").iterdir()
    evaluators = [dataset.eval.evaluator for dataset in stored_spec(RunFolder(folder)).datasets]
    assert [one.type for one in evaluators if one] == ["ContainedAnswerEvaluator", "LoggedMatchEvaluator"]


def test_the_forms_of_inspect(tmp_path: Path) -> None:
    """The first version with a transcript, the third with a pool of messages, epochs, errors, unscored samples."""
    one, two, three = inspect_samples()
    one["transcript"] = {"events": one.pop("events"), "content": {"a1": "the long text"}}
    del one["attachments"]
    one["transcript"]["events"][0]["input"][0]["content"] = "tc://a1"
    two["events"][0].update(input=[], input_refs=[[1, 2]])
    two["events_data"] = {"messages": [{"role": "user", "content": "not this"}, {"role": "user", "content": "pooled"}]}
    two["scores"] = {}
    three["error"] = {"message": "the container died"}
    del three["scores"]
    again = {**inspect_samples()[0], "epoch": 2, "scores": {"pattern": {"value": "I", "answer": "7"}}}
    header = inspect_header(version=3)
    write_json(tmp_path / "log.json", {**header, "samples": [one, two, three, again]})
    samples = list(tasks_of(imported(tmp_path / "log.json", tmp_path / "runs"))["sums"].samples())
    assert [sample.question() for sample in samples[:2]] == ["the long text", "pooled"]
    assert [sample.status for sample in samples] == ["scored", "failed", "failed"]
    assert samples[0].score is not None
    assert samples[0].score.values == {"accuracy": 0.5}
    assert [one.values for one in samples[0].score.repeats] == [{"accuracy": 1.0}, {"accuracy": 0.0}]
    assert samples[2].failure == "log: the container died"


def test_zstd_and_deflate_give_the_same(tmp_path: Path) -> None:
    made = []
    for name, method in (("a", zipfile.ZIP_DEFLATED), ("b", 93)):
        (tmp_path / name).mkdir()
        made.append(write_inspect(tmp_path / name, compression=method))
    first, second = (list(tasks_of(imported(path, tmp_path / "runs"))["sums"].samples()) for path in made)
    assert first == second


def test_filters_of_lm_eval_are_tasks(tmp_path: Path) -> None:
    log = imported(write_lm_eval(tmp_path), tmp_path / "runs")
    assert [task.dataset for task in log.tasks] == ["sums-strict", "sums-flexible"]
    scoring = log.tasks[0].config["eval_cfg"]
    assert scoring["pred_postprocessor"]["pattern"] == r"ANSWER: (\d+)"
    assert scoring["evaluator"]["ignore_case"]


def test_log_likelihoods_of_lm_eval(tmp_path: Path) -> None:
    line = {
        "doc_id": 0,
        "doc": {"query": "The sky is"},
        "target": "1",
        "arguments": [["The sky is", " green"], ["The sky is", " blue"]],
        "resps": [[["-3.5", "False"]], [["-1.25", "True"]]],
        "filtered_resps": [["-3.5", "False"], ["-1.25", "True"]],
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
    }
    write_lines(tmp_path / "samples_sky.jsonl", [line])
    [sample] = tasks_of(imported(tmp_path / "samples_sky.jsonl", tmp_path / "runs"))["sky"].samples()
    assert (sample.prediction.prediction, sample.prediction.gold) == ("blue", "blue")
    assert sample.prediction.labels == {"green": {"log_likelihood": -3.5}, "blue": {"log_likelihood": -1.25}}


def bomb(folder: Path) -> None:
    with zipfile.ZipFile(folder / "x.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(inspect_header()))
        for number in range(20):
            archive.writestr(f"samples/{number}_epoch_1.json", b" " * 1_000_000)


def link(folder: Path) -> None:
    (folder / "x.jsonl").symlink_to("/etc/hostname")


def twice(folder: Path) -> None:
    (folder / "x.jsonl").write_text('{"problem_idx": 0, "reward": 1, "reward": 0, "model_response": "a"}\n')


def long_line(folder: Path) -> None:
    write_lines(folder / "x.jsonl", [{"problem_idx": 0, "reward": 1, "model_response": "a" * 5000}])


def cut(folder: Path) -> None:
    path = write_inspect(folder)
    path.write_bytes(path.read_bytes()[:-40])


def no_log(folder: Path) -> None:
    write_json(folder / "x.json", {"some": "thing"})


def deep(folder: Path, levels: int = 900) -> None:
    path = write_inspect_json(folder)
    nested = "[" * levels + "1" + "]" * levels
    path.write_text(path.read_text().replace('"temperature": 0.0', f'"temperature": {nested}'))


def deeper(folder: Path) -> None:
    deep(folder, levels=4000)


def two_tools(folder: Path) -> None:
    write_lm_eval(folder)
    write_inspect(folder)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("write", "said"),
    [
        (bomb, "the archive is no log"),
        (link, "leads out of the run folder"),
        (twice, "the key 'reward' occurs twice"),
        (long_line, "it is too large"),
        (cut, "the archive cannot be read"),
        (no_log, "this is of none of"),
        (deep, "nested too deep"),
        (deeper, "nested too deep"),
        (two_tools, "must be of one known format"),
    ],
)
def test_a_hostile_or_broken_log_has_one_error(
    write: Callable[[Path], Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_files, "LONGEST_LINE", 4000)
    (tmp_path / "log").mkdir()
    write(tmp_path / "log")
    done = run_cli("import", "log", folder=tmp_path)
    assert done.returncode in (2, 3)
    assert said in done.stderr
    assert "fix:" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "outputs").rglob("config.py"))


def test_an_unfinished_run_of_evalscope_with_a_hostile_config(tmp_path: Path) -> None:
    write_evalscope(tmp_path / "log")
    shutil.rmtree(tmp_path / "log/reports")
    lists = "".join(f"a{number + 1}: &a{number + 1} [{', '.join([f'*a{number}'] * 9)}]\n" for number in range(20))
    config = f"a0: &a0 [x]\n{lists}generation_config: {{stop_seqs: *a20}}\n"
    (tmp_path / "log/configs/task.yaml").write_text(config)
    done = run_cli("import", "log", folder=tmp_path)
    assert (done.returncode, "3 samples" in done.stdout) == (0, True), done.stderr


HOSTILE = r"(\w|\w\w)+$"


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less for a pattern."""
    monkeypatch.setattr(rules, "MOST_SECONDS", 0.1)


@pytest.mark.process
@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(
    ("pattern", "ignore", "why"),
    [
        (HOSTILE, [], "takes more than 0.1 s on an answer"),
        ("(?s)(.+)", [HOSTILE], "takes more than 0.1 s on an answer"),
        (r"((\d{1000}){1000}){1000}", [], ""),
        (PATTERN, ["("], ""),
    ],
    ids=["filter", "ignored text", "too large", "no pattern"],
)
def test_a_hostile_pattern_is_a_rule_that_cannot_be_computed(
    pattern: str, ignore: list[str], why: str, tmp_path: Path
) -> None:
    rows = [replace(one, answer=f"{'a' * 60} {one.answer}.", extracted="a" * 60 + "!") for one in ASKED]
    write_lm_eval(tmp_path / "log", rows, pattern, regexes_to_ignore=ignore)
    done = run_cli("import", "log", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert why in done.stderr
    assert "the tool scores by a rule of its own" in done.stderr
    for verb in (["score", "log"], ["explain", "log", "log"]):
        assert run_cli(*verb, folder=tmp_path).returncode == 0


@pytest.mark.process
@pytest.mark.usefixtures("soon")
def test_a_hostile_pattern_of_a_config_ends_the_task_with_one_error(tmp_path: Path) -> None:
    rows = [replace(one, answer="a" * 60 + ".") for one in ASKED]
    write_lm_eval(tmp_path / "log", rows)
    assert run_cli("import", "log", folder=tmp_path).returncode == 0
    reading = {"type": "logged_regex", "pattern": HOSTILE}
    rule = {"pred_postprocessor": reading, "evaluator": {"type": "AccEvaluator"}}
    done = run_cli("score", "log", "--set", f"datasets.0.eval_cfg={rule}", folder=tmp_path)
    assert done.returncode != 0
    assert "cannot be computed" in done.stderr
    assert "Traceback" not in done.stderr


def test_infinity_in_a_request_does_not_break_the_config(tmp_path: Path) -> None:
    path = write_json(tmp_path / "log.json", {**inspect_header(), "samples": inspect_samples(top_k=float("inf"))})
    folder = imported(path, tmp_path / "runs").folder
    assert stored_spec(folder).datasets[0].source.args["decoding"] == {"temperature": 0.0, "top_k": None}


def test_nan_is_no_score(tmp_path: Path) -> None:
    line = '{"problem_idx": %d, "reward": %s, "model_response": "a", "expected_answer": "a"}\n'
    (tmp_path / "r.jsonl").write_text(line % (0, "NaN") + line % (1, "1"))
    [task] = imported(tmp_path / "r.jsonl", tmp_path / "runs").tasks
    assert task.scores[0].value == 1.0
    assert task.scores[0].counts["failed"] == 1


@pytest.mark.thorough
@needs(LOGS)
@pytest.mark.parametrize(
    ("path", "samples", "value"),
    [
        ("inspect_ai/2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval", 10, None),
        ("inspect_ai/2025-02-11T15-18-04-05-00_popularity_mj7khqpMM4GBCfVQozKgzB.eval", 10, 0.8),
        ("inspect_ai/log_message_deduplication.eval", 1, 0.0),
        ("inspect_ai/log_streaming.eval", 2, 0.75),
        ("every_eval_ever/inspect/data_arc_qwen.json", 3, 1 / 3),
        ("every_eval_ever/inspect/data_arc_sonnet.json", 5, 1.0),
        ("every_eval_ever/lm_eval/samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl", 10, 0.0),
        ("every_eval_ever/helm/narrative_qa-model=openai_gpt2", 4, 0.0),
        ("evalscope/qwen-plus/reviews/qwen-plus/iquiz_EQ.jsonl", 10, 0.7),
        ("evalscope/qwen3-max/predictions/qwen3-max/iquiz_EQ.jsonl", 10, 0.6),
        ("evalscope/qwen3-max/reviews/qwen3-max/ifeval_default.jsonl", 10, 0.8),
    ],
)
def test_real_logs_give_their_figures(path: str, samples: int, value: float | None, tmp_path: Path) -> None:
    [task] = imported(LOGS / path, tmp_path).tasks
    assert task.samples == samples
    assert (task.scores[0].value if task.scores else None) == (None if value is None else pytest.approx(value))


@needs(LOGS)
def test_one_log_in_both_forms_has_equal_records(tmp_path: Path) -> None:
    first, second = (imported(LOGS / f"inspect_ai/log_formats.{form}", tmp_path) for form in ("eval", "json"))
    assert [list(task.samples()) for task in tasks_of(first).values()] == [
        list(task.samples()) for task in tasks_of(second).values()
    ]


@pytest.mark.parametrize(
    ("text", "single", "several"),
    [
        ("ANSWER: B", "B", "B"),
        ("Think.\nanswer: b.", "B", "B"),
        ("ANSWER: A\nNo.\nANSWER: C", "C", "C"),
        ("ANSWER: $B$", "B", "B"),
        ("ANSWER: (B)", "B", "B"),
        ("ANSWER: A,", "A", "A"),
        ("ANSWER: A, C", None, "A, C"),
        ("ANSWER: C and A", None, "A, C"),
        ("ANSWER: CA", None, "A, C"),
        ("ANSWER: A C", None, "A, C"),
        ("The answer is A.", None, None),
        ("ANSWER: 1", None, None),
    ],
)
def test_letters_are_read_as_inspect_ai_reads_them(text: str, single: str | None, several: str | None) -> None:
    """The readings are those of `parse_answers` of inspect_ai 0.3.285 with 26 choices."""
    assert (logged_letters(text), logged_letters(text, several=True)) == (single, several)


def test_several_letters_are_right_together(tmp_path: Path) -> None:
    """The rule of a log whose questions have several right choices gives its verdicts."""
    header = inspect_header()
    header["results"]["scores"][0].update(name="choice", scorer="choice")
    samples = inspect_samples()
    for sample, said, value in zip(samples, ("B and A", "A", "C, B, A"), "CIC", strict=True):
        letters = sorted(set(said) & set("ABC"))
        sample["output"]["choices"][0]["message"]["content"] = f"Thinking.\nANSWER: {said}"
        sample["target"] = [*"AB"] if value == "C" and len(letters) == 2 else [*"ABC"]
        sample["scores"] = {"choice": {"value": value, "answer": ", ".join(letters)}}
    write_json(tmp_path / "log.json", {**header, "samples": samples})
    scoring = stored_spec(imported(tmp_path / "log.json", tmp_path / "runs").folder).datasets[0].eval
    parts = [(part.type, part.args) for part in (scoring.pred_postprocessor, scoring.evaluator) if part]
    assert parts == [("logged_letters", {"several": True}), ("LoggedMatchEvaluator", {"match": "letters"})]


@pytest.mark.parametrize(
    ("text", "which", "found"),
    [
        ("It is (B), not (A).", 0, "(B)"),
        ("It is (B), not (A).", -1, "(A)"),
        ("They watch Guilty of Romance.", 0, "(B)"),
        ("New York! Or guilty.", 0, "(C)"),
        ("New York! Or guilty.", -1, "(A)"),
        ("The answer: C", 0, "(C)"),
        ("The answer: D", 0, None),
        ("C", 0, None),
    ],
)
def test_choices_are_read_as_lm_eval_reads_them(text: str, which: int, found: str | None) -> None:
    """The readings are those of `MultiChoiceRegexFilter` of lm-evaluation-harness 0.4.13."""
    choices = "Guilty\nGuilty of Romance\nnew york"
    read = logged_choice(text, r"(\([A-Z]\))", which, True, True, sample_choices=choices)
    assert (None if read is None else str(read)) == found
    assert logged_choice("guilty", r"(\([A-Z]\))") is None  # without choices only the pattern is known


def test_the_choices_of_each_sample_are_read_by_the_rule_of_lm_eval(tmp_path: Path) -> None:
    """The rule of the log gives its verdicts, and `score` repeats them; both need the choices of the sample."""
    colours = ("red", "green", "blue", "pink")
    said = ["I say {0}.", "It is ({1}).", "So: {1}", "No idea."]
    lines = []
    for number in range(24):
        choices = [*colours[number % 4 :], *colours[: number % 4]]
        right = number % 3
        answer = said[number % 4].format(choices[right].upper(), "ABCD"[right])
        is_read = number % 4 != 3
        gold = f"({'ABCD'[right if number % 5 else 3]})"
        extracted = f"({'ABCD'[right]})" if is_read else "[invalid]"
        lines.append(
            {
                "doc_id": number,
                "doc": {"question": f"Which colour has number {number}?", "choices": choices},
                "target": gold,
                "arguments": {"gen_args_0": {"arg_0": f"{number}", "arg_1": {}}},
                "resps": [[answer]],
                "filtered_resps": [extracted],
                "filter": "flexible",
                "metrics": ["exact_match"],
                "exact_match": float(extracted == gold),
            }
        )
    step = {"function": "multi_choice_regex", "regex_pattern": r"(\([A-Z]\))", "ignore_case": True}
    config = {
        "metric_list": [{"metric": "exact_match", "ignore_numbers": True}],
        "filter_list": [{"name": "flexible", "filter": [step, {"function": "take_first"}]}],
    }
    write_lines(tmp_path / "samples_colours_2026-01-01T00-00-00.jsonl", lines)
    write_json(
        tmp_path / "results_2026-01-01T00-00-00.json",
        {"results": {}, "configs": {"colours": config}, "n-shot": {}, "model_name": "m"},
    )
    log = imported(tmp_path, tmp_path / "runs")
    scoring = stored_spec(log.folder).datasets[0].eval
    assert scoring.pred_postprocessor is not None
    assert scoring.pred_postprocessor.type == "logged_choice"
    before = [sample.score for sample in tasks_of(log)["colours"].samples()]
    assert run_cli("score", str(log.folder.root), folder=tmp_path).returncode == 0
    after = [sample.score for sample in tasks_of(log)["colours"].samples()]
    assert [one and (one.extracted, list(one.values.values())) for one in before] == [
        one and (one.extracted, list(one.values.values())) for one in after
    ]
    assert {one.extracted for one in before if one} == {"(A)", "(B)", "(C)", None}


def later_evalscope(folder: Path, answers: list[tuple[str, str, str]], **benchmark: Any) -> Path:
    """A log of evalscope 1.14, whose reviews have no question: answer, extracted answer and gold of each sample."""
    template = "Choose one of {letters}.\n\n{question}\n\n{choices}"
    prompt = "Choose one of A,B.\n\nWhat is {0} {{and}} {0}?\n\nA) {1}\nB) one\nor two"
    predictions, reviews = [], []
    for number, (said, extracted, gold) in enumerate(answers):
        messages = [
            {"role": "user", "content": prompt.format(number, 2 * number)},
            {"role": "assistant", "content": said},
        ]
        output = {"choices": [{"message": messages[1], "stop_reason": "stop"}]}
        predictions.append({"index": number, "model": "m", "model_output": output, "messages": messages})
        score = {"value": {"accuracy": float(gold in said)}, "extracted_prediction": extracted, "prediction": said}
        sample = {"score": score, "sample_id": number, "group_id": number}
        reviews.append({"index": number, "target": [gold], "messages": messages, "sample_score": sample})
    for name, lines in (("predictions", predictions), ("reviews", reviews)):
        (folder / name / "m").mkdir(parents=True)
        write_lines(folder / name / "m/sums_main.jsonl", lines)
    subsets = [{"name": "main", "score": 0.25, "num": len(answers)}]
    metric = {"identity": {"name": "accuracy", "aggregation": "mean"}, "categories": [{"subsets": subsets}]}
    report = {"schema_version": 2, "dataset_name": "sums", "model_name": "m", "metrics": [metric]}
    (folder / "reports/m").mkdir(parents=True)
    write_json(folder / "reports/m/sums.json", report)
    (folder / "configs").mkdir()
    config = {"resolved_benchmarks": {"sums": {"prompt_template": template, "few_shot_num": 0, **benchmark}}}
    write_json(folder / "configs/task_config.yaml", config)
    return folder


def test_later_versions_of_evalscope_tell_the_question_by_the_template(tmp_path: Path) -> None:
    log = imported(later_evalscope(tmp_path / "log", [("4", "4", "4"), ("5", "5", "2")]), tmp_path)
    [task] = tasks_of(log).values()
    assert [sample.prediction.columns for sample in task.samples()] == [
        {"question": "What is 0 {and} 0?", "choices": "0\none or two"},
        {"question": "What is 1 {and} 1?", "choices": "2\none or two"},
    ]
    assert log.tasks[0].reported == {"accuracy": 0.25}


@pytest.mark.process
def test_math_of_evalscope_is_read_by_its_library(tmp_path: Path) -> None:
    """The readings are those of evalscope 1.14.1, which names them in its log."""
    answers = [
        ("It grows by 20 %, so it is 12 dollars.", "12", "12"),
        (r"Thus \boxed{\frac{1}{2}} of 7.", r"\frac{1}{2}", "7"),
        ("She sells 30% of it.", "30%", "40"),
        ("No number here.", "", "1"),
    ]
    log = later_evalscope(tmp_path / "log", answers, metric_list=[{"accuracy": {"numeric": True}}])
    reviews = log / "reviews/m/sums_main.jsonl"
    lines = [json.loads(line) for line in reviews.read_text().splitlines()]
    lines[1]["sample_score"]["score"]["value"] = {"accuracy": 0.0}
    write_lines(reviews, lines)
    scoring = stored_spec(imported(log, tmp_path / "runs").folder).datasets[0].eval
    parts = [part.type for part in (scoring.pred_postprocessor, scoring.evaluator) if part]
    assert parts == ["logged_math", "MATHVerifyEvaluator"]


@pytest.mark.parametrize(
    ("text", "found", "in_chinese"),
    [
        ("ANSWER: **B**, not C", "B", "C"),
        ("ANSWER: (A)\nanswer: [LETTER]", "A", None),
        (r"ANSWER: $\boxed{\text{B}}$", "B", "B"),
        ("ANSWER: A and C", None, "C"),
        ("答案：（B）\nThe rest", None, "B"),
        ("I pick D because it fits", "D", "D"),
        ("ANSWER: E", None, None),
        ("", None, None),
    ],
)
def test_marked_letters_are_read_as_evalscope_reads_them(text: str, found: str | None, in_chinese: str | None) -> None:
    """The readings are those of `parse_answers` and `parse_answers_zh` of evalscope 1.14.1 with four choices."""
    read = [logged_marked_letter(text, chinese, "a\nb\nc\nd") for chinese in (False, True)]
    assert read == [found, in_chinese]


def test_the_rule_of_choices_of_evalscope_gives_its_verdicts(tmp_path: Path) -> None:
    """The prompt has two choices, so the last capital letter of the third answer is none of them."""
    answers = [("ANSWER: A, not B", "A", "A"), ("It is B", "B", "B"), ("I see C", "", "D")]
    scoring = (
        stored_spec(imported(later_evalscope(tmp_path / "log", answers), tmp_path / "runs").folder).datasets[0].eval
    )
    assert scoring.pred_postprocessor is not None
    assert (scoring.pred_postprocessor.type, scoring.pred_postprocessor.args) == ("logged_marked_letter", {})


@pytest.mark.parametrize(
    ("reducer", "values"),
    [
        ("mean", {"accuracy": 5 / 9}),
        ("max", {"accuracy": 1.0, "avg@3": 5 / 9}),
        ("median", {"accuracy": 2 / 3, "avg@3": 5 / 9}),
        ("mode", {"accuracy": 2 / 3, "avg@3": 5 / 9}),
        ("at_least_2", {"accuracy": 2 / 3, "avg@3": 5 / 9}),
        ("pass_at_2", {"accuracy": (1 + 2 / 3 + 1) / 3, "avg@3": 5 / 9}),
        ("of_a_stranger", {"accuracy": 5 / 9}),
    ],
)
def test_epochs_are_reduced_as_the_log_says_and_our_mean_stands_beside_it(
    reducer: str, values: dict[str, float], tmp_path: Path
) -> None:
    grades = ["CCI", "CII", "CCI"]  # 2, 1 and 2 of 3 are right
    log = json.loads(write_inspect_json(tmp_path).read_text())
    log["eval"]["config"] = {"epochs": 3, "epochs_reducer": [reducer]}
    log["results"]["scores"][0]["metrics"] = {"accuracy": {"name": "accuracy", "value": values["accuracy"]}}
    log["samples"] = [
        one | {"epoch": epoch, "scores": {name: score | {"value": grade} for name, score in one["scores"].items()}}
        for one, row in zip(log["samples"], grades, strict=True)
        for epoch, grade in enumerate(row, 1)
    ]
    found = imported(write_json(tmp_path / "epochs.json", log), tmp_path / "runs")
    task = found.tasks[0]
    assert {score.metric: score.value for score in task.scores} == pytest.approx(values)
    assert any("not known here" in note for note in task.notes) == (reducer == "of_a_stranger")
    [stored] = tasks_of(found).values()
    of_samples = [sample.score.values["accuracy"] for sample in stored.samples() if sample.score]
    assert sum(of_samples) / 3 == pytest.approx(values["accuracy"])


def test_a_log_says_of_which_metrics_less_is_better(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    write_lm_eval(folder)
    [results] = folder.rglob("results*.json")
    head = json.loads(results.read_text())
    [task] = head["results"]
    for is_higher in (True, False):
        head["higher_is_better"] = {task: {"exact_match": is_higher}}
        write_json(results, head)
        found = imported(folder, tmp_path / "runs").tasks[0].scores[0]
        assert (found.metric, found.lower_is_better) == ("exact_match", not is_higher)


def test_a_missing_log_has_a_document(tmp_path: Path) -> None:
    [error] = document(tmp_path, "import", "missing.eval", code=2)["errors"]
    assert "missing.eval" in error["what"]
    assert error["fix"].endswith("import --help")
