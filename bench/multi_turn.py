"""How fast dialogues are held when their histories are kept in memory, and whether the answers are the same.

    python -m bench.multi_turn            # demo model and a random Llama of 30 M parameters; minutes on a CPU

Dialogues of six turns in which each question shows some sums and asks for another one. Each way runs in a process of
its own, so that its peak memory can be measured:

    reused    as `HuggingFaceBaseModel.generate` does it
    plain     every history is computed anew, in batches of the same size

Processor time of one thread, best of several rounds. The reference is ``generate`` of transformers, given each prompt
of the first dialogues alone.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any, Final

from ais_prompt.inferencers import Conversation, RunningConversation
from ais_prompt.models.huggingface.model import HuggingFaceBaseModel
from ais_prompt.models.tokens.tokenizer import continuation
from ais_prompt.types import Completion, Decoding, Prediction, Request
from ais_prompt.utils.jsonl import decode
from bench.local_models import (
    DATA,
    DEMO_MODEL,
    forget_peak,
    held_mib,
    in_own_process,
    peak_mib,
    save_random_llama,
)
from tools.drive import drive

MODULE: Final = "bench.multi_turn"
TURNS: Final = 6
SUMS: Final = 4
"""Sums in a question, the last one without its result."""
ANSWER: Final = 16
"""Most tokens of an answer; the random model always uses them up."""
WAYS: Final = ("reused", "plain")
BATCH_SIZES: Final = (1, 7, 32)
KEPT: Final = 1024
"""Tokens that may be kept for each dialogue of a batch."""


def questions(number: int) -> list[str]:
    """The questions of a dialogue, turn by turn."""
    files = sorted((DATA / "demo" / "addition").glob("*.jsonl"))
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    first = number * (TURNS * SUMS + 1)
    rows = [decode(lines[(first + offset) % len(lines)]) for offset in range(TURNS * SUMS)]
    texts = [f"Question: {row['question']}\nAnswer: {row['answer']}\n" for row in rows]
    turns = [texts[start : start + SUMS] for start in range(0, len(texts), SUMS)]
    return ["".join(turn).rpartition(" ")[0] for turn in turns]


def conversation(number: int, decoding: Decoding) -> Conversation:
    """Asks turn by turn, after the model's own answers."""
    history = ""
    prompts: list[str] = []
    completions: list[Completion] = []
    for turn, question in enumerate(questions(number)):
        prompts.append(history + question)
        [completion] = yield [Request(str(number), prompts[-1], decoding, turn)]
        completions.append(completion)
        history = f"{prompts[-1]}{completion.text}\n"
    return Prediction(str(number), number, tuple(prompts), [one.text for one in completions], None, tuple(completions))


def hold(model: HuggingFaceBaseModel, dialogues: range) -> list[Prediction]:
    """Dialogues of these numbers to their end, in order."""
    decoding = model.decoding(ANSWER, ("\n",))
    under_way: Iterator[RunningConversation] = (
        RunningConversation(conversation(number, decoding), lambda _: None) for number in dialogues
    )
    over: list[RunningConversation] = []
    drive(model, under_way, lambda _request, _completion: None, over.append)
    predictions = [dialogue.prediction for dialogue in over if dialogue.prediction]
    return sorted(predictions, key=lambda prediction: prediction.index)


def measure(path: str, way: str, dialogues: int, batch_size: int, rounds: int) -> dict[str, Any]:
    """One way in this process: processor seconds of the best round, MiB over the loaded model, prompts and answers."""
    import torch

    kept = 0 if way == "plain" else KEPT * batch_size
    seconds: list[float] = []
    predictions: list[Prediction] = []
    model = HuggingFaceBaseModel(path, batch_size=batch_size, prefix_cache_tokens=kept)
    torch.set_num_threads(1)  # threads that wait for each other count, too
    hold(model, range(rounds * dialogues, rounds * dialogues + 1))
    forget_peak()
    loaded = held_mib()
    for number in range(rounds):
        started = process_time()
        # Other dialogues in every round, so that none of them is known.
        held = hold(model, range(number * dialogues, (number + 1) * dialogues))
        seconds.append(process_time() - started)
        predictions = predictions or held
    return {
        "seconds": min(seconds),
        "mib": peak_mib() - loaded,
        "prompts": [prediction.origin_prompt for prediction in predictions],
        "answers": [prediction.prediction for prediction in predictions],
        "longest": max(one.usage.prompt_tokens or 0 for said in predictions for one in said.completions),
    }


def reference(path: str, dialogues: Sequence[Sequence[str]]) -> list[list[str]]:
    """The answers of plain ``generate`` to each prompt alone."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    network = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(path)

    def answer(prompt: str) -> str:
        ids = tokenizer(prompt, return_tensors="pt").input_ids
        mask = torch.ones_like(ids)
        output = network.generate(ids, attention_mask=mask, max_new_tokens=ANSWER, do_sample=False)[0].tolist()
        ends = [number for number in range(ids.shape[1], len(output)) if output[number] in tokenizer.all_special_ids]
        new = output[ids.shape[1] : min(ends, default=None)]
        return continuation(tokenizer, ids[0].tolist(), new).partition("\n")[0]

    return [[answer(prompt) for prompt in prompts] for prompts in dialogues]


def report(name: str, path: str, dialogues: int, batch_size: int, rounds: int, checked: int) -> None:
    """Print how the ways compare on one model; answers are compared with those of the reference for some dialogues."""
    results = {way: in_own_process(MODULE, path, way, dialogues, batch_size, rounds) for way in WAYS}
    reused = results["reused"]
    print(
        f"{name}: {dialogues} dialogues of {TURNS} turns, batches of {batch_size},"
        f" longest prompt {reused['longest']} tokens"
    )
    exact = reference(path, reused["prompts"][:checked])
    for way, result in results.items():
        alike = sum(answers == wanted for answers, wanted in zip(result["answers"], exact, strict=False))
        print(
            f"  {way:8} {result['seconds']:7.2f} s  {result['seconds'] / reused['seconds']:5.2f} x"
            f"  {result['mib']:6.0f} MiB  dialogues answered as each prompt alone {alike}/{len(exact)}",
            flush=True,
        )
    by_size = [in_own_process(MODULE, path, "reused", checked, size, 1)["answers"] for size in BATCH_SIZES]
    print(f"  batches of {BATCH_SIZES}: same answers {all(answers == by_size[0] for answers in by_size)}")


def main() -> None:
    """Both models, or one way for the parent process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=64)
    parser.add_argument("--larger-dialogues", type=int, default=16, help="dialogues of the larger model")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--checked", type=int, default=8, help="dialogues that are compared with the reference")
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        path, way, *numbers = arguments.child
        print(json.dumps(measure(path, way, *map(int, numbers))))
        return
    options = (arguments.batch_size, arguments.rounds, arguments.checked)
    report("demo model", str(DEMO_MODEL), arguments.dialogues, *options)
    with tempfile.TemporaryDirectory() as folder:
        path = str(save_random_llama(Path(folder)))
        report("random Llama, 30 M parameters", path, arguments.larger_dialogues, *options)


if __name__ == "__main__":
    main()
