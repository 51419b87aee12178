"""What this program exports is read back equal, record by record, as far as the format holds it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ais_prompt.config import Options
from ais_prompt.extensions.logs.import_log import import_log
from ais_prompt.report import StoredSample, StoredTask, read_stored_results
from ais_prompt.store import RunFolder
from tests.support.cli import run_cli

CONFIG = r"""
models = [dict(type='ScriptedModel', abbr='m', default='')]
datasets = [dict(
    abbr='sums', type='LocalDataset', path='sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template='Q: {question}'),
        retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='Gsm8kEvaluator'), pred_postprocessor=dict(type='gsm8k_postprocess')))]
"""
HAS_FAILURES = {"inspect"}
TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)


def row(sample: StoredSample, *, has_reason: bool) -> dict[str, Any]:
    prediction, score = sample.prediction, sample.score
    assert score is not None
    found = {
        "prompt": sample.question(),
        "answers": [one.text for one in prediction.completions],
        "gold": str(prediction.gold),
        "values": dict(score.values),
        "extracted": "" if score.extracted is None else str(score.extracted),
    }
    if has_reason:
        found |= {
            "id": prediction.sample_id,
            "failed": sample.status == "failed",
            "truncated": [one.finish_reason == "length" for one in prediction.completions],
            "usage": [one.usage for one in prediction.completions if one.failure is None],
        }
    return found


def read_back(run: Path, form: str, place: Path) -> tuple[StoredTask, StoredTask]:
    done = run_cli("export", str(run), "--to", form, "-o", str(place / form), folder=run.parent)
    assert done.returncode == 0, done.stderr
    back = import_log(place / form, Options(work_dir=str(place / "runs")), "aisprompt import").folder
    [before], [after] = (read_stored_results(folder).tasks for folder in (RunFolder(run), back))
    return before, after


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["inspect", "lm-eval", "eee"])
def test_every_record_is_read_back(form: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    @settings(max_examples=5)
    @given(
        st.lists(
            st.tuples(
                TEXTS,
                st.sampled_from(["42", "It is 7.", "no number", ""]),
                st.sampled_from(["stop", "length"]),
                st.booleans(),
            ),
            min_size=1,
            max_size=5,
        ).filter(lambda answers: not all(failed for *_, failed in answers))  # else there is no score
    )
    def read(answers: list[tuple[str, str, str, bool]]) -> None:
        folder = tmp_path_factory.mktemp("run")
        (folder / "eval.py").write_text(CONFIG)
        rows = [{"question": f"{text} {number}", "answer": "7"} for number, (text, *_) in enumerate(answers)]
        (folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        lines = [
            {
                "index": number,
                "prediction": None if failed else said,
                "origin_prompt": f"Q: {text} {number}",
                "completions": [
                    {"text": "", "finish_reason": None, "failure": {"kind": "timeout", "message": "late"}}
                    if failed
                    else {
                        "text": said,
                        "finish_reason": reason,
                        "usage": {"prompt_tokens": 3, "completion_tokens": number},
                        "seconds": 0.5,
                        "attempts": 1,
                    }
                ],
            }
            for number, (text, said, reason, failed) in enumerate(answers)
        ]
        (folder / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        done = run_cli("score", "--predictions", "answers.jsonl", "--config", "eval.py", folder=folder)
        [run] = (folder / "outputs/eval").iterdir()
        before, after = read_back(run, form, folder)
        kept = [one for one in before.samples() if form in HAS_FAILURES or one.status != "failed"]
        assert [row(one, has_reason=form in HAS_FAILURES) for one in kept] == [
            row(one, has_reason=form in HAS_FAILURES) for one in after.samples()
        ], done.stderr

    read()
