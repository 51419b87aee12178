"""Every part of a config is built once in a process, and every dataset is read once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ais_prompt.checks import checked
from ais_prompt.cli import main
from ais_prompt.config import Options
from ais_prompt.plan import build
from tests.support.parts import write_rows

CONFIG = """
models = [dict(type='ScriptedModel', abbr=name, answers={'.*': '2'}) for name in ('one', 'two')]
datasets = [
    dict(
        type='LocalDataset', abbr=name, path='rows.jsonl',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            ice_template=dict(type='PromptTemplate', template='{question} {answer}'),
            prompt_template=dict(type='PromptTemplate', template='</E>{question} {answer}', ice_token='</E>'),
            retriever=dict(type='FixKRetriever', fix_id_list=[0], allow_overlap=True),
            inferencer=dict(type='GenInferencer'),
        ),
        eval_cfg=dict(
            evaluator=dict(type='AccEvaluator'), pred_postprocessor=dict(type='first_number_postprocess')
        ),
    )
    for name in ('left', 'right')
]
gates = ['accuracy >= 1%']
"""
ALL = Counter(models=2, readers=2, retrievers=2, inferencers=2, templates=4, evaluators=2, read=2)
MARKED = ALL + Counter(templates=2 * 4)
"""To find the origins of a prompt, the templates of its task are built again with marks in their texts."""


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Counter[str]:
    """Counts what is built, at the only place that builds."""
    found: Counter[str] = Counter()

    def count(name: str, original: Callable[..., Any], *args: Any, **offered: Any) -> Any:
        found[name or args[0].kind] += 1
        return original(*args, **offered)

    monkeypatch.setattr(build, "build_part", partial(count, "", build.build_part))
    monkeypatch.setattr(build, "load_dataset", partial(count, "read", build.load_dataset))
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "rows.jsonl", [{"question": f"{n}+1=?", "answer": str(n + 1)} for n in range(3)])
    (tmp_path / "eval.py").write_text(CONFIG, "utf-8")
    return found


def invoke(*command: str) -> None:
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output


@pytest.mark.thorough
@pytest.mark.parametrize(
    "command",
    [
        ("check", "eval.py"),
        ("view-prompt", "eval.py", "--all"),
        ("run", "eval.py"),
    ],
    ids=" ".join,
)
def test_each_part_is_built_once_and_each_dataset_read_once(built: Counter[str], command: tuple[str, ...]) -> None:
    invoke(*command)
    if command[0] == "view-prompt":
        assert built["templates"] >= MARKED["templates"]  # of each sample
        assert built == MARKED | Counter(templates=built["templates"])
    else:
        assert built == (MARKED if command[0] == "run" else ALL)  # the report shows the first prompts of a run


def test_scoring_builds_neither_models_nor_prompts_nor_inferencers(built: Counter[str]) -> None:
    invoke("run", "eval.py")
    built.clear()
    invoke("score", "eval")
    assert built == Counter(evaluators=2)


DIALOGUE = """
dialogue = dict(
    prompt_template=dict(type='MultiTurnPromptTemplate', template=dict(round=[
        dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}'),
    ])),
    inferencer=dict(type='MultiTurnGenInferencer', infer_mode='MODE'),
)
"""
DIALOGUES = DIALOGUE + re.sub(r"infer_cfg=dict\(.*?\n        \),", "infer_cfg=dialogue,", CONFIG, flags=re.DOTALL)


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["every", "last"])
def test_scoring_of_dialogues_builds_no_inferencer(built: Counter[str], tmp_path: Path, mode: str) -> None:
    (tmp_path / "eval.py").write_text(DIALOGUES.replace("MODE", mode), "utf-8")
    invoke("run", "eval.py")
    built.clear()
    invoke("score", "eval")
    assert built == Counter(evaluators=2)


JUDGED = CONFIG.replace(
    "dict(type='AccEvaluator')",
    """dict(
        type='GenericLLMEvaluator', judge_cfg=dict(type='ScriptedModel', answers={'.*': 'A'}),
        prompt_template=dict(type='PromptTemplate', template='{question} {prediction}'),
    )""",
)


def test_datasets_with_the_same_judge_share_it(built: Counter[str], tmp_path: Path) -> None:
    (tmp_path / "eval.py").write_text(JUDGED.replace("accuracy >= 1%", "failed <= 1%"), "utf-8")
    invoke("run", "eval.py")
    assert built["models"] == 3
    assert built["read"] == 2


def test_a_judge_in_a_worker_takes_its_place_in_a_plan_of_its_own(built: Counter[str], tmp_path: Path) -> None:
    (tmp_path / "eval.py").write_text(JUDGED, "utf-8")
    plan, _ = checked(Options("eval.py"))
    before = plan.judges[0].model
    other = build.build_model(plan.judges[0].spec)
    moved = plan.with_models({plan.judges[0]: other})
    assert [judge.model for judge in moved.judges] == [other]
    assert {judge.model for dataset in moved.datasets for judge in dataset.judges} == {other}
    assert {judge.model for task in moved.tasks for judge in task.dataset.judges} == {other}
    assert moved.models == plan.models
    assert {judge.model for task in plan.tasks for judge in task.dataset.judges} == {before}


def test_threads_read_a_dataset_once(built: Counter[str]) -> None:
    plan, _ = checked(Options("eval.py"))
    [first, _] = plan.datasets
    first.release()
    built.clear()
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda _: first.data.test, range(16)))
    assert built["read"] == 1
    assert len(set(map(id, rows))) == 1
