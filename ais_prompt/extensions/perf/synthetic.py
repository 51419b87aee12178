"""Prompts of chosen lengths, for loads: what a server computes depends on the lengths, not on the meaning.

Texts are words in random order, so that no prompt begins like another one. With a tokenizer each has exactly as many
tokens as it should: decoded tokens may join to other ones, so a text is cut and encoded again until its length is
right. Without one, a word counts as a token, which most are.

Lengths are chosen, or those of a trace that a service recorded: when each request came, how long it was, and what it
had in common with others. Source of the format: the traces of Mooncake (FAST 2025). A prompt is a row of blocks of 512
tokens, each named by the hash of all that came before it. Blocks of one name have one text here, so prompts share the
beginnings that they shared in the service.
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
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.models import load_tokenizer
from ais_prompt.registry import READERS
from ais_prompt.terminal import tracked
from ais_prompt.utils import listed

logger = logging.getLogger(__name__)
MOST: Final = 2**20
"""Most requests, and most tokens of a prompt or an answer."""
ROUNDS: Final = 5
"""How often a text is cut and encoded again to have the right length."""
METHODS: Final = {
    "uniform": ("MinValue", "MaxValue"),
    "gaussian": ("Mean", "Var", "MinValue", "MaxValue"),
    "zipf": ("Alpha", "MinValue", "MaxValue"),
}
"""Distribution of lengths → its parameters, as AISBench has them."""
_TEXT: Final = (
    "the of and to in is it you that he was for on are with as his they be at one have this from or had by hot but "
    "some what there we can out other were all your when up use word how said an each she which do their time if will "
    "way about many then them would write like so these her long make thing see him two has look more day could go "
    "come did my sound no most number who over know water than call first people may down side been now find any new "
    "work part take get place made live where after back little only round man year came show every good me give our "
    "under name very through just form much great think say help low line before turn cause same mean differ move right"
)
WORDS: Final = tuple(_TEXT.split())
"""Short words, most of which are one token."""


@READERS.register_module()
class SyntheticDataset:
    """Make prompts and lengths of answers for a load (``-m perf``), the same for the same seed.

    The columns are ``question``, ``max_out_len`` (which the load asks for) and ``answer``.

    Args:
        requests: how many prompts.
        input_tokens: tokens of each prompt, without its chat template; two numbers are the ends of a uniform
            distribution.
        output_tokens: tokens of each answer at most, in the same forms. Servers such as vLLM generate all of them with
            ``generation_kwargs=dict(ignore_eos=True)``.
        tokenizer_path: folder or hub id of the model's tokenizer, for exact lengths; None counts words.
        seed: of lengths and words.
        config: the same as AISBench writes it: ``Type``, ``RequestCount``, ``StringConfig`` or ``TokenIdConfig``. Its
            type ``string`` repeats the letter A, and ``Text='words'`` beside it takes words.

    Raises:
        ConfigError: a number is out of range, or a key of ``config`` is missing or unknown.
    """

    def __init__(
        self,
        requests: int = 100,
        input_tokens: int | Sequence[int] = 1024,
        output_tokens: int | Sequence[int] = 128,
        tokenizer_path: str | None = None,
        seed: int = 0,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        self._tokenizer_path = tokenizer_path
        self._seed = seed
        self._prefix = 0
        self._letters = False
        lengths = [_uniform("input_tokens", input_tokens), _uniform("output_tokens", output_tokens)]
        if config is not None:
            requests, lengths = self._read(config)
        _check("requests", requests)
        self._requests = requests
        self._lengths = lengths

    def splits(self) -> tuple[str, ...]:
        """Return the only split."""
        return ("test",)

    def read(self, split: str) -> Table:  # noqa: ARG002
        """Make the rows.

        Raises:
            ModelError: the tokenizer cannot be loaded.
        """
        return Table.of_rows(self._rows())

    def _read(self, config: Mapping[str, Any]) -> tuple[int, list[Mapping[str, Any]]]:
        """Read a config of AISBench, and return the number of requests and the distributions of lengths."""
        kind = str(_key(config, "Type")).lower()
        requests = _key(config, "RequestCount")
        if kind == "string":
            section = _key(config, "StringConfig")
            self._letters = config.get("Text") != "words"
            return requests, [_distribution(_key(section, side), side) for side in ("Input", "Output")]
        if kind != "tokenid":
            raise ConfigError(
                f"Type cannot be {config['Type']!r}", where="config.Type", fix="write 'string' or 'tokenid'"
            )
        section = _key(config, "TokenIdConfig")
        size, self._prefix = _key(section, "RequestSize"), section.get("PrefixLen", 0)
        if self._tokenizer_path is None:
            what = "Type='tokenid' makes prompts of tokens, and there is no tokenizer"
            raise ConfigError(what, where="config.Type", fix="add tokenizer_path=… to the dataset")
        _check("RequestSize", size)
        if not isinstance(self._prefix, int) or not 0 <= self._prefix <= size:
            what = f"PrefixLen must be from 0 to RequestSize, not {self._prefix!r}"
            raise ConfigError(what, where="config.TokenIdConfig", fix="set another PrefixLen")
        return requests, [_uniform("RequestSize", size)]

    def _rows(self) -> Iterator[dict[str, Any]]:
        draws = np.random.default_rng(self._seed)
        path = self._tokenizer_path
        tokenizer = None if path is None else load_tokenizer(path, {}, {}, trust_remote_code=False)
        texts = Texts(draws, tokenizer, self._prefix)
        inexact = 0
        for _ in tracked(range(self._requests), "making prompts", unit="prompts"):
            wanted, *answer = (_draw(draws, lengths) for lengths in self._lengths)
            text, is_exact = (" ".join("A" * wanted), True) if self._letters else texts.make(wanted)
            inexact += not is_exact
            yield {"question": text, **({"max_out_len": answer[0]} if answer else {}), "answer": "aaa"}
        if inexact:
            logger.warning("%d of %d prompts do not have exactly the tokens asked for", inexact, self._requests)


class Texts:
    """Makes texts of so many tokens; ``prefix`` of them are those of every text."""

    def __init__(self, draws: np.random.Generator, tokenizer: Any, prefix: int) -> None:
        self._draws = draws
        self._tokenizer = tokenizer
        self._prefix = ""
        self._prefix, _ = self.make(prefix)

    def make(self, tokens: int) -> tuple[str, bool]:
        """Return a text, and whether it has so many tokens; without a tokenizer words are counted."""
        known = self._prefix.split()
        return self.fit(" ".join([*known, *self._words(max(tokens - len(known), 0))]), tokens)

    def fit(self, text: str, tokens: int) -> tuple[str, bool]:
        """Return a text with so many tokens that begins like this one, and whether it has them."""
        if self._tokenizer is None:
            return " ".join(text.split()[:tokens]), True
        for _ in range(ROUNDS):
            ids = self._encoded(text)
            if len(ids) == tokens:
                return text, True
            if len(ids) < tokens:
                text = " ".join([text, *self._words(tokens - len(ids))])
            else:
                text = self._tokenizer.decode(ids[:tokens], skip_special_tokens=True)
        return text, len(self._encoded(text)) == tokens

    def _encoded(self, text: str) -> Sequence[int]:
        ids: Sequence[int] = self._tokenizer.encode(text, add_special_tokens=False)
        return ids

    def _words(self, number: int) -> list[str]:
        return [WORDS[place] for place in self._draws.integers(len(WORDS), size=number)]


def _uniform(name: str, value: int | Sequence[int]) -> Mapping[str, Any]:
    """Return the distribution of a length, or of one between two."""
    ends = [value, value] if isinstance(value, int) else list(value)
    if len(ends) != 2:
        raise ConfigError(f"{name} takes one number or two, not {value!r}", where=name, fix=f"write {name}=(128, 1024)")
    return _distribution({"Method": "uniform", "Params": {"MinValue": ends[0], "MaxValue": ends[1]}}, name)


def _distribution(values: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Check a distribution, and return it in one dict.

    Raises:
        ConfigError: it is none, or its numbers make no sense.
    """
    method, given = _key(values, "Method"), _key(values, "Params")
    if method not in METHODS:
        raise ConfigError(f"Method cannot be {method!r}", where=where, fix=f"methods are {listed(METHODS)}")
    if set(given) != set(METHODS[method]):
        what = f"{method} takes {listed(METHODS[method])}, not {listed(given)}"
        raise ConfigError(what, where=where, fix="give exactly these")
    for name in ("MinValue", "MaxValue"):
        _check(where if where.islower() else f"{where}.{name}", given[name])
    if given["MinValue"] > given["MaxValue"]:
        what = f"the least length {given['MinValue']} is more than the longest one, {given['MaxValue']}"
        raise ConfigError(what, where=where, fix="exchange them")
    if given.get("Var", 0) < 0 or not 1 < given.get("Alpha", 2) <= 10:
        raise ConfigError(
            "Var must be at least 0, and Alpha above 1 and at most 10", where=where, fix="set another one"
        )
    return {"Method": method, **given}


