"""How long `aisprompt score` takes for many stored predictions.

    python -m tools.bench.score                # 100,000 predictions, accuracy
    python -m tools.bench.score --profile      # where the time goes

The predictions are made here: a chat prompt of about 200 characters, an answer of about 100, and what a server tells of
each request. Measured is the whole command in a process of its own, start-up included: its processor time, which other
work on the machine does not change, and its wall time.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ais_prompt.store import RunFolder, write_predictions
from ais_prompt.types import Completion, Message, Prediction, Usage

CONFIG = """models = [dict(type='ScriptedModel', abbr='model')]
datasets = [
    dict(
        abbr='questions',
        path='questions.jsonl',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'),
                       inferencer=dict(type='GenInferencer')),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator'), pred_postprocessor=dict(type='first_capital_postprocess')),
    )
]
"""
LETTERS = "ABCD"


def prediction(number: int) -> Prediction:
    """One of a multiple-choice test, of which a quarter is answered right."""
    question = f"Question {number}: which of these is right?\n" + "\n".join(f"{x}. choice {x} of it" for x in LETTERS)
    answer = LETTERS[number % 4] + " is the choice that I would take here, because the others say less about it."
    return Prediction(
        sample_id=f"{number:012x}",
        index=number,
        origin_prompt=(Message("system", "Answer with a letter."), Message("user", question)),
        prediction=answer,
        gold=LETTERS[number // 4 % 4],
        completions=(Completion(answer, "stop", Usage(63, 21), seconds=0.25),),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=100_000)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        folder = RunFolder(Path(root))
        folder.config_file.write_text(CONFIG)
        write_predictions(folder.predictions("model", "questions"), map(prediction, range(options.number)))
        profile = ["-m", "cProfile", "-s", "tottime"] if options.profile else []
        begin = time.perf_counter()
        subprocess.run(
            [sys.executable, *profile, "-m", "ais_prompt", "score", root], check=True, stderr=subprocess.DEVNULL
        )
        wall = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{options.number:,} predictions: {used.ru_utime + used.ru_stime:.1f} s of processor time, {wall:.1f} s in all"
    )


if __name__ == "__main__":
    main()
