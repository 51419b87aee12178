"""Compare a real model with lm-eval's ``hf``, question by question: ``python -m tools.real.lm_eval``.

Both compute the log-likelihoods of the options of the same questions, and answer the same word problems greedily, with
SmolLM2-135M in float32 and batches of 8. The questions are BIG-Bench Hard's, or those that ship with the package where
no folder ``shared/data/bbh`` lies above the repository. lm-eval is installed into an environment of its own, as the
wheels of `tools.real`; its results are kept there, since it takes many minutes. Times are without loading. Exit code 1:
something differs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import click

from ais_prompt.engine import WINDOW
from ais_prompt.models import HuggingFaceBaseModel, pretrained_source
from ais_prompt.types import LikelihoodQuery, Request
from ais_prompt.utils import digest
from tests.support.real_data import BBH
from tools.real.__main__ import CACHE, ROOT, SMOLLM2

BATCH_SIZE: Final = 8
TOKENS: Final = 64
"""Of an answer at most."""
TOLERANCE: Final = 1e-4
"""Of a log-likelihood, in nats, and relative."""
REQUIREMENTS: Final = ("torch==2.13.0", "transformers==5.24.0", "accelerate", "gguf", "lm-eval[hf]==0.4.13")
THEIRS: Final = """
import json, sys, time
from pathlib import Path
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM

job = json.loads(Path(sys.argv[1]).read_text("utf-8"))
options = {"dtype": "float32", "device": "cpu", "batch_size": job["batch"]}
model = HFLM(pretrained=job["source"], gguf_file=job["gguf_file"], **options)

def ask(method, kind, arguments):
    requests = [Instance(kind, {}, tuple(one), number) for number, one in enumerate(arguments)]
    started = time.perf_counter()
    found = method(requests)
    return found, time.perf_counter() - started

