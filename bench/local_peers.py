"""Is a local model asked faster here than by lm-eval's ``hf`` and OpenCompass, and in how much memory?

    python -m bench.local_peers                                          # an hour on two quiet cores
    python -m bench.local_peers --only answers --without OpenCompass     # 25 minutes

SmolLM2-135M in float32 from one folder, in batches of 8. Each program has the model loaded in a process of its own, and
they are asked in turn, round after round. Log-likelihoods are those of the options of BIG-Bench Hard's questions;
OpenCompass computes the perplexity of question and option, as `PPLInferencer` does. Answers are to questions of GSM8K
in chat, greedy, of at most 512 tokens. Without ``shared/data`` above the repository the shipped questions are asked.

Seconds are medians over the rounds, with the least and the most. Memory is the peak of the process after loading. Steps
are passes with one token a row, and the share is that of their places that became tokens: both do not depend on what
else the machine does. The environments are those of `tools.real`, which are made if they are not there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from ais_prompt.models import HuggingFaceChatModel
from tests.support.real_data import BBH, GSM8K
from tools.real.__main__ import installed, model_folder
from tools.real.cases import CASES
from tools.real.lm_eval import bbh_questions, facts, word_problems
from tools.real.lm_eval import installed as installed_lm_eval

BATCH_SIZE: Final = 8
TOKENS: Final = 512
WAYS: Final = ("log-likelihoods", "answers")
HERE: Final = """
from ais_prompt.models.huggingface.local_model import HuggingFaceChatModel
from tools.real.lm_eval import answers_of, log_likelihoods_of
model = HuggingFaceChatModel(job["folder"], batch_size=job["batch"], max_out_len=job["tokens"])
model.load()
network = model._network
ways = {
    "log-likelihoods": lambda: log_likelihoods_of(model, job["pairs"]),
    "answers": lambda: answers_of(model, job["prompts"]),
}
"""
LM_EVAL: Final = """
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
model = HFLM(pretrained=job["folder"], dtype="float32", device="cpu", batch_size=job["batch"])
network = model.model
decoding = {"until": ["<|im_end|>"], "max_gen_toks": job["tokens"], "do_sample": False}
def asked(kind, arguments):
    return [Instance(kind, {}, tuple(one), number) for number, one in enumerate(arguments)]
ways = {
    "log-likelihoods": lambda: [one[0] for one in model.loglikelihood(asked("loglikelihood", job["pairs"]))],
    "answers": lambda: model.generate_until(asked("generate_until", [(one, decoding) for one in job["prompts"]])),
}
"""
OPENCOMPASS: Final = """
from opencompass.models import HuggingFaceBaseModel
model = HuggingFaceBaseModel(job["folder"], model_kwargs={"torch_dtype": "torch.float", "device_map": "cpu"})
network = model.model
texts = [context + option for context, option in job["pairs"]]
def batches(items):
    return [items[start : start + job["batch"]] for start in range(0, len(items), job["batch"])]
ways = {
    "log-likelihoods": lambda: [float(one) for batch in batches(texts) for one in model.get_ppl(batch)],
    "answers": lambda: [one for batch in batches(job["prompts"]) for one in model.generate(batch, job["tokens"])],
}
"""
PROGRAMS: Final = {"here": HERE, "lm-eval": LM_EVAL, "OpenCompass": OPENCOMPASS}
"""Name of a program → what loads the model and knows the `WAYS`."""
FRAME: Final = """
import json, os, sys, time
from pathlib import Path
replies = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what the programs print is no reply
job = json.loads(Path(sys.argv[1]).read_text("utf-8"))
{program}
Path("/proc/self/clear_refs").write_text("5", "ascii")
shapes = []
network.get_input_embeddings().register_forward_hook(lambda _, given, __: shapes.append(tuple(given[0].shape)))
for line in sys.stdin:
    shapes.clear()
    started = time.perf_counter()
    found = ways[line.strip()]()
    seconds = time.perf_counter() - started
    peak = int(Path("/proc/self/status").read_text("ascii").split("VmHWM:")[1].split()[0]) / 1024
    rows = [rows for rows, columns in shapes if columns == 1]
    reply = dict(found=found, seconds=seconds, mib=peak, steps=len(rows), places=sum(rows))
    print(json.dumps(reply), file=replies, flush=True)
