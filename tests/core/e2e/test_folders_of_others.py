"""A run folder of somebody else is data: no verb and no page executes, imports or starts what it names.

The folder holds traps. Each would leave a file `SPRUNG`, whose text says which one it was.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import HTTPError

import pytest

from ais_prompt.catalog import EXPORTERS
from tests.core.e2e.project import DATASET, MODEL, Project
from tests.support.viewer import Visitor

SCORING = "eval_cfg=dict(\n        evaluator=dict(type='Gsm8kEvaluator'),"
JUDGE = "prompt_template=dict(type='PromptTemplate', template='{prediction}')"
TRAPS = {
    "code": "{config}\nopen('SPRUNG', 'w').write('code')\n",
    "import": "import trap\n{config}",
    "base": "_base_ = ['trap.py']\n{config}",
    "custom import": "{config}\ncustom_imports = dict(imports=['trap'])\n",
    "custom import that may fail": "{config}\ncustom_imports = dict(imports='trap', allow_failed_imports=True)\n",
}
"""Name → the config of the folder, with something that would run as soon as it is loaded."""
SCORED = {
    "evaluator": "evaluator=dict(type='trap.Evaluator')",
    "nested evaluator": (
        "evaluator=dict(type='CascadeEvaluator', rule_evaluator=dict(type='trap.Evaluator'), "
        f"llm_evaluator=dict(type='GenericLLMEvaluator', judge_cfg=dict(type='ScriptedModel'), {JUDGE}))"
    ),
    "postprocessor": "evaluator=dict(type='AccEvaluator'), dataset_postprocessor=dict(type='trap.text')",
    "judge": f"evaluator=dict(type='GenericLLMEvaluator', judge_cfg=dict(type='trap.Model', abbr='j'), {JUDGE})",
    "server of a judge": (
        "evaluator=dict(type='GenericLLMEvaluator', judge_cfg=dict(type='OpenAIChatModel', abbr='j', model='m', "
        f"server=dict(command='touch ROOT/SPRUNG {{port}}')), {JUDGE})"
    ),
    "client of a judge": (
        "evaluator=dict(type='GenericLLMEvaluator', judge_cfg=dict(type='OpenAIChatModel', abbr='j', model='m', "
        f"base_url='http://127.0.0.1:9/v1', client='trap.Client'), {JUDGE})"
    ),
    "sandbox": "evaluator=dict(type='HumanEvalEvaluator', allow_code_execution=True, sandbox='touch ROOT/SPRUNG')",
    "code of a peer": "evaluator=dict(type='PeerEvaluator', cls='opencompass.trap.Evaluator')",
}
"""Name → an ``eval_cfg`` that would run something when answers are scored."""
VERBS = (
    *(("compare", "{run}", "{run}"), ("compare", "{own}", "{run}"), ("diff", "{run}", "{own}"), ("status", "{run}")),
    *(("export", "{run}", "--to", form) for form in EXPORTERS),
    *(("baseline", "{run}", "-o", "b.json"), ("score", "{run}"), ("score", "{run}", "--json")),
    *(("score", "{run}", "--allow-code-execution"), ("merge", "{run}"), ("requests", "{run}")),
    *(("answers", "{run}", "{run}/predictions/fake/sums.jsonl"), ("score", "{own}", "--baseline", "{run}/x.json")),
)
LINKED_FILES = (
    *(".lock", ".lock.holder", ".made-here", "config.py", "run.json", "report.html", "logs/run.log"),
    *("journal/fake/sums.jsonl", "predictions/fake/sums.jsonl", "results/fake/sums.json"),
    *("summary/summary.csv", "view/prompts.json"),
)
LINKED_FOLDERS = ("logs", "journal", "view", "results", "summary", "partial", "export", "judge", "shards")
PAGES = ("", "/overview", "/rows", "/sample", "/others", "/prompts", "/events", "/report.html")


@contextmanager
def folder_of_others(project: Project, config: str) -> Iterator[dict[str, str]]:
    """Make two runs, and give one the config of somebody else; at the end nothing must have sprung."""
    for _ in range(2):
        assert project.run("run", "eval.py").returncode == 0
    own, run = sorted((project.root / "outputs" / "eval").iterdir())
    (run / "config.py").write_text(config)
    module = (
        "open('SPRUNG', 'w').write('module')\n"
        "class Evaluator:\n    def score(self, predictions, references): return {'accuracy': 1.0}\n"
        "Model = Client = Evaluator\ntext = str\n"
    )
    for folder in (project.root, run, run.parent):
        (folder / "trap.py").write_text(module)
    yield {"own": str(own), "run": str(run)}
    assert not list(project.root.rglob("SPRUNG"))


def check_all(project: Project, names: dict[str, str]) -> None:
    """Let every verb read the folder: an error is well, but not one of the program."""
    for verb in VERBS:
        done = project.run(*(word.format(**names) for word in verb))
        assert done.returncode in (0, 1, 2, 3), (verb, done.stderr)
        assert "Traceback" not in done.stderr, verb


@pytest.mark.thorough
@pytest.mark.parametrize("trap", TRAPS)
def test_no_verb_executes_a_config_that_is_more_than_data(project: Project, trap: str) -> None:
    config = TRAPS[trap].format(config=resolved(project))
    with folder_of_others(project, config) as names:
        check_all(project, names)


@pytest.mark.process
@pytest.mark.parametrize("trap", SCORED)
def test_no_verb_runs_what_scoring_would(project: Project, trap: str) -> None:
    scoring = SCORED[trap].replace("ROOT", str(project.root))
    config = resolved(project).replace(SCORING, f"eval_cfg=dict({scoring},")
    assert scoring in config
    with folder_of_others(project, config) as names:
        check_all(project, names)


@pytest.mark.thorough
def test_no_verb_builds_other_parts_of_the_folder(project: Project) -> None:
    config = resolved(project).replace("type='ScriptedModel'", "type='trap.Model', trust_remote_code=True")
    for name in ("LocalDataset", "PromptTemplate", "ZeroRetriever"):
        config = config.replace(f"type='{name}'", "type='trap.Evaluator'")
    with folder_of_others(project, config) as names:
        check_all(project, names)
        (Path(names["run"]) / "run.json").unlink()  # as if it were not finished
        check_all(project, names)


@pytest.mark.process
@pytest.mark.parametrize("trap", [TRAPS["code"], TRAPS["custom import"]])
def test_no_page_executes_the_config(project: Project, trap: str) -> None:
    with folder_of_others(project, trap.format(config=resolved(project))) as names:
        viewer = project.start("view", names["run"], "--no-open")
        try:
            assert viewer.stdout is not None
            visitor = Visitor(viewer.stdout.readline())
            home, runs = visitor.page.split("/eval/")[0], [f"/eval/{Path(one).name}" for one in names.values()]
            parts = [*PAGES, f"{home}/", f"{home}/compare"]
            for part in parts:
                reply(visitor, part, f"number=0&run={runs[0]}&run={runs[1]}")
            reply(visitor, "/score", method="POST")
        finally:
            viewer.kill()
            viewer.communicate()


def reply(visitor: Visitor, part: str, query: str = "", method: str = "GET") -> None:
    with suppress(HTTPError):  # 503 with the error in words
        visitor.read(part, query, method)


def resolved(project: Project) -> str:
    """The config of the project, as plain data."""
    return f"paths_relative_to = {str(project.root)!r}\nmodels = [{MODEL}]\ndatasets = [{DATASET}]\n"


@pytest.mark.thorough
@pytest.mark.parametrize("name", LINKED_FILES)
def test_a_link_to_a_file_is_not_written_through(project: Project, name: str) -> None:
    with folder_of_others(project, resolved(project)) as names:
        link, victim = Path(names["run"], name), project.root / "victim"
        content = link.read_bytes() if link.exists() else b"mine"
        victim.write_bytes(content)
        link.unlink(missing_ok=True)
        link.symlink_to(victim)
        done = project.run("score", names["run"])
        assert (done.returncode, f"where: {link}" in done.stderr) == (3, True), done.stderr
        check_all(project, names)
        assert project.run("run", "eval.py", "-r", names["run"]).returncode == 3
        assert victim.read_bytes() == content


@pytest.mark.thorough
@pytest.mark.parametrize("name", LINKED_FOLDERS)
def test_a_link_to_a_folder_is_not_written_through(project: Project, name: str) -> None:
    with folder_of_others(project, resolved(project)) as names:
        link, victim = Path(names["run"], name), project.root / "victim"
        if link.is_dir():
            shutil.move(link, victim)
        victim.mkdir(exist_ok=True)
        before = sorted(victim.rglob("*"))
        link.symlink_to(victim)
        check_all(project, names)
        assert project.run("run", "eval.py", "-r", names["run"]).returncode == 3
        assert sorted(victim.rglob("*")) == before


OWN_PART = """
from ais_prompt import EVALUATORS

