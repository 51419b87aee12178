"""Command lines of people who come from OpenCompass and AISBench."""

from __future__ import annotations

import json
import os
import re
import sys

import pytest

from ais_prompt.cli import main
from ais_prompt.cli.options import SOURCE_NAMES, given_words
from ais_prompt.extensions.peers import EXTENSION
from ais_prompt.extensions.peers.command_line import TOOLS as ANSWERS_TO_TOOLS
from tests.core.e2e.project import DATASET, MODEL, Project, read_lines
from tests.support.cli import ROOT
from tests.support.peer_flags import FLAGS, TOOLS

WORDS = sorted({(name, words) for flags in FLAGS.values() for names, words in flags.items() for name in names})
DESCRIBED = ("--url", "http://127.0.0.1:9/v1", "--model", "m", "--datasets", "demo_addition")
ANSWER = re.compile(r" is not an option here: \S|-q is --quiet here")


@pytest.fixture
def run_of_theirs(project: Project) -> Project:
    """A project with the files that options name."""
    (project.root / "own").mkdir()
    (project.root / "model.py").write_text(f"models = [{MODEL}]\n")
    (project.root / "mine.jsonl").write_text('{"question": "1+1=?", "answer": "2"}\n')
    return project


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "words"), WORDS)
@pytest.mark.parametrize("begin", [("eval.py",), DESCRIBED])
def test_each_option_of_theirs_is_accepted_or_answered(
    run_of_theirs: Project, begin: tuple[str, ...], name: str, words: str
) -> None:
    done = run_of_theirs.run(*begin, "--dry-run", name, *words.split())
    assert done.returncode in (0, 2, 3), done.stderr
    assert "No such option" not in done.stderr
    assert "unexpected extra argument" not in done.stderr
    assert "does not take a value" not in done.stderr
    if "Usage:" in done.stderr or done.stderr.startswith("Error"):
        assert ANSWER.search(done.stderr), done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(
    "args",
    [
        ("eval.py",),
        ("--models", "model.py", "--datasets", "demo_addition"),
        ("--dump-eval-details", "False", "eval.py"),
    ],
)
def test_a_command_line_without_a_verb_runs(run_of_theirs: Project, args: tuple[str, ...]) -> None:
    done = run_of_theirs.run(*args, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "nothing was asked" in done.stdout


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (("eval_ppl_llama",), "give its path: PATH/eval_ppl_llama.py"),
        (("--modles", "x"), "No such option"),
        (("missing.py",), "there is no config 'missing.py'"),
        (("eval.py", "--mode", "jugde"), "'jugde' is not one of"),
        (("eval.py", "-q", "auto"), "runner.qos"),
        (("eval.py", "-sp", "station"), "--station-path is not an option here"),
        ((*DESCRIBED, "--generation-kwargs", "sampled"), "'sampled' has no ="),
        ((*DESCRIBED, "--max-out-len"), "requires a value"),
    ],
)
def test_what_is_neither_theirs_nor_ours_is_an_error_with_a_hint(
    run_of_theirs: Project, args: tuple[str, ...], hint: str
) -> None:
    done = run_of_theirs.run(*args)
    assert done.returncode == 2
    assert hint in done.stderr


@pytest.mark.parametrize(
    "words",
    [("--merge-ds",), ("--max-workers-per-gpu", "2"), ("--max-workers-per-gpu=2",), ("--num-warmups", "0")],
)
def test_an_option_that_changes_nothing_is_taken_with_a_note(run_of_theirs: Project, words: tuple[str, ...]) -> None:
    done = run_of_theirs.run("eval.py", *words)
    assert done.returncode == 0, done.stderr
    name = words[0].partition("=")[0]
    assert done.stderr.count(f"note: {name} changes nothing here: ") == 1
    assert [row["model"] for row in run_of_theirs.summary()] == ["fake"]


def test_warmups_belong_to_a_load(run_of_theirs: Project) -> None:
    done = run_of_theirs.run("eval.py", "--num-warmups", "x", "-m", "perf")
    assert done.returncode == 2
    assert "'x' is not a valid integer" in done.stderr


def test_modes_that_ask_a_judge_ask_and_score(run_of_theirs: Project) -> None:
    assert run_of_theirs.run("eval.py", "--mode", "infer_judge").returncode == 0
    folder = run_of_theirs.folder()
    done = run_of_theirs.run("eval.py", "-m", "judge", "-r", folder.name)
    assert done.returncode == 0, done.stderr
    assert [row["model"] for row in run_of_theirs.summary()] == ["fake"]


@pytest.mark.thorough
@pytest.mark.parametrize(("flag", "is_dry"), [("True", True), ("true", True), ("False", False)])
@pytest.mark.parametrize("form", ["{} {}", "{}={}"])
def test_a_flag_takes_true_or_false(run_of_theirs: Project, form: str, flag: str, is_dry: bool) -> None:
    done = run_of_theirs.run("run", "eval.py", *form.format("--dry-run", flag).split())
    assert done.returncode == 0, done.stderr
    assert ("nothing was asked" in done.stdout) is is_dry