"""
"""Answer each line of the input, the name of a way, with what was found, the seconds, the peak memory and the steps."""


@contextmanager
def program(python: Path, text: str, job: Path) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Start a program, and yield the function that asks it."""
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    command = [str(python), "-c", FRAME.replace("{program}", text), str(job)]
    log = job.with_name(f"{python.parents[1].name}.log")
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdin=-1, stdout=-1, stderr=errors, text=True, env=env) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(way: str) -> dict[str, Any]:
            print(way, file=process.stdin, flush=True)
            line = process.stdout.readline() if process.stdout else ""
            if not line:
                raise SystemExit(log.read_text("utf-8")[-3000:])
            reply: dict[str, Any] = json.loads(line)
            return reply

        yield ask
        process.stdin.close()


def chat_prompts(folder: Path) -> list[str]:
    """Return the questions with the chat template."""
    file = GSM8K / "test.jsonl"
    if file.exists():
        questions = [json.loads(line)["question"] for line in file.read_text("utf-8").splitlines()]
    else:
        questions = list(word_problems())
    tokenizer = HuggingFaceChatModel(str(folder)).tokenizer()
    messages = [[{"role": "user", "content": question}] for question in questions]
    return [tokenizer.apply_chat_template(one, tokenize=False, add_generation_prompt=True) for one in messages]


def spread(items: Sequence[Any], count: int) -> list[Any]:
    """Return ``count`` items at even distances: short and long questions."""
    return list(items[:: max(1, len(items) // count)][:count])


class Asked(NamedTuple):
    """What the programs were asked in one way.

    Attributes:
        way: of `WAYS`.
        number: of requests in a round.
        replies: program → its reply in each round.
    """

    way: str
    number: int
    replies: Mapping[str, Sequence[Mapping[str, Any]]]


def ask_in_turn(
    programs: Collection[str], ways: Sequence[str], *, questions: int, answers: int, rounds: int
) -> Iterator[Asked]:
    """Ask programs of `PROGRAMS` in turn, round after round, and yield each way when it is over."""
    python = installed()
    folder = model_folder(CASES["SmolLM2, PPL"], Path(), python)
    options = spread(list(bbh_questions(BBH) if BBH.is_dir() else facts()), questions)
    pairs = [pair for each in options for pair in each]
    prompts = chat_prompts(folder)[:answers]
    job = {"folder": str(folder), "batch": BATCH_SIZE, "tokens": TOKENS, "pairs": pairs, "prompts": prompts}
    with TemporaryDirectory() as name, ExitStack() as stack:
        file = Path(name, "job.json")
        file.write_text(json.dumps(job), "utf-8")
        pythons = {"here": Path(sys.executable), "lm-eval": installed_lm_eval(), "OpenCompass": python / "python"}
        asked = {one: stack.enter_context(program(pythons[one], PROGRAMS[one], file)) for one in programs}
        for way in ways:
            replies: dict[str, list[Mapping[str, Any]]] = {one: [] for one in asked}
            for _ in range(rounds):
                for one, ask in asked.items():
                    replies[one].append(ask(way))
            yield Asked(way, len(pairs if way == "log-likelihoods" else prompts), replies)


def main() -> None:
    """Ask all programs in turn, and print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=12, help="with options")
    parser.add_argument("--answers", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=WAYS, action="append", help="the others are left out")
    parser.add_argument("--without", action="append", default=[], help="a program that is not asked")
    given = parser.parse_args()
    tokenizer = HuggingFaceChatModel(str(model_folder(CASES["SmolLM2, PPL"], Path(), installed()))).tokenizer()
    names = [one for one in PROGRAMS if one not in given.without]
    sizes = {"questions": given.questions, "answers": given.answers, "rounds": given.rounds}
    for way, count, replies in ask_in_turn(names, given.only or WAYS, **sizes):
        print(f"{count} {way}, batches of {BATCH_SIZE}, median of {given.rounds} rounds", flush=True)
        ours = median(reply["seconds"] for reply in replies["here"])
        for one, found in replies.items():
            first, seconds = found[0], [reply["seconds"] for reply in found]
            line = f"  {one:12} {median(seconds):7.1f} s ({min(seconds):.1f} to {max(seconds):.1f})"
            line += f" {median(seconds) / ours:6.2f} x {max(reply['mib'] for reply in found):6.0f} MiB"
            if way == "answers":
                same = sum(a == b for a, b in zip(replies["here"][0]["found"], first["found"], strict=True))
                # The first token of an answer comes with its prompt; a last one ends it, if there is room.
                lengths = [len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in first["found"]]
                tokens = sum(min(length + 1, TOKENS) - 1 for length in lengths)
                line += f"  {first['steps']} steps, {tokens / first['places']:.0%} of places are tokens"
                line += f"  equal texts {same}/{count}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