@EVALUATORS.register_module()
class Mine:
    def score(self, extracted, gold):
        return {"accuracy": float(gold in str(extracted))}
"""


@pytest.mark.process
def test_a_part_of_the_user_is_used_in_own_runs_and_in_others_on_demand(project: Project) -> None:
    (project.root / "part_of_the_user.py").write_text(OWN_PART)
    dataset = DATASET.replace("dict(type='Gsm8kEvaluator')", "dict(type='part_of_the_user.Mine')")
    project.write_config(datasets=dataset, more="custom_imports = dict(imports=['part_of_the_user'])")
    assert project.run("run", "eval.py").returncode == 0
    assert project.run("score", "latest").returncode == 0
    own = project.folder()
    for name in ("20300101_000000Z", "20310101_000000Z"):
        shutil.copytree(own, own.parent / name)
    copy, other = own.parent / "20300101_000000Z", own.parent / "20310101_000000Z"
    for pair in ((own, copy), (copy, other), (other, own)):
        done = project.run("compare", *map(str, pair))
        assert (done.returncode, "Unchanged: fake/sums" in done.stdout) == (0, True), done.stdout
    done = project.run("score", str(copy))
    assert (done.returncode, f"--config {copy / 'config.py'}" in done.stderr) == (2, True), done.stderr
    assert project.run("score", str(copy), "--config", str(copy / "config.py")).returncode == 0
    assert project.run("score", str(copy)).returncode == 0  # it is the user's now
    assert project.run("score", str(other)).returncode == 2