def test_options_for_a_model_of_the_command_line_set_its_keys(run_of_theirs: Project) -> None:
    given = ["--max-out-len", "100", "--max-seq-len=2048", "--batch-size", "3", "--tokenizer-path", "words"]
    given += ["--generation-kwargs", "do_sample=True", "temperature=0.6", "name=x", "--stop-words", "Q:", "A:"]
    done = run_of_theirs.run("--hf-path", "weights", *given, "--datasets", "demo_addition", "--save-config", "saved.py")
    assert done.returncode == 0, done.stderr
    values: dict[str, list[dict[str, object]]] = {}
    exec((run_of_theirs.root / "saved.py").read_text(), values)  # a config that was just written
    [model] = values["models"]
    assert {key: value for key, value in model.items() if key != "type"} == {
        "path": "weights",
        "max_out_len": 100,
        "max_seq_len": 2048,
        "batch_size": 3,
        "tokenizer_path": "words",
        "generation_kwargs": {"do_sample": True, "temperature": 0.6, "name": "x"},
        "stop_words": ["Q:", "A:"],
    }


def test_options_for_a_file_of_questions_set_its_keys(run_of_theirs: Project) -> None:
    (run_of_theirs.root / "quiz.csv").write_text("question,A,B,answer\n1+1?,1,2,B\n")
    (run_of_theirs.root / "more.json").write_text('{"abbr": "named"}')
    file = ["--custom-dataset-path", "quiz.csv", "--custom-dataset-meta-path", "more.json"]
    file += ["--custom-dataset-data-type", "mcq", "--custom-dataset-infer-method=ppl"]
    done = run_of_theirs.run("view-prompt", *file)
    assert done.returncode == 0, done.stderr
    assert "any-chat-model/named" in done.stdout
    assert "label B" in done.stdout


def test_a_batch_of_a_server_is_what_it_answers_at_once(run_of_theirs: Project) -> None:
    done = run_of_theirs.run(*DESCRIBED, "--batch-size", "3", "--save-config", "saved.py")
    assert done.returncode == 0, done.stderr
    assert "max_concurrency=3" in (run_of_theirs.root / "saved.py").read_text()


def test_an_option_for_one_model_is_answered_where_a_config_has_the_models(run_of_theirs: Project) -> None:
    done = run_of_theirs.run("eval.py", "--max-out-len", "100")
    assert "--max-out-len is not an option here: --set models.0.max_out_len=" in done.stderr


@pytest.mark.process
def test_an_accelerator_starts_a_server_for_a_named_model(run_of_theirs: Project) -> None:
    root = run_of_theirs.root
    (root / "bin").mkdir()
    program = root / "bin/vllm"
    program.write_text(
        f'#!/bin/sh\necho "$@" > {root}/called\n'
        f"shift 4\nPYTHONPATH={ROOT} exec {sys.executable} -m ais_prompt.testing.server --port $2\n"
    )
    program.chmod(0o755)
    (root / "weights").mkdir()
    (root / "hf_small.py").write_text(
        "from opencompass.models import HuggingFacewithChatTemplate\n"
        "models = [dict(type=HuggingFacewithChatTemplate, abbr='small-hf', path='weights', max_out_len=16, "
        "batch_size=8, run_cfg=dict(num_gpus=1))]\n"
    )
    run_of_theirs.environment["PATH"] = f"{root}/bin{os.pathsep}{os.environ['PATH']}"
    named = ("--models", "hf_small.py", "--datasets", "demo_addition", "--num-prompts", "3")
    done = run_of_theirs.run(*named, "-a", "vllm", "-w", "out")
    assert done.returncode == 0, done.stderr
    assert (root / "called").read_text().startswith(f"serve {root}/weights --host 127.0.0.1 --port ")
    [predictions] = (root / "out").rglob("predictions/small-hf/*.jsonl")
    assert len(read_lines(predictions)) == 3


def test_a_server_and_transformers_are_not_asked_for_at_once(run_of_theirs: Project) -> None:
    done = run_of_theirs.run("eval.py", "-a", "vllm", "--hf")
    assert (done.returncode, "give one of them" in done.stderr) == (2, True)


def test_an_accelerator_for_a_model_without_weights_is_an_error(run_of_theirs: Project) -> None:
    done = run_of_theirs.run("eval.py", "-a", "lmdeploy")
    assert done.returncode == 2
    assert "-a lmdeploy is for models of transformers" in done.stderr


