"""Let a small real model judge by a rubric: ``python -m tools.real.judge [--keep DIR]``.

SmolLM2-135M behind llama.cpp's server follows the form that it is asked for in some of its replies only. Each of them
must be read, or its answer must have no score and say why. It also rates each answer, and the ratings are weighed by
the probabilities of its tokens. Exit code 1: something is wrong with a reply.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

from ais_prompt import RubricEvaluator
from ais_prompt.store import RunFolder, locate_run, read_details, read_predictions
from ais_prompt.types import JudgeVerdict
from tools.real.agents import CACHE, ROOT
from tools.real.servers import Running, install, served, small_model

ANSWERS: Final = {
    "Why is the sky blue?": "Because air scatters blue light more than red light.",
    "How many legs has a spider?": "A spider has eight legs.",
    "Name a prime number.": "9",
    "What is the capital of France?": "Berlin, I think. Or was it Paris?",
    "How do plants eat?": "They make sugar of light, water and air; it is called photosynthesis.",
    "Say something kind.": "No.",
}
CRITERIA: Final = ("The answer is correct", "The answer is polite", "The answer is longer than three words")
CONFIG: Final = """
models = [dict(type='ScriptedModel', abbr='m', answers={answers!r})]
judge = dict(type='OpenAIChatModel', abbr='judge', model={model!r}, base_url={url!r}, api_key=None, max_out_len=120)
rater = dict(judge, type='OpenAICompletionModel', max_out_len=3)
datasets = [dict(type='LocalDataset', abbr=name, rows={rows!r},
    reader_cfg=dict(input_columns=['q'], output_column=None),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{{q}}'),
        inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='RubricEvaluator', judge_cfg=judge) | rubric))
    for name, rubric in (('together', dict(criteria={criteria!r})),
                         ('alone', dict(criteria={criteria!r}, together=False)),
                         ('weighted', dict(criteria={scale!r}, together=False, weighted=True, judge_cfg=rater,
                             prompt_template=dict(type='PromptTemplate', template={rating!r}))))]
