"""`aisprompt import`: runs of OpenCompass and AISBench, which are read and never executed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.extensions.peers import old_run
from tests.core.e2e.project import Project, read_lines
from tests.support.packages import needs_extension

pytestmark = needs_extension("logs")

TIME = "20240131_120000"
INFER = """infer_cfg=dict(
            inferencer=dict(type='opencompass.openicl.icl_inferencer.GenInferencer'),
            prompt_template=dict(
                template=dict(round=[dict(prompt='Q: {question}', role='HUMAN')]),
                type='opencompass.openicl.icl_prompt_template.PromptTemplate'),
            retriever=dict(type='opencompass.openicl.icl_retriever.ZeroRetriever'))"""
DATASET = f"""dict(
        abbr='gsm8k',
        eval_cfg=dict(
            dataset_postprocessor=dict(type='opencompass.datasets.gsm8k_dataset_postprocess'),
            evaluator=dict(type='opencompass.datasets.Gsm8kEvaluator'),
            pred_postprocessor=dict(type='opencompass.datasets.gsm8k_postprocess')),
        {INFER},
        path='opencompass/gsm8k',
        reader_cfg=dict(input_columns=['question', ], output_column='answer'),
        type='opencompass.datasets.GSM8KDataset')"""
MODEL = "dict(abbr='gpt', key='ENV', max_out_len=64, path='gpt-4', type='opencompass.models.OpenAI')"
GOLDS = {f"What is {n}+{n}?": f"Add them.\n#### {2 * n}" for n in range(4)}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A run folder as OpenCompass writes it: three of four answers are right."""
    root = tmp_path / "theirs" / "default" / TIME
    write_config(root, DATASET)
    write_json(root / "predictions/gpt/gsm8k.json", answers())
    write_json(root / "results/gpt/gsm8k.json", {"accuracy": 75.0, "details": {"0": {"correct": True}}})
    return root


def answers(change: Callable[[int, dict[str, Any]], dict[str, Any]] = lambda _, values: values) -> dict[str, Any]:
    """Answers as OpenCompass writes them, the third of which is wrong."""
    return {
        str(n): change(
            n,
            {
                "origin_prompt": [{"role": "HUMAN", "prompt": f"Q: {question}"}],
                "prediction": f"It is {2 * n + (n == 2)}.",
                "gold": gold,
            },
        )
        for n, (question, gold) in enumerate(GOLDS.items())
    }


def write_config(root: Path, *datasets: str, more: str = "") -> None:
    (root / "configs").mkdir(parents=True, exist_ok=True)
    text = f"datasets = [\n    {', '.join(datasets)},\n]\nmodels = [\n    {MODEL},\n]\nwork_dir = './x'\n{more}"
    (root / "configs" / f"{TIME}_77.py").write_text(text)


def write_json(path: Path, values: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values, ensure_ascii=False))


def bring_data(project: Project) -> None:
    """Put the questions where OpenCompass keeps them."""
    folder = project.root / "data" / "gsm8k"
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps({"question": question, "answer": gold}) + "\n" for question, gold in GOLDS.items())
    for split in ("train", "test"):
        (folder / f"{split}.jsonl").write_text(lines)


def imported(project: Project) -> Path:
    [folder] = (project.root / "outputs" / "default").iterdir()
    return folder


def test_a_run_is_imported_and_scored_without_its_data(project: Project, old: Path) -> None:
    done = project.run("import", str(old))
    assert done.returncode == 0, done.stderr
    assert "4 samples; accuracy 75 there" in done.stdout
    assert "its data are not here" in done.stderr
    scored = project.run("score", str(imported(project)))
    assert scored.returncode == 0, scored.stderr
    assert "75.0 %" in scored.stdout
    first = read_lines(imported(project) / "predictions/gpt/gsm8k.jsonl")[0]
    assert first["origin_prompt"] == [{"role": "user", "content": "Q: What is 0+0?"}]
    assert (first["prediction"], first["gold"]) == ("It is 0.", "Add them.\n#### 0")
    assert project.run("baseline", str(imported(project)), "-o", "before.json").returncode == 0