def _draw(draws: np.random.Generator, lengths: Mapping[str, Any]) -> int:
    """Draw a length."""
    least, most = lengths["MinValue"], lengths["MaxValue"]
    if lengths["Method"] == "uniform":
        return int(draws.integers(least, most, endpoint=True))
    value = (
        draws.normal(lengths["Mean"], math.sqrt(lengths["Var"]))
        if lengths["Method"] == "gaussian"
        else draws.zipf(lengths["Alpha"])
    )
    return int(min(max(value, least), most))


def _key(values: Any, name: str) -> Any:
    if not isinstance(values, Mapping) or name not in values:
        raise ConfigError(f"config needs {name}", where="config", fix=f"add {name}")
    return values[name]


def _check(name: str, number: Any) -> None:
    if type(number) is not int or not 1 <= number <= MOST:
        raise ConfigError(f"{name} must be from 1 to {MOST:,}, not {number!r}", where=name, fix="set another number")


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
            _check_row(row, f"{path}:{number}")
        rows.sort(key=lambda numbered: numbered[1]["timestamp"])
        begin = rows[0][1]["timestamp"] if rows and self._from_first else 0
        end = math.inf if self._end < 0 else self._end
        kept = [row for _, row in rows if self._start <= row["timestamp"] - begin <= end]
        if not kept:
            what = f"none of the {len(rows)} requests comes in the time that is asked for"
            fix = "set fixed_schedule_start_offset and fixed_schedule_end_offset to other milliseconds"
            raise DataError(what, where=str(path), fix=fix)
        return Table.of_rows(self._made(kept), [str(path)])

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


def _check_row(row: Mapping[str, Any], where: str) -> None:
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
