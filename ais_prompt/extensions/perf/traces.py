"""Traces of requests that a service had: when each came, how long it was, and what it had in common with others.

Source of the format: the traces of Mooncake (FAST 2025). A prompt is a row of blocks of 512 tokens, each named by the
hash of all that came before it. Blocks of one name have one text here, so prompts share the beginnings that they shared
in the service.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from ais_prompt.data import Table, read_file, require_data
from ais_prompt.errors import DataError
from ais_prompt.extensions.perf.synthetic import Texts
from ais_prompt.models import load_tokenizer
from ais_prompt.registry import READERS
from ais_prompt.terminal import tracked

logger = logging.getLogger(__name__)
BLOCK: Final = 512
"""Tokens of a block; the last one of a prompt has the rest."""
BLOCKS_KEPT: Final = 8192
"""Texts of blocks that are kept, some 20 MB."""


@READERS.register_module()
class MooncakeTraceDataset:
    """Make the prompts of a trace, for a load (``-m perf``) of a model with ``use_timestamp=True``.

    Each line of the file has ``timestamp`` (milliseconds), ``input_length``, ``output_length`` and ``hash_ids``, or
    ``input_text`` in place of length and blocks. The columns are ``prompt``, ``timestamp``, ``max_out_len`` and
    ``answer``, which is empty; rows are sorted by time.

    Args:
        path: the file.
        tokenizer_path: folder or hub id of the model's tokenizer, for exact lengths; None counts words.
        random_seed: of the texts; None means 0.
        fixed_schedule_auto_offset: let the offsets count from the first request.
        fixed_schedule_start_offset, fixed_schedule_end_offset: the part of the trace in milliseconds; -1 means its end.
    """

    def __init__(
        self,
        path: str,
        tokenizer_path: str | None = None,
        random_seed: int | None = None,
        fixed_schedule_auto_offset: bool = False,
        fixed_schedule_start_offset: int = 0,
        fixed_schedule_end_offset: int = -1,
    ) -> None:
        self._path = path
        self._tokenizer_path = tokenizer_path
        self._seed = random_seed or 0
        self._from_first = fixed_schedule_auto_offset
        self._start = fixed_schedule_start_offset
        self._end = fixed_schedule_end_offset

    def splits(self) -> tuple[str, ...]:
        """Return the only split."""
        return ("test",)

    def read(self, split: str) -> Table:  # noqa: ARG002
        """Make the rows.

        Raises:
            DataError: the file is not there, a line is not of a trace (the error names it), or none is in the part
                that is asked for.
            ModelError: the tokenizer cannot be loaded.
        """
        path = require_data(self._path)
        rows = [(number, row) for number, row in enumerate(read_file(path), start=1)]
        for number, row in rows:
            _check(row, f"{path}:{number}")
        rows.sort(key=lambda numbered: numbered[1]["timestamp"])
        begin = rows[0][1]["timestamp"] if rows and self._from_first else 0
        kept = [row for _, row in rows if self._is_inside(row["timestamp"] - begin)]
        if not kept:
            what = f"none of the {len(rows)} requests comes in the time that is asked for"
            fix = "set fixed_schedule_start_offset and fixed_schedule_end_offset to other milliseconds"
            raise DataError(what, where=str(path), fix=fix)
        return Table.of_rows(self._made(kept), [str(path)])

    def _is_inside(self, time: float) -> bool:
        return time >= self._start and (self._end < 0 or time <= self._end)

    def _made(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        path = self._tokenizer_path
        tokenizer = None if path is None else load_tokenizer(path, {}, {}, trust_remote_code=False)

        @lru_cache(BLOCKS_KEPT)
        def block(name: int | str) -> str:
            seed = hashlib.sha256(f"{self._seed}:{name}".encode()).digest()
            draws = np.random.default_rng(int.from_bytes(seed[:8], "little"))
            return Texts(draws, tokenizer, 0).make(BLOCK)[0]

        texts, inexact = Texts(np.random.default_rng(self._seed), tokenizer, 0), 0
        for row in tracked(rows, "making prompts", unit="prompts"):
            prompt, is_exact = row.get("input_text"), True
            if prompt is None:
                prompt, is_exact = texts.fit(" ".join(map(block, row["hash_ids"])), row["input_length"])
            inexact += not is_exact
            length = row.get("output_length") or 1
            yield {"prompt": prompt, "timestamp": row["timestamp"], "max_out_len": length, "answer": ""}
        if inexact:
            logger.warning("%d of %d prompts do not have exactly the tokens of the trace", inexact, len(rows))


def _check(row: Mapping[str, Any], where: str) -> None:
    """Refuse a row that is not of a trace.

    Raises:
        DataError: it has no time, no text and no length, another number of blocks than its length has, or a value that
            cannot be.
    """
    time, length, names = row.get("timestamp"), row.get("input_length"), row.get("hash_ids")
    if not isinstance(time, int | float) or isinstance(time, bool):
        raise DataError("a row of a trace needs timestamp", where=where, fix="add it, in milliseconds")
    if not 0 <= time < math.inf:
        raise DataError(f"a request cannot come after {time} ms", where=where, fix="count from the first request on")
    asked = row.get("output_length")
    if asked is not None and (type(asked) is not int or asked < 0):
        what = f"output_length cannot be {asked!r}"
        raise DataError(what, where=where, fix="write the number of tokens, or leave it out")
    if isinstance(row.get("input_text"), str):
        return
    if type(length) is not int or not isinstance(names, list):
        what = "a row of a trace needs input_length and hash_ids, or input_text"
        raise DataError(what, where=where, fix="add them")
    if length < 1 or not all(isinstance(name, int | str) for name in names):
        what = f"a prompt cannot have {length} tokens" if length < 1 else "a hash id is neither a number nor a text"
        raise DataError(what, where=where, fix="see that the line is of a trace of Mooncake")
    if -(-length // BLOCK) != len(names):
        what = f"{length} tokens are {-(-length // BLOCK)} blocks of {BLOCK}, and the row has {len(names)} hash_ids"
        raise DataError(what, where=where, fix="see that the trace has blocks of this size")
