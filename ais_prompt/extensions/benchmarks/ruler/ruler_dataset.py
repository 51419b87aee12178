"""The reader of prompts that are made to a length: RULER's tasks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import Final, Literal, Protocol, TypeAlias

from ais_prompt.data import Row, Table
from ais_prompt.errors import ConfigError
from ais_prompt.extensions.benchmarks.ruler.fit import (
    Draft,
    EstimatedTokens,
    Padding,
    TokenCounter,
    TokenizerTokens,
    fit,
)
from ais_prompt.extensions.benchmarks.ruler.grammar import Dice, Language
from ais_prompt.extensions.benchmarks.ruler.tasks import (
    NEEDLES,
    CommonWordsTask,
    DocumentTask,
    FrequentWordsTask,
    NeedleTask,
    VariableTask,
)
from ais_prompt.registry import READERS
from ais_prompt.terminal import tracked

Task: TypeAlias = Literal[
    "niah_single_1",
    "niah_single_2",
    "niah_single_3",
    "niah_multikey_1",
    "niah_multikey_2",
    "niah_multikey_3",
    "niah_multivalue",
    "niah_multiquery",
    "vt",
    "cwe",
    "fwe",
    "qa_1",
    "qa_2",
]
STEPS: Final = {"qa_1": 1, "qa_2": 2}
"""Task with documents → number of documents that its answer needs."""
DEPTHS: Final = tuple(range(0, 101, 10))
MOST_THREADS: Final = 8
TOKENS_AT_ONCE: Final = 2**20
"""Tokens that all threads count together: a tokenizer needs about 700 bytes for each while it counts."""
_SPLIT: Final = "test"


class Maker(Protocol):
    """Make the prompts of a task."""

    def draft(self, depth: int, dice: Dice) -> Draft:
        """Return a prompt whose length is still open.

        Args:
            depth: where the answer is, in percent, if the task has it in one place.
            dice: decides the prompt.
        """


@READERS.register_module()
class RulerDataset:
    """Make the prompts of a task of RULER, each so long that prompt and answer together have exactly ``length`` tokens.

    The tasks, their parameters and metrics are those of RULER (Hsieh et al. 2024, arXiv:2404.06654,
    ``scripts/synthetic.yaml``). All texts are our own, from a grammar: sentences in place of essays, made-up documents
    in place of SQuAD and HotpotQA. So scores compare with each other and not with published ones.

    The columns are ``prompt``, ``answers``, ``task``, ``length``, ``depth`` (in percent; None where the answer is in no
    single place), ``language``, ``tokens`` (of the prompt) and ``tokens_by`` (the tokenizer, or ``estimate``). The same
    arguments make the same rows on every machine.

    Args:
        task: its name.
        length: tokens of prompt and answer together.
        num_samples: number of prompts.
        seed: decides all texts.
        tokenizer: folder or hub id of the tokenizer that counts, usually that of the model; None estimates a token for
            four bytes of UTF-8.
        chat_template: whether the tokens of its chat template count too; None: if the tokenizer has one.
        max_out_len: tokens kept free for the answer.
        language: of the text, ``en`` or ``zh``; ``zh`` for needles only.
        depths: where needles and documents are, in percent; the prompts take one after the other.

    Raises:
        ConfigError: there is no such task, it is not in that language, or a number is too small.
    """

    def __init__(
        self,
        task: Task,
        length: int,
        num_samples: int = 100,
        seed: int = 0,
        tokenizer: str | None = None,
        chat_template: bool | None = None,
        max_out_len: int = 128,
        language: Language = "en",
        depths: Sequence[int] = DEPTHS,
    ) -> None:
        if language == "zh" and task not in NEEDLES:
            raise ConfigError(f"{task} is in English only", where="language", fix="use language='en', or a niah_ task")
        if num_samples < 1 or length <= max_out_len:
            where = "num_samples" if num_samples < 1 else "length"
            raise ConfigError(
                "num_samples is at least 1, and length more than max_out_len", where=where, fix=f"increase {where}"
            )
        if not depths or not all(0 <= depth <= 100 for depth in depths):
            raise ConfigError(f"depths cannot be {list(depths)}", where="depths", fix="write numbers from 0 to 100")
        self._task, self._length, self._num_samples, self._seed = task, length, num_samples, seed
        self._tokenizer, self._chat_template = tokenizer, chat_template
        self._tokens = length - max_out_len
        self._language, self._depths = language, depths

    def splits(self) -> tuple[str, ...]:
        """Return the only split."""
        return (_SPLIT,)

    def read(self, split: str) -> Table:  # noqa: ARG002  # there is only one
        """Make all prompts. Only a few are in memory at a time.

        Raises:
            ConfigError: the tokenizer cannot be loaded.
            DataError: the length has no room for the task.
            PromptError: the tokenizer's chat template refuses a prompt.
        """
        what = f"making {self._task} of {self._length:,} tokens"
        return Table.of_rows(tracked(self._rows(), what, self._num_samples, unit="prompts"))

    def _rows(self) -> Iterator[Row]:
        first = self._maker.draft(self._depths[0], Dice(self._seed))  # makes what all rows share
        padding = Padding(self._counter, first.joint, self._language)
        at_once = max(1, min(MOST_THREADS, os.cpu_count() or 1, TOKENS_AT_ONCE // self._length))
        with ThreadPoolExecutor(at_once) as threads:  # tokenizers count without Python's lock
            for start in range(0, self._num_samples, at_once):
                numbers = range(start, min(start + at_once, self._num_samples))
                yield from threads.map(partial(self._row, padding), numbers)

    def _row(self, padding: Padding, number: int) -> Row:
        dice = Dice(self._seed, self._task, self._language, number)
        draft = self._maker.draft(self._depths[number % len(self._depths)], dice)
        prompt, tokens = fit(draft, self._tokens, self._counter, padding, dice)
        return {
            "prompt": prompt,
            "answers": list(draft.answers),
            "task": self._task,
            "length": self._length,
            "depth": draft.depth,
            "language": self._language,
            "tokens": tokens,
            "tokens_by": "tokenizer" if self._tokenizer else "estimate",
        }

    @cached_property
    def _counter(self) -> TokenCounter:
        return TokenizerTokens(self._tokenizer, self._chat_template) if self._tokenizer else EstimatedTokens()

    @cached_property
    def _maker(self) -> Maker:
        length, seed, counter = self._length, self._seed, self._counter
        if self._task in NEEDLES:
            return NeedleTask(NEEDLES[self._task], length, seed, counter, self._language)
        if self._task in STEPS:
            return DocumentTask(STEPS[self._task], length, seed, counter)
        if self._task == "vt":
            return VariableTask(length, counter)
        return (CommonWordsTask if self._task == "cwe" else FrequentWordsTask)(length, seed, counter)