@pytest.fixture
def tree(run_of_theirs: Project) -> Project:
    """A project beside a package of configs, and the files of one name in it and here."""
    configs = run_of_theirs.root / "theirs/opencompass/configs"
    files = {
        "datasets/quiz/quiz_gen_1a2b3c.py": f"quiz_datasets = [{DATASET}, {DATASET.replace('sums', 'more')}]\n",
        "models/quiz_7b.py": f"models = [{MODEL[:-1]}, api_key='sk-0123456789abcdef01')]\n",
        "summarizers/quiz.py": "summarizer = dict(dataset_abbrs=['sums'], summary_groups=[dict(name='all')])\n",
    }
    for name, text in files.items():
        (configs / name).parent.mkdir(parents=True, exist_ok=True)
        (configs / name).write_text(text)
    return run_of_theirs


def test_patterns_find_configs_of_the_peers_and_ours_with_their_paths(tree: Project) -> None:
    done = tree.run("list", "quiz", "demo_cha", "--peer-path", "theirs")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["quiz_7b", "theirs/opencompass/configs/models/quiz_7b.py"] in lines
    assert ["quiz_gen_1a2b3c", "theirs/opencompass/configs/datasets/quiz/quiz_gen_1a2b3c.py"] in lines
    assert ["quiz", "theirs/opencompass/configs/summarizers/quiz.py"] in lines
    assert "demo_chat" in [line[0] for line in lines if line]
    assert "dataset" not in tree.run("list", "models", "quiz", "--peer-path", "theirs").stdout
    found = json.loads(tree.run("list", "quiz", "--peer-path", "theirs", "--json").stdout)["found"]
    assert [one["path"] for one in found["models"]] == [str(tree.root / "theirs/opencompass/configs/models/quiz_7b.py")]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "quiz_gen_1a2b3c",
            [
                *("(config of datasets)", "2 datasets", "abbr: sums, more", "LocalDataset path='data/sums.jsonl'"),
                *("prompt: PromptTemplate · {question}⏎Answer: {answer}", "evaluator: Gsm8kEvaluator"),
            ],
        ),
        ("quiz_7b", ["1 model", "fake: ScriptedModel", "api_key='***'"]),
        ("quiz", ["(config of summarizers)", "rows: sums", "groups: all"]),
        ("opencompass/quiz_7b", ["1 model"]),
        ("eval.py", ["(config)", "1 model and 1 dataset", "inferencer: GenInferencer"]),
    ],
)
def test_a_config_is_described_by_its_name(tree: Project, name: str, words: list[str]) -> None:
    done = tree.run("describe", name, "--peer-path", "theirs")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert [word for word in words if word not in text] == []
    assert "sk-0123" not in text


def test_a_line_answers_each_tool_of_theirs() -> None:
    page = (ROOT / "docs/coming-from.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert [tool for tool in TOOLS if not any(f"`{tool}.py`" in row.split(" | ")[0] for row in rows)] == []


@pytest.mark.parametrize("tool", [*TOOLS, "opencompass", "ais_bench"])
@pytest.mark.parametrize("form", ["{}", "tools/{}.py"])
def test_a_tool_of_theirs_typed_as_a_command_is_answered(project: Project, tool: str, form: str) -> None:
    word = form.format(tool)
    done = project.run(word, "eval.py", "--any")
    assert done.returncode == 2
    assert f"There is no command {word!r}: {ANSWERS_TO_TOOLS[tool]}" in done.stderr


@pytest.mark.parametrize("word", ["xinan", "xinan.py"])
def test_a_config_that_is_called_like_a_tool_runs(project: Project, word: str) -> None:
    (project.root / "eval.py").rename(project.root / "xinan.py")
    done = project.run(word, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "nothing was asked" in done.stdout


@pytest.mark.thorough
def test_a_config_of_a_missing_package_names_the_package(project: Project) -> None:
    done = project.run("describe", "gsm8k_gen_1d7fe4")
    assert done.returncode == 2
    assert "need their package: --peer-path" in done.stderr


def test_a_file_of_questions_is_named_once(run_of_theirs: Project) -> None:
    file = ("--data", "mine.jsonl", "--custom-dataset-path", "mine.jsonl")
    done = run_of_theirs.run("check", "--models", "model.py", *file)
    assert (done.returncode, "give one of them" in done.stderr) == (2, True)


def test_help_shows_the_options_of_both_programs() -> None:
    places = {"config": ("run", "check", "view-prompt", "lock", "migrate"), "stored": ("score",), "names": ("list",)}
    for place, verbs in places.items():
        for verb in verbs:
            shown = {name for option in main.verbs()[verb].params for name in option.opts}
            assert {*EXTENSION.options[place]} <= shown, verb


def test_options_of_theirs_are_among_the_words_given_again() -> None:
    run = main.verbs()["run"]
    ctx = run.make_context("run", ["eval.py", "-m", "judge", "--peer-scores", "-a", "vllm"])
    words = ["--peer-scores", "--accelerator", "vllm"]
    assert set(words) <= set(given_words(ctx, SOURCE_NAMES))
    assert ctx.params["mode"] == "eval"
