from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt.report import LiveRun
from ais_prompt.store import hold_writer_lock, write_config
from tests.core.unit.report.web.making import make_run, prediction

CONFIG = """
models = [dict(type='ScriptedModel', abbr='{model}', answers={{'.': 'judge'}})]
datasets = [
    dict(
        type='LocalDataset',
        abbr='sums',
        path='judge.jsonl',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(type='PromptTemplate', template='Judge: {{question}}'),
            inferencer=dict(type='GenInferencer'),
        ),
        eval_cfg=dict({scoring}),
    )
]
"""
RULE = "evaluator=dict(type='AccuracyEvaluator')"
JUDGE = """evaluator=dict(
    type='GenericLLMEvaluator',
    judge_cfg=dict(type='OpenAIChatModel', model='rater', base_url='http://127.0.0.1:9/v1', api_key=None),
    prompt_template=dict(type='PromptTemplate', template='{prediction}'),
)"""


@pytest.mark.parametrize(("model", "scoring", "is_judged"), [("prejudge", RULE, False), ("m", JUDGE, True)])
def test_a_running_run_is_scored_unless_a_judge_has_to_be_asked(
    tmp_path: Path, model: str, scoring: str, is_judged: bool
) -> None:
    folder = make_run(tmp_path, [prediction(0)])
    write_config(folder, CONFIG.format(model=model, scoring=scoring))
    with hold_writer_lock(folder):
        state = LiveRun(folder, lambda _: None).state()
    assert (state.status, state.is_due, "a judge has to be asked" in state.pending) == (
        "running",
        not is_judged,
        is_judged,
    )