"""
SCALE: Final = [{"criterion": "How good the answer is", "scale": [1, 5]}]
RATING: Final = "\n\n".join(
    f"Question: {question}\nAnswer: {answer}\nRating of the answer, from 1 to 5:{rating}"
    for question, answer, rating in (
        ("What is 2 + 2?", "It is 5.", " 1"),
        ("Who wrote Hamlet?", "William Shakespeare wrote it.", " 5"),
        ("Name a colour.", "A colour.", " 2"),
        ("{q}", "{prediction}", ""),
    )
)
"""Examples, which the model goes on with."""
WEIGHTED: Final = "weighted"
SECONDS: Final = 900


@click.command()
@click.option("--keep", type=click.Path(path_type=Path), metavar="DIR", help="Keep the run folder there.")
def main(keep: Path | None) -> None:
    """Let the model judge six answers, all criteria in one request and each in its own."""
    work = (keep or CACHE / "judge-runs").absolute()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    with served("llama.cpp", install("llama.cpp", small_model())) as running:
        folder = judged(work, running)
    faults = [fault for name in ("together", "alone") for fault in reading_faults(folder, name)]
    faults += weighing_faults(folder)
    click.echo("\n".join(faults) or "every reply is read, or its answer has no score and says why")
    sys.exit(bool(faults))


def judged(work: Path, running: Running) -> RunFolder:
    """Run the config in a folder, and return the folder of the run."""
    values = {"answers": ANSWERS, "rows": [{"q": one} for one in ANSWERS], "criteria": list(CRITERIA), "scale": SCALE}
    (work / "config.py").write_text(
        CONFIG.format(**values, rating=RATING, model=running.model, url=running.url), "utf-8"
    )
    command = [sys.executable, "-m", "ais_prompt", "run", str(work / "config.py"), "-w", str(work / "out")]
    subprocess.run([*command, "--max-failures", "100"], cwd=ROOT, check=True, timeout=SECONDS)
    return locate_run(work / "out", "latest")


def reading_faults(folder: RunFolder, dataset: str) -> Iterator[str]:
    """Yield what is wrong with the scores of a dataset, and print how many replies could be read."""
    rubric = RubricEvaluator(CRITERIA, together=dataset == "together")
    details = list(read_details(folder.results("m", dataset)))
    replies = list(read_predictions(folder.judge("m").predictions("judge", dataset)))
    if len(replies) != len(ANSWERS) * len(rubric.parts(None)):
        yield f"{dataset}: {len(replies)} replies"
    states = Counter(one.reason or one.status for one in details)
    click.echo(f"{dataset}: {len(replies)} replies; answers: {dict(states)}")
    for one in details:
        of_answer = [str(reply.prediction) for reply in replies if reply.sample_id.startswith(f"{one.sample_id}-")]
        [vote] = one.verdicts or [JudgeVerdict("judge")]
        marks = rubric.marks(vote.vote, one.gold)
        is_scored = one.status == "scored" and "rubric" in one.values
        if is_scored == (None in marks) or (not is_scored and not one.reason.startswith("judge ")):
            yield f"{dataset} {one.sample_id}: {one.status}, {one.reason}, {one.values}, {marks}"
        for number, mark in plain_marks(of_answer, together=dataset == "together").items():
            if (read := marks[number - 1]) != mark:
                yield f"{dataset} {one.sample_id}: criterion {number} is {mark}, read as {read}: {of_answer}"


def weighing_faults(folder: RunFolder) -> Iterator[str]:
    """Yield what is wrong with the weighted ratings, and print them."""
    replies = {
        one.sample_id.split("-")[0]: one for one in read_predictions(folder.judge("m").predictions("judge", WEIGHTED))
    }
    scores = {}
    for one in read_details(folder.results("m", WEIGHTED)):
        reply = replies[one.sample_id]
        text, tokens = str(reply.prediction).strip(), reply.completions[-1].tokens
        if text not in "".join(token.text for token in tokens):
            yield f"{WEIGHTED} {one.sample_id}: the tokens are not those of {text!r}"
        if (fewest := min(len(token.alternatives) for token in tokens)) < 20:
            yield f"{WEIGHTED} {one.sample_id}: a token has {fewest} alternatives"
        if re.fullmatch("[1-5]", text):
            [found] = [token for token in tokens if token.text.strip() == text]
            likely = dict.fromkeys(range(1, 6), 0.0)
            for other, value in found.alternatives.items():
                if other.strip() in map(str, likely):
                    likely[int(other)] += math.exp(value)
            expected = sum(rating * weight for rating, weight in likely.items()) / sum(likely.values())
            if not math.isclose(one.values.get("rubric", -1), (expected - 1) / 4, abs_tol=1e-9):
                yield f"{WEIGHTED} {one.sample_id}: {one.values} for {likely}"
            scores[one.sample_id] = round(expected, 3)
    click.echo(f"{WEIGHTED}: {len(replies)} replies; ratings of a digit alone, weighted: {list(scores.values())}")
    if not scores:
        yield f"{WEIGHTED}: no reply is a digit alone"


def plain_marks(replies: list[str], *, together: bool) -> Mapping[int, float]:
    """Return what replies say that are a JSON object in the form asked for, and nothing else, by number from 1."""
    found: dict[int, float] = {}
    for number, reply in enumerate(replies, 1):
        said: Any = None
        with suppress(ValueError):
            said = json.loads(re.sub(r"^```(json)?|```$", "", reply.strip()))
        if isinstance(said, dict):
            marks = said.items() if together else [(str(number), said.get("criteria_met"))]
            found |= {int(key): float(mark) for key, mark in marks if key in ("1", "2", "3") and isinstance(mark, bool)}
    return found


if __name__ == "__main__":
    main()