values, value_seconds = ask(model.loglikelihood, "loglikelihood", job["pairs"])
decoding = {"until": ["\\n\\n"], "max_gen_toks": job["tokens"], "do_sample": False}
texts, text_seconds = ask(model.generate_until, "generate_until", [(one, decoding) for one in job["prompts"]])
result = {"values": [one[0] for one in values], "texts": texts, "seconds": [value_seconds, text_seconds]}
Path(sys.argv[2]).write_text(json.dumps(result), "utf-8")
"""
"""Ask with lm-eval; arguments: file with the questions, file for the answers."""


@click.command()
@click.option("--bbh", type=click.Path(path_type=Path), default=BBH, help="Folder of the JSON files of BIG-Bench Hard.")
@click.option("--questions", default=500, help="Questions with options, at most.", show_default=True)
@click.option("--answers", default=40, help="Generated answers, at most 40.", show_default=True)
def main(bbh: Path, questions: int, answers: int) -> None:
    """Compare log-likelihoods, choices and greedy answers."""
    source = bbh_questions(bbh) if bbh.is_dir() else facts()
    numbered = [(n, pair) for n, pairs in enumerate(islice(source, questions)) for pair in pairs]
    pairs = [pair for _, pair in numbered]
    prompts = list(islice(word_problems(), answers))
    theirs, their_seconds = _theirs(pairs, prompts)
    ours, our_seconds = _ours(pairs, prompts)
    differences = [abs(one - other) for one, other in zip(theirs["values"], ours["values"], strict=True)]
    close = [
        difference <= TOLERANCE * max(1, abs(one))
        for difference, one in zip(differences, theirs["values"], strict=True)
    ]
    chosen = [_chosen(numbered, values) for values in (theirs["values"], ours["values"])]
    same = [one == other for one, other in zip(*chosen, strict=True)]
    equal = [one == other for one, other in zip(theirs["texts"], ours["texts"], strict=True)]
    click.echo(f"log-likelihoods equal: {sum(close)} of {len(close)}, largest difference {max(differences):.1e} nats")
    click.echo(f"choices equal: {sum(same)} of {len(same)}")
    click.echo(f"answers equal: {sum(equal)} of {len(equal)}")
    for what, their, our in zip(("log-likelihoods", "answers"), their_seconds, our_seconds, strict=True):
        click.echo(f"{what}: {their:.1f} s with lm-eval, {our:.1f} s here, {their / our:.1f} times as fast")
    for one, other in zip(theirs["texts"], ours["texts"], strict=True):
        if one != other:
            click.echo(f"there {one!r}\nhere  {other!r}")
    sys.exit(int(not all((*close, *same, *equal))))


def facts() -> Iterator[list[tuple[str, str]]]:
    """Yield pairs of context and option for each shipped question with options."""
    for row in _rows("facts", "test"):
        yield [(f"Question: {row['question']}\nAnswer:", f" {row[label]}") for label in "ABCD"]


def bbh_questions(data: Path) -> Iterator[list[tuple[str, str]]]:
    """Yield pairs of context and option for each question, the shortest first: lm-eval computes each pair in full."""
    found = []
    for file in sorted(data.glob("*.json")):
        for row in json.loads(file.read_text("utf-8"))["examples"]:
            stem, _, listed = row["input"].partition("\nOptions:\n")
            options = re.findall(r"^\([A-Z]\) (.+)$", listed, re.MULTILINE)
            if len(options) > 1:
                found.append([(f"Question: {stem}\nAnswer:", f" {option}") for option in options])
    yield from sorted(found, key=lambda pairs: sum(len(context + option) for context, option in pairs))


def word_problems() -> Iterator[str]:
    """Yield the prompts of the shipped word problems, after an example."""
    example = _rows("sums", "train")[0]
    for row in _rows("sums", "test"):
        yield f"Question: {example['question']}\nAnswer: {example['answer']}\n\nQuestion: {row['question']}\nAnswer:"


def _rows(name: str, split: str) -> list[dict[str, str]]:
    lines = (ROOT / "configs/data/everyday" / name / f"{split}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _theirs(pairs: Sequence[tuple[str, str]], prompts: Sequence[str]) -> tuple[dict[str, Any], list[float]]:
    """Return the values and texts of lm-eval, and the seconds they took when they were computed."""
    source, arguments = pretrained_source(SMOLLM2)
    gguf_file = arguments["gguf_file"]
    job = {"source": source, "gguf_file": gguf_file, "batch": BATCH_SIZE, "tokens": TOKENS}
    questions = {**job, "pairs": pairs, "prompts": prompts}
    # The folder of the package differs between environments.
    kept = CACHE / "lm-eval" / f"{digest([questions | {'source': SMOLLM2}, REQUIREMENTS, THEIRS])}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=kept.parent) as name:
            asked, answered = Path(name, "asked.json"), Path(name, "answered.json")
            asked.write_text(json.dumps(questions), "utf-8")
            subprocess.run([str(installed()), "-c", THEIRS, str(asked), str(answered)], check=True)
            answered.rename(kept)
    result: dict[str, Any] = json.loads(kept.read_text("utf-8"))
    return result, result["seconds"]


def _ours(pairs: Sequence[tuple[str, str]], prompts: Sequence[str]) -> tuple[dict[str, Any], list[float]]:
    model = HuggingFaceBaseModel(SMOLLM2, max_out_len=TOKENS, batch_size=BATCH_SIZE, stop_words=["\n\n"])
    model.load()
    started = time.perf_counter()
    values = log_likelihoods_of(model, pairs)
    middle = time.perf_counter()
    texts = answers_of(model, prompts)
    return {"values": values, "texts": texts}, [middle - started, time.perf_counter() - middle]


def log_likelihoods_of(model: HuggingFaceBaseModel, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return the log-likelihood of each option after its context, in nats."""
    requests = [Request(str(n), context, LikelihoodQuery(option)) for n, (context, option) in enumerate(pairs)]
    found = dict(model.log_likelihoods(requests))
    return [-likelihood.nll for n in range(len(pairs)) if (likelihood := found[n].likelihood)]


def answers_of(model: HuggingFaceBaseModel, prompts: Sequence[str]) -> list[str]:
    """Return the answers to prompts, asked as the engine asks them."""
    asked = [Request(str(n), one, model.decoding(None, ())) for n, one in enumerate(prompts)]
    # The engine sends long prompts first, as lm-eval does, a window of batches at a time.
    asked.sort(key=lambda one: -model.count_tokens(one.prompt))
    size = model.batch_size * WINDOW
    windows = [asked[start : start + size] for start in range(0, len(asked), size)]
    texts = {
        window[number].sample_id: completion.text
        for window in windows
        for number, completion in model.generate_each(window)
    }
    return [texts[str(n)] for n in range(len(prompts))]


def _chosen(numbered: Sequence[tuple[int, tuple[str, str]]], values: Sequence[float]) -> list[int]:
    """Return the position of the likeliest option of each question."""
    pairs = zip((number for number, _ in numbered), values, strict=True)
    groups = [[value for _, value in group] for _, group in groupby(pairs, key=lambda one: one[0])]
    return [group.index(max(group)) for group in groups]


def installed() -> Path:
    """Return the interpreter of the environment with lm-eval, which is made if it is not there."""
    env = CACHE / "env-lm-eval"
    marker = env / "installed"
    if not marker.exists() or marker.read_text("utf-8") != "\n".join(REQUIREMENTS):
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(env)], check=True)
        subprocess.run([str(env / "bin/python"), "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True)
        marker.write_text("\n".join(REQUIREMENTS), "utf-8")
    return env / "bin/python"


if __name__ == "__main__":
    main()
