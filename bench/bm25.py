"""How long BM25 takes to rank train rows, and how much memory, beside the package rank_bm25.

    python -m bench.bm25                   # 10,000 train rows, 1,000 questions
    python PATH/tools/bench/bm25.py              # the same in a worktree of another commit

The words are drawn from a Zipf distribution, 60 a row and 20 a question. Measured is processor time, which other work
on the machine does not change, and in a second pass the memory that Python and numpy allocate. rank_bm25 is left out
where it is not installed, and asked fewer questions (``--peer-questions``), because it is slow.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

Words = list[list[str]]
VOCABULARY = 50_000


class Measured(NamedTuple):
    """Seconds of processor time to build the index and to rank for one question; peak and kept memory in MiB."""

    index_seconds: float
    question_seconds: float
    peak_mib: float
    kept_mib: float


def texts(number: int, words: int, seed: int) -> Words:
    """Random texts with the word frequencies of a natural language."""
    ranks = np.random.default_rng(seed).zipf(1.1, (number, words)) % VOCABULARY
    return [[f"w{rank}" for rank in row] for row in ranks]


def measure(make_index: Callable[[Words], Callable[[list[str]], Any]], rows: int, questions: int) -> Measured:
    """Index ``rows`` texts and rank them for each question, as `BM25Retriever` does."""
    train, test = texts(rows, 60, seed=1), texts(questions, 20, seed=2)
    begin = time.process_time()
    scores = make_index(train)
    built = time.process_time()
    for question in test:
        np.argsort(scores(question), kind="stable")
    end = time.process_time()
    tracemalloc.start()
    scores = make_index(train)
    scores(test[0])
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return Measured(built - begin, (end - built) / questions, peak / 2**20, kept / 2**20)


def ours(train: Words) -> Callable[[list[str]], Any]:
    """The scores of this package."""
    from ais_prompt.retrievers.bm25 import Bm25Index

    return Bm25Index(train).scores


def peer(train: Words) -> Callable[[list[str]], Any]:
    """The scores of rank_bm25."""
    import rank_bm25

    scores: Callable[[list[str]], Any] = rank_bm25.BM25Okapi(train).get_scores
    return scores


def main() -> None:
    """Print a line for each side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument("--peer-questions", type=int, default=100)
    args = parser.parse_args()
    sides = {"ais_prompt": (ours, args.questions)}
    if find_spec("rank_bm25"):
        sides["rank_bm25"] = (peer, args.peer_questions)
    print(f"{f'{args.rows:,} rows':14}{'index':>10}{'a question':>14}{'peak':>12}{'kept':>12}")
    for name, (make_index, questions) in sides.items():
        found = measure(make_index, args.rows, questions)
        index, question = f"{found.index_seconds:.2f} s", f"{1000 * found.question_seconds:.2f} ms"
        print(f"{name:14}{index:>10}{question:>14}{found.peak_mib:>8.0f} MiB{found.kept_mib:>8.0f} MiB")


if __name__ == "__main__":
    main()
