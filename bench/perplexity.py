"""How fast labels are scored when prompts with a common beginning compute it once, and whether the values are right.

    python -m bench.perplexity            # demo model and a random Llama of 30 M parameters; minutes on a CPU

Sums with four labels and five shots. Each way runs in a process of its own, so that its peak memory can be measured:

    shared    as `HuggingFaceBaseModel.score` does it
    plain     every label prompt on its own, in padded batches of the same size
    sample    what the labels of one sample have in common is computed once, sample by sample

The reference is a forward pass for each prompt of the first samples alone, in float64.
Processor time, best of several rounds.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from time import process_time
from typing import Any, Final

from ais_prompt.engine import WINDOW
from ais_prompt.models import HuggingFaceBaseModel
from ais_prompt.types import LikelihoodQuery, Request
from ais_prompt.utils import decode
from bench.local_models import (
    DATA,
    DEMO_MODEL,
    forget_peak,
    held_mib,
    in_own_process,
    peak_mib,
    save_random_llama,
)

MODULE: Final = "bench.perplexity"
LABELS: Final = ("A", "B", "C", "D")
WAYS: Final = ("shared", "plain", "sample")
BATCH_SIZES: Final = (1, 7, 32)


def requests(samples: int, shots: int = 5) -> list[Request]:
    """Four label prompts for each sample, in order."""
    train, test = (
        [decode(line) for line in (DATA / "demo" / "choice" / f"{split}.jsonl").read_text("utf-8").splitlines()]
        for split in ("train", "test")
    )
    context = "".join(_text(row, row["answer"]) + "\n" for row in train[:shots])
    return [
        Request(str(number), context + _text(row, label), LikelihoodQuery())
        for number, row in enumerate(test[:samples])
        for label in LABELS
    ]


def _text(row: dict[str, str], label: str) -> str:
    return f"Question: {row['question']}\nAnswer: {row[label]}"


def measure(path: str, way: str, samples: int, batch_size: int, rounds: int) -> dict[str, Any]:
    """One way in this process: processor seconds of the best round, MiB over the loaded model, and the values."""
    cache_tokens = 0 if way == "plain" else 8192
    model = HuggingFaceBaseModel(path, batch_size=batch_size, prefix_cache_tokens=cache_tokens)
    asked = requests(samples)
    model.load()
    list(model.log_likelihoods(asked[: len(LABELS)]))
    forget_peak()
    loaded = held_mib()
    # What the driver asks for at once; or the labels of one sample.
    size = len(LABELS) if way == "sample" else batch_size * WINDOW
    seconds, values = [], []
    for _ in range(rounds):
        started = process_time()
        parts = [asked[start : start + size] for start in range(0, len(asked), size)]
        completions = [one for part in parts for _, one in sorted(model.log_likelihoods(part), key=itemgetter(0))]
        seconds.append(process_time() - started)
        values = [one.likelihood.nll / one.likelihood.tokens for one in completions if one.likelihood]
    return {"seconds": min(seconds), "mib": peak_mib() - loaded, "values": values}


def reference(path: str, samples: int) -> list[float]:
    """Mean negative log-likelihood of each prompt alone, in float64."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    network = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float64).eval()
    tokenizer = AutoTokenizer.from_pretrained(path)
    values = []
    with torch.inference_mode():
        for request in requests(samples):
            ids = torch.tensor([tokenizer(request.prompt)["input_ids"]])
            log_probs = network(ids).logits[0, :-1].log_softmax(-1)
            values.append(-log_probs.gather(-1, ids[0, 1:, None]).mean().item())
    return values


def choices(values: Sequence[float]) -> list[int]:
    """The label that each sample is given."""
    groups = [values[start : start + len(LABELS)] for start in range(0, len(values), len(LABELS))]
    return [group.index(min(group)) for group in groups]


def worst(values: Sequence[float], others: Sequence[float]) -> float:
    """The largest relative difference."""
    return max(abs(one - other) / abs(other) for one, other in zip(values, others, strict=True))


def report(name: str, path: str, samples: int, batch_size: int, rounds: int, checked: int) -> None:
    """Print how the ways compare on one model; values are compared for the first ``checked`` samples."""
    print(f"{name}: {samples} samples, {len(LABELS)} labels, 5 shots, batches of {batch_size}", flush=True)
    checked = min(samples, checked)
    exact = reference(path, checked)
    results = {way: in_own_process(MODULE, path, way, samples, batch_size, rounds) for way in WAYS}
    for way, result in results.items():
        values = result["values"][: len(exact)]
        alike = sum(a == b for a, b in zip(choices(values), choices(exact), strict=True))
        print(
            f"  {way:8} {result['seconds']:7.2f} s  {result['seconds'] / results['shared']['seconds']:5.1f} x"
            f"  {result['mib']:6.0f} MiB  same choices {alike}/{checked}"
            f"  largest relative difference to float64 {worst(values, exact):.1e}",
            flush=True,
        )
    by_size = [in_own_process(MODULE, path, "shared", checked, size, 1)["values"] for size in BATCH_SIZES]
    print(
        f"  batches of {BATCH_SIZES}: same choices {all(choices(v) == choices(by_size[0]) for v in by_size)},"
        f" largest relative difference {max(worst(values, by_size[0]) for values in by_size):.1e}"
    )


def main() -> None:
    """Both models, or one way for the parent process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--checked", type=int, default=40, help="samples of the larger model that are compared")
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        path, way, *numbers = arguments.child
        print(json.dumps(measure(path, way, *map(int, numbers))))
        return
    options = (arguments.samples, arguments.batch_size, arguments.rounds)
    report("demo model", str(DEMO_MODEL), *options, checked=arguments.samples)
    with tempfile.TemporaryDirectory() as folder:
        path = str(save_random_llama(Path(folder)))
        report("random Llama, 30 M parameters", path, *options, checked=arguments.checked)


if __name__ == "__main__":
    main()
