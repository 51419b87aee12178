"""How long `aisprompt score` takes for many stored predictions, and how much memory.

    python -m bench.score                # 1,000 and 100,000 predictions, accuracy
    python -m bench.score --profile      # where the time goes

The predictions are made here: a chat prompt of about 200 characters, an answer of about 100, and what a server tells of
each request. Measured is the whole command in a process of its own, start-up included: its processor time, which other
work on the machine does not change, its wall time, and the most memory that it held, which hardly grows with their
number.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ais_prompt.store import RunFolder, write_predictions
from ais_prompt.types import ChatMessage, Completion, Prediction, Usage

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
PROFILE = ("-m", "cProfile", "-s", "tottime")
FEW = 1_000


def prediction(number: int) -> Prediction:
    """One of a multiple-choice test, of which a quarter is answered right."""
    question = f"Question {number}: which of these is right?\n" + "\n".join(f"{x}. choice {x} of it" for x in LETTERS)
    answer = LETTERS[number % 4] + " is the choice that I would take here, because the others say less about it."
    return Prediction(
        sample_id=f"{number:012x}",
        index=number,
        origin_prompt=(ChatMessage("system", "Answer with a letter."), ChatMessage("user", question)),
        prediction=answer,
        gold=LETTERS[number // 4 % 4],
        completions=(Completion(answer, "stop", Usage(63, 21), seconds=0.25),),
    )


def score(number: int, *, profile: bool = False) -> None:
    """Score so many predictions, and print what it took."""
    with tempfile.TemporaryDirectory() as root:
        folder = RunFolder(Path(root))
        folder.config_file.write_text(CONFIG)
        write_predictions(folder.predictions("model", "questions"), map(prediction, range(number)))
        command = [sys.executable, *PROFILE * profile, "-m", "ais_prompt", "score", root]
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=None if profile else subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"`aisprompt score` ended with {process.returncode}")
    print(
        f"{number:,} predictions: {used.ru_utime + used.ru_stime:.1f} s of processor time, {wall:.1f} s in all, "
        f"{used.ru_maxrss / 1024:.0f} MiB of memory at most"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=100_000)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    if not options.profile:
        score(FEW)
    score(options.number, profile=options.profile)


if __name__ == "__main__":
    main()