@pytest.mark.parametrize(("cuts", "score"), [(True, "75.0 %"), (False, "50.0 %")])
def test_thoughts_are_cut_where_the_model_of_the_run_cuts_them(
    project: Project, old: Path, cuts: bool, score: str
) -> None:
    said = ["It is 0.<think>Or 9?</think>", "<think>It may be 9.</think>It is 2.", "It is 5.", "<think>It is 6"]
    write_json(old / "predictions/gpt/gsm8k.json", answers(lambda n, values: {**values, "prediction": said[n]}))
    cut = "pred_postprocessor=dict(type='opencompass.utils.text_postprocessors.extract_non_reasoning_content'), "
    [config] = (old / "configs").iterdir()
    config.write_text(config.read_text().replace("dict(abbr='gpt', ", f"dict(abbr='gpt', {cut if cuts else ''}"))
    assert project.run("import", str(old)).returncode == 0
    scored = project.run("score", str(imported(project)))
    assert score in scored.stdout, scored.stderr
    lines = read_lines(imported(project) / "predictions/gpt/gsm8k.jsonl")
    assert [line["prediction"] for line in lines] == said


def test_an_imported_run_is_compared_with_one_of_the_same_config(project: Project, old: Path) -> None:
    bring_data(project)
    assert project.run("import", str(old.parent)).returncode == 0
    assert project.run("score", str(imported(project))).returncode == 0
    scripted = "dict(type='ScriptedModel', abbr='gpt', answers={r'(\\d)\\+': 'It is 4.'})"
    (project.root / "mine.py").write_text(f"models = [{scripted}]\ndatasets = [{DATASET}]\n")
    assert project.run("run", "mine.py").returncode == 0
    [mine] = (project.root / "outputs" / "mine").iterdir()
    done = project.run("compare", str(imported(project)), str(mine))
    assert done.returncode == 0, done.stderr
    assert "75.0 %" in done.stdout
    assert "25.0 %" in done.stdout
    assert "same prompt" in done.stdout
    assert "other prompt" not in done.stdout


def test_a_run_is_compared_without_an_import(project: Project, old: Path) -> None:
    done = project.run("compare", str(old), str(old))
    assert done.returncode == 0, done.stderr
    assert "75.0 %" in done.stdout
    assert not (project.root / "outputs").exists()


def test_the_parts_of_a_split_dataset_are_joined(project: Project, old: Path) -> None:
    bring_data(project)
    whole = list(answers().values())
    (old / "predictions/gpt/gsm8k.json").unlink()
    write_json(old / "predictions/gpt/gsm8k_0.json", {"0": whole[0], "1": whole[1]})
    write_json(old / "predictions/gpt/gsm8k_1.json", {"0": whole[2], "1": whole[3]})
    assert "4 samples" in project.run("import", str(old)).stdout
    found = read_lines(imported(project) / "predictions/gpt/gsm8k.jsonl")
    assert [line["prediction"] for line in found] == [answer["prediction"] for answer in whole]


