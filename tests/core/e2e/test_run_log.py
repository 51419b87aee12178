"""``logs/run.log``: the tracebacks of the user's parts, with their files and lines, each once."""

from __future__ import annotations

import pytest

from tests.core.e2e.project import DATASET, MODEL, Project

pytestmark = pytest.mark.process  # parts of the user are scored in a process of their own

OWN = """\
from ais_prompt.inferencers import GenInferencer


class Picky(GenInferencer):
    def converse(self, sample, shots, context):
        if sample.index % 2:
            refuse(sample)
        return super().converse(sample, shots, context)


def refuse(sample):
    raise ValueError(f"not row {sample.index}")


class Strict:
    metrics = ("accuracy",)

    def score(self, extracted, gold):
        raise KeyError(gold)
"""
OWN_INFERENCER = DATASET.replace("type='GenInferencer'", "type='own.Picky'").replace("'sums'", "'picky'")
OWN_EVALUATOR = DATASET.replace("evaluator=dict(type='Gsm8kEvaluator')", "evaluator=dict(type='own.Strict')")


def test_the_traceback_of_each_part_is_there_once(project: Project) -> None:
    (project.root / "own.py").write_text(OWN)
    project.write_config(models=MODEL, datasets=f"{OWN_INFERENCER}, {OWN_EVALUATOR}")
    done = project.run("run", "eval.py")
    assert "Traceback" not in done.stderr
    log = (project.folder() / "logs" / "run.log").read_text()
    assert log.count("Traceback (most recent call last)") == 2
    assert log.count(f'File "{project.root / "own.py"}", line 12, in refuse') == 1
    assert log.count(f'File "{project.root / "own.py"}", line 19, in score') == 1
    assert "ValueError: not row 1" in log