def test_a_run_of_aisbench_with_a_failed_request(project: Project, old: Path) -> None:
    bring_data(project)
    (old / "predictions/gpt/gsm8k.json").unlink()
    lines = [
        {"id": int(n), "success": n != "1", "uuid": n, **values} for n, values in reversed(list(answers().items()))
    ]
    (old / "predictions/gpt/gsm8k.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "4 samples, 1 failed" in project.run("import", str(old)).stdout
    found = read_lines(imported(project) / "predictions/gpt/gsm8k.jsonl")
    assert [line["prediction"] for line in found] == ["It is 0.", None, "It is 5.", "It is 6."]


@pytest.mark.parametrize("has_data", [True, False])
@pytest.mark.parametrize("numbers", ["one for each answer", "one for each question"])
def test_a_repeated_dataset_of_aisbench(project: Project, old: Path, numbers: str, has_data: bool) -> None:
    if has_data:
        bring_data(project)
    write_config(old, DATASET.replace("abbr='gsm8k'", "abbr='gsm8k', n=2, k=2"))
    (old / "predictions/gpt/gsm8k.json").unlink()
    lines = [
        {"id": int(n) if numbers == "one for each question" else 2 * int(n) + repeat, "success": True, **values}
        for n, values in answers().items()
        for repeat in range(2)
    ]
    failed = {"id": lines.pop()["id"], "input": "Q: What is 3+3?", "error_info": "503"}
    (old / "predictions/gpt/gsm8k.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    write_json(old / "predictions/gpt/gsm8k_failed.jsonl", failed)
    assert "4 samples" in project.run("import", str(old)).stdout
    found = read_lines(imported(project) / "predictions/gpt/gsm8k.jsonl")
    texts = ["It is 0.", "It is 2.", "It is 5.", "It is 6."]
    assert [line["prediction"] for line in found] == [*([text] * 2 for text in texts[:3]), [texts[3], None]]
    assert [line["gold"] for line in found] == list(GOLDS.values())


def test_failed_requests_of_aisbench_are_failed_samples(project: Project, old: Path) -> None:
    (old / "predictions/gpt/gsm8k.json").unlink()
    lines = [{"id": int(n), "success": True, **values} for n, values in answers().items()]
    failures = [
        {"id": line["id"], "input": line["origin_prompt"], "error_info": "503"} for line in (lines[0], lines[3])
    ]
    (old / "predictions/gpt/gsm8k.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines[:3]))
    (old / "predictions/gpt/gsm8k_failed.jsonl").write_text("".join(json.dumps(line) + "\n" for line in failures))
    assert "4 samples, 1 failed" in project.run("import", str(old)).stdout  # the first was answered in a second run
    last = read_lines(imported(project) / "predictions/gpt/gsm8k.jsonl")[-1]
    assert last["origin_prompt"] == [{"role": "user", "content": "Q: What is 3+3?"}]
    assert last["prediction"] is None


def test_a_repeated_dataset(project: Project, old: Path) -> None:
    bring_data(project)
    write_config(old, DATASET.replace("abbr='gsm8k'", "abbr='gsm8k', n=2, k=2"))
    twice = [*answers().values(), *answers(lambda n, values: {**values, "prediction": f"It is {n}."}).values()]
    write_json(old / "predictions/gpt/gsm8k.json", {str(n): values for n, values in enumerate(twice)})
    done = project.run("import", str(old))
    assert done.returncode == 0, done.stderr
    found = read_lines(imported(project) / "predictions/gpt/gsm8k.jsonl")
    assert [line["prediction"] for line in found][1] == ["It is 2.", "It is 1."]


JUDGED = DATASET.replace(
    "type='opencompass.datasets.Gsm8kEvaluator'",
    """
                judge_cfg=dict(), dataset_cfg=dict(), prompt_template=dict(
                    template=dict(round=[dict(prompt='{question} {prediction}', role='HUMAN')]),
                    type='opencompass.openicl.icl_prompt_template.PromptTemplate'),
                dict_postprocessor=dict(type='opencompass.datasets.generic_llmjudge_postprocess'),
                type='opencompass.evaluator.GenericLLMEvaluator'""",
)


@pytest.mark.parametrize("judges", ["", "judge_models = [{}]", "eval = dict(partitioner=dict(judge_models=[{}]))"])
def test_the_judge_of_a_run(project: Project, old: Path, judges: str) -> None:
    write_config(old, JUDGED, more=judges.format(MODEL.replace("gpt", "judge")))
    done = project.run("import", str(old))
    assert done.returncode == 0, done.stderr
    assert "4 samples" in done.stdout
    assert ("gsm8k is not scored: the judge is not named" in done.stdout + done.stderr) == (not judges)


def test_the_verdicts_of_a_judged_run_of_opencompass_are_taken(
    project: Project, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They lie beside the results, one file for each repeat; a reply about another answer is not used."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    bring_data(project)
    judge = MODEL.replace("gpt", "judge").replace("path=", "openai_api_base='http://127.0.0.1:1/v1', path=")
    write_config(old, JUDGED, more=f"judge_models = [{judge}]")
    said = {
        str(n): {"origin_prompt": [{"role": "HUMAN", "prompt": f"{question} {2 * n + (n == 2)}"}], "prediction": reply}
        for n, (question, reply) in enumerate(zip(GOLDS, ("A", "Based on it: A", "none"), strict=False))
    }
    write_json(old / "results/gpt/gsm8k_replica0.json", said)
    done = project.run("import", str(old))
    assert "3 of 4 questions are answered in the run" in done.stderr
    [journal] = imported(project).glob("judge/gpt/journal/judge/*")
    assert len(read_lines(journal)) == 3


def test_verdicts_of_ratings_and_comparisons_lie_in_folders_of_their_own(old: Path) -> None:
    """A function that reads them puts them below its numbers; a comparison names the base model."""
    write_json(old / "results/gpt_judged-by--judge/gsm8k.json", {"total": 4.5, "details": said("rated")})
    write_json(old / "results/base_gpt_judged-by--judge/gsm8k.json", said("compared"))
    for part in (0, 1):
        write_json(old / f"results/base_gpt_judged-by--judge/arc_{part}.json", said(f"part {part}"))
    for other in ("othergpt_judged-by--judge", "gpt_judged-by--judge2", "gpt2_judged-by--judge"):
        write_json(old / "results" / other / "gsm8k.json", said("of another"))
    run = old_run.open_old_run(old)
    assert [*run.verdicts("gpt", "gsm8k", "judge")] == [("asked", "compared"), ("asked", "rated")]
    assert [*run.verdicts("gpt", "arc", "judge")] == [("asked", "part 0"), ("asked", "part 1")]
    assert run.numbers("gpt", "gsm8k", "judge") == {"accuracy": 75.0}
    (old / "results/gpt/gsm8k.json").unlink()
    assert run.numbers("gpt", "gsm8k", "judge") == {"total": 4.5}


def said(reply: str) -> dict[str, Any]:
    """A reply of a judge as OpenCompass writes it."""
    return {"0": {"origin_prompt": "asked", "prediction": reply, "gold": {}}}


def test_texts_that_were_only_measured(project: Project, old: Path) -> None:
    write_config(
        old,
        "dict(abbr='gsm8k', type='opencompass.datasets.GSM8KDataset', path='opencompass/gsm8k', "
        "reader_cfg=dict(input_columns=['question'], output_column=None), "
        "eval_cfg=dict(evaluator=dict(type='opencompass.openicl.icl_evaluator.AveragePPLEvaluator')), "
        f"{INFER.replace('GenInferencer', 'PPLOnlyInferencer')})",
    )
    rows = {str(n): {"origin_prompt": f"Q: {question}", "ppl": 1.5 + n} for n, question in enumerate(GOLDS)}
    write_json(old / "predictions/gpt/gsm8k.json", rows)
    assert "4 samples; accuracy 75 there" in project.run("import", str(old)).stdout
    scored = project.run("score", str(imported(project)))
    assert scored.returncode == 0, scored.stderr
    assert re.search(r"average_ppl .*\ngpt +3\.0", scored.stdout)


def test_the_gold_of_a_conversation_is_what_the_assistant_says(project: Project, old: Path) -> None:
    turns = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello to you."}]
    (project.root / "talk.jsonl").write_text(json.dumps({"dialogue": turns, "kind": "greeting"}) + "\n")
    (project.root / "talk.py").write_text(
        "models = [dict(type='ScriptedModel', abbr='gpt')]\n"
        "datasets = [dict(abbr='gsm8k', path='talk.jsonl', infer_cfg=dict(inferencer=dict(type='ChatInferencer')),\n"
        "    reader_cfg=dict(input_columns=['dialogue'], output_column='kind'))]\n"
    )
    prompt = [{"role": "user", "content": "Hello."}]
    answer = {"gold": "Hello to you.", "prediction": "Hi.", "origin_prompt": prompt}
    write_json(old / "predictions/gpt/gsm8k.json", {"0": answer})
    done = project.run("import", str(old), "--config", "talk.py")
    assert done.returncode == 0, done.stderr
    assert "another gold" not in done.stderr
    [folder] = (project.root / "outputs" / "talk").iterdir()
    assert read_lines(folder / "predictions/gpt/gsm8k.jsonl")[0]["gold"] == "Hello to you."


def test_the_rounds_of_a_conversation_of_opencompass(project: Project, old: Path) -> None:
    talk = [{"role": role, "content": text} for text in ("Hello.", "And now?") for role in ("user", "assistant")]
    (project.root / "talk.jsonl").write_text(json.dumps({"dialogue": talk}) + "\n")
    (project.root / "talk.py").write_text(
        "models = [dict(type='ScriptedModel', abbr='gpt')]\n"
        "datasets = [dict(abbr='gsm8k', path='talk.jsonl', reader_cfg=dict(input_columns=['dialogue'],\n"
        "    output_column=None), infer_cfg=dict(inferencer=dict(type='ChatInferencer', infer_mode='every')))]\n"
    )
    rounds = [
        {"round": 1, "user": "Hello.", "assistant": "Hi."},
        {"round": 2, "user": "And now?", "assistant": "Bye."},
    ]
    write_json(old / "predictions/gpt/gsm8k.json", {"0": {"prediction": rounds, "origin_prompt": None}})
    done = project.run("import", str(old), "--config", "talk.py")
    assert done.returncode == 0, done.stderr
    [folder] = (project.root / "outputs" / "talk").iterdir()
    assert read_lines(folder / "predictions/gpt/gsm8k.jsonl")[0]["prediction"] == ["Hi.", "Bye."]


def test_the_turns_of_a_conversation_of_aisbench(project: Project, old: Path) -> None:
    (project.root / "talk.jsonl").write_text('{"question": ["Hello.", "And now?"], "answer": ["", ""]}\n' * 2)
    (project.root / "talk.py").write_text(
        "models = [dict(type='ScriptedModel', abbr='gpt')]\n"
        "datasets = [dict(abbr='gsm8k', path='talk.jsonl', reader_cfg=dict(input_columns=['question'],\n"
        "    output_column='answer'), infer_cfg=dict(inferencer=dict(type='MultiTurnGenInferencer'),\n"
        "    prompt_template=dict(type='MultiTurnPromptTemplate', template=dict(round=[\n"
        "        dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')]))))]\n"
    )
    first = [{"role": "HUMAN", "prompt": "Hello."}]
    second = [*first, {"role": "BOT", "prompt": "Hi."}, {"role": "HUMAN", "prompt": "And now?"}]
    lines = [
        {"id": row, "success": text is not None, "prediction": text or "", "origin_prompt": prompt, "gold": ["", ""]}
        for row, prompt, text in ((1, first, "Hi."), (0, first, "Hi."), (0, second, "Bye."), (1, second, None))
    ]
    (old / "predictions/gpt/gsm8k.json").unlink()
    (old / "predictions/gpt/gsm8k.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = project.run("import", str(old), "--config", "talk.py")
    assert done.returncode == 0, done.stderr
    assert "2 samples, 1 failed" in done.stdout
    [folder] = (project.root / "outputs" / "talk").iterdir()
    found = read_lines(folder / "predictions/gpt/gsm8k.jsonl")
    assert [line["prediction"] for line in found] == [["Hi.", "Bye."], ["Hi.", None]]
    assert [len(prompt) for prompt in found[0]["origin_prompt"]] == [1, 3]


def test_what_cannot_be_used_is_named_and_the_rest_is_imported(project: Project, old: Path) -> None:
    own_evaluator = DATASET.replace("'gsm8k'", "'mine/own'", 1).replace("opencompass.datasets.Gsm8kEvaluator", "my.Own")
    own_loader = DATASET.replace("'gsm8k'", "'other'", 1).replace("opencompass.datasets.GSM8KDataset", "my.Loader")
    write_config(old, DATASET, own_evaluator, own_loader)
    for name in ("mine/own", "other"):
        write_json(old / f"predictions/gpt/{name}.json", answers())
    done = project.run("import", str(old))
    assert done.returncode == 0, done.stderr
    assert "mine_own is not scored: the run names code that does not come with this program: my.Own" in done.stderr
    assert "[gpt/other]" not in done.stderr  # said once, in the note
    assert "datasets[2]: its data are not read, because my.Loader runs code" in done.stderr
    assert "gpt/mine_own  4 samples" in done.stdout


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.system('touch ran')",
        "open('ran', 'w')",
        "custom_imports = dict(imports=['writes_ran'])",
        "_base_ = './other.py'",
    ],
)
def test_nothing_of_the_run_is_executed(project: Project, old: Path, code: str) -> None:
    for folder in (project.root, old, old / "configs"):
        (folder / "writes_ran.py").write_text("open('ran', 'w')")
    write_config(old, DATASET, more=code)
    (old / "other.py").write_text("open('ran', 'w')")
    (old / "configs" / "other.py").write_text("open('ran', 'w')")
    (old / "configs" / "writes_ran.py").rename(old / "configs" / "0.py")
    (old / "configs" / "other.py").rename(old / "configs" / "1.py")
    done = project.run("import", str(old))
    assert done.returncode in (0, 2), done.stderr
    assert not list(project.root.rglob("ran"))


def break_json(old: Path) -> None:
    (old / "predictions/gpt/gsm8k.json").write_text("{")


def break_rows(old: Path) -> None:
    write_json(old / "predictions/gpt/gsm8k.json", {"first": {"prediction": "It is 4."}})


def break_answers(old: Path) -> None:
    write_json(old / "predictions/gpt/gsm8k.json", {"0": "It is 4."})


def lead_out(old: Path) -> None:
    (old / "predictions/gpt/gsm8k.json").rename(old.parent / "gsm8k.json")
    (old / "predictions/gpt/gsm8k.json").symlink_to(old.parent / "gsm8k.json")


def lose_predictions(old: Path) -> None:
    (old / "predictions/gpt/gsm8k.json").rename(old / "predictions/gpt/other.json")


def lose_config(old: Path) -> None:
    (old / "configs" / f"{TIME}_77.py").unlink()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (break_json, "the file is not JSON"),
        (break_rows, "an answer needs the number of its row"),
        (break_answers, "it is not an answer"),
        (lead_out, "the name leads out of the run folder"),
        (lose_predictions, "predictions/ has no file of any task"),
        (lose_config, "the run's config is missing"),
    ],
)
def test_broken_runs(project: Project, old: Path, damage: Callable[[Path], None], said: str) -> None:
    damage(old)
    done = project.run("import", str(old))
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_an_oversized_file_is_refused(project: Project, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_run, "LARGEST", 100)
    done = project.run("import", str(old))
    assert done.returncode == 2
    assert "the file is too large" in done.stderr


def test_a_folder_without_runs(project: Project) -> None:
    done = project.run("import", "data")
    assert done.returncode == 2
    assert "this is of none of" in done.stderr


def test_a_config_of_ones_own(project: Project, old: Path) -> None:
    (old / "configs" / f"{TIME}_77.py").write_text("import os\n")
    (project.root / "mine.py").write_text(f"models = [{MODEL}]\ndatasets = [{DATASET}]\n")
    done = project.run("import", str(old), "--config", "mine.py")
    assert done.returncode == 0, done.stderr
    assert "4 samples" in done.stdout


JUDGED_BY_AISBENCH = """dict(
        abbr='aime',
        eval_cfg=dict(
            evaluator=dict(type='ais_bench.benchmark.datasets.utils.llm_judge.LLMJudgeCorrectEvaluator'),
            pred_postprocessor=dict(type='ais_bench.benchmark.datasets.utils.llm_judge.get_a_or_b')),
        judge_infer_cfg=dict(
            judge_model=dict(abbr='judge', type='ais_bench.benchmark.models.VLLMCustomAPIChat', model='judge',
                path='', host_ip='127.0.0.1', host_port=1),
            prompt_template=dict(
                template=dict(round=[dict(prompt='{question} is {model_answer}?', role='HUMAN')]),
                type='ais_bench.benchmark.openicl.icl_prompt_template.PromptTemplate')),
        infer_cfg=dict(
            inferencer=dict(type='ais_bench.benchmark.openicl.icl_inferencer.GenInferencer'),
            prompt_template=dict(
                template=dict(round=[dict(prompt='{question}', role='HUMAN')]),
                type='ais_bench.benchmark.openicl.icl_prompt_template.PromptTemplate'),
            retriever=dict(type='ais_bench.benchmark.openicl.icl_retriever.ZeroRetriever')),
        path='data/gsm8k/test.jsonl',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        type='ais_bench.benchmark.datasets.aime2025.Aime2025Dataset')"""


def test_the_verdicts_of_a_judged_run_of_aisbench_are_taken_and_nothing_is_asked(project: Project, old: Path) -> None:
    """The judge does not answer: nothing listens at its address."""
    bring_data(project)
    [config] = (old / "configs").iterdir()
    config.unlink()
    write_config(old, JUDGED_BY_AISBENCH)
    said = ["The first: A", "It is B", "A\n", "A"]
    lines = [
        {
            "id": n,
            "uuid": str(n),
            "origin_prompt": [{"role": "HUMAN", "prompt": q}],
            "prediction": f"{n}.",
            "gold": gold,
        }
        for n, (q, gold) in enumerate(GOLDS.items())
    ]
    judged = [
        {
            "id": n,
            "origin_prompt": [{"role": "HUMAN", "prompt": f"{q} is {n}.?"}],
            "prediction": said[n],
            "gold": str(n),
        }
        for n, q in reversed([*enumerate(GOLDS)])  # as they arrived
    ]
    folder = old / "predictions/gpt"
    for name, entries in (("aime", lines), ("aime-judge", judged)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    write_json(old / "results/gpt/aime-judge.json", {"accuracy": 50.0})
    done = project.run("import", str(old))
    assert done.returncode == 0, done.stderr
    assert "4 of 4 questions are answered in the run" in done.stderr
    assert "accuracy 50 there" in done.stdout
    run = imported(project)
    scored = project.run("score", str(run), "--config", str(run / "config.py"))
    assert scored.returncode == 0, scored.stderr
    assert "50.0 %" in scored.stdout
