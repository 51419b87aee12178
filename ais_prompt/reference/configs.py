"""Entries of the dicts of a config, of the errors, and of the environment variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ais_prompt import errors, names
from ais_prompt.config.schema import NEEDED, READER, TABLES, KeyTable
from ais_prompt.reference.docstring import read_docstring
from ais_prompt.reference.entry import REQUIRED, Argument, Entry

RANGES: Final = """\
`train_range` and `test_range` select rows of their split:

    test_range='[:100]'        # the first 100 rows
    test_range='[10:20]'       # rows 10 to 19, from 0
    test_range='[::2]'         # every second row
    test_range='[-5:]'         # the last five
    test_range='[0, 5, 7]'     # these rows
    test_range='[:1] + [2]'    # both, in this order
    test_range='[:100][::2]'   # of the first 100, every second
    test_range=100             # 100 rows at random
    test_range=0.1             # a tenth of the rows, at random

A number is also the seed of the choice, as in OpenCompass and AISBench: the same questions are asked. A text is never
evaluated as Python. `None`, 0, and a number of at least the number of rows select all rows."""
"""What a range can be; `ais_prompt.readers.ranges.select` reads it."""

ENVIRONMENT: Final = (
    ("AISPROMPT_CONFIG_DIR", "folders", "folders with `models`, `datasets` and `summarizers`, as `--config-dir`"),
    ("AISPROMPT_DATA", "folder", "where `aisprompt data get` keeps benchmarks; default `~/.cache/aisprompt/data`"),
    ("AISPROMPT_LANG", "`zh` or `en`", "language of labels: reports, prompt pages, the summary; default: the locale"),
    ("AISPROMPT_PEER_PATH", "folders", "folders with OpenCompass or AISBench, as `--peer-path`"),
    ("OPENAI_API_KEY", "key", "the key of models behind an API whose config names no other variable"),
    ("OPENAI_BASE_URL", "URL", "the address of models behind an API whose config has none"),
    (
        "HF_HUB_OFFLINE",
        "`1`",
        "use nothing of the Hugging Face Hub but what is in its cache: models, tokenizers, datasets",
    ),
    ("HF_DATASETS_OFFLINE", "`1`", "the same for datasets alone"),
    ("HF_HOME", "folder", "where models and datasets of the Hub are kept; fill it on a machine with network"),
    ("HF_ENDPOINT", "URL", "a mirror of the Hub"),
    ("HF_TOKEN", "token", "opens gated models and datasets of the Hub"),
    ("CUDA_VISIBLE_DEVICES", "numbers", "the GPUs that local models and started servers may use"),
    ("HTTPS_PROXY", "URL", "the proxy of requests; also `HTTP_PROXY`, `ALL_PROXY`, and `NO_PROXY` for exceptions"),
    ("SSL_CERT_FILE", "file", "certificates of authorities to trust, for servers inside a company"),
    ("TMPDIR", "folder", "where rows and scores of large datasets are kept during a run"),
    ("TQDM_DISABLE", "`1`", "show no bars"),
    ("NO_COLOR", "`1`", "print without colours"),
    ("COLUMNS", "number", "the width of tables, in place of that of the terminal"),
)
"""Name, value and meaning of each environment variable that matters to users."""

OFFLINE: Final = """\
Without a network: data files and model folders on the disk, the shipped configs and `ScriptedModel` need none. A `path`
that is a folder is never looked up on the Hub. For models and datasets of the Hub, run once with network or copy
`HF_HOME`, and then set `HF_HUB_OFFLINE=1`: what is missing is an error that names it, before anything is asked."""


def config_entries() -> Iterator[Entry]:
    """Yield the entries of the dicts of a config."""
    for table in TABLES:
        yield _config_entry(table)


def _config_entry(table: KeyTable) -> Entry:
    path = table.where.rpartition(".")[2].partition("[")[0]
    keys = (
        Argument(key.name, key.kind, REQUIRED if key.default == NEEDED else key.default, key.meaning)
        for key in table.keys
    )
    return Entry(
        table.title,
        "config",
        "part of a config",
        table.about,
        RANGES if table is READER else "",
        tuple(keys),
        usage=table.where,
        also=tuple(dict.fromkeys(name for name in (path, table.where) if name and name != table.title)),
    )


def error_entries() -> Iterator[Entry]:
    """Yield the entries of the errors, with their exit codes."""
    for name in names.ERRORS:
        kind = getattr(errors, name)
        doc = read_docstring(kind)
        parent = kind.__mro__[1].__name__
        facts = (("exit code", str(kind.exit_code)), *((("is a", f"`{parent}`"),) if parent != "Exception" else ()))
        yield Entry(name, "errors", "error", doc.summary, doc.text, usage=f"except ais_prompt.{name}", facts=facts)


def environment_entry() -> Entry:
    """Return the entry of the environment variables."""
    rows = tuple(Argument(name, kind, "", meaning) for name, kind, meaning in ENVIRONMENT)
    return Entry(
        "environment",
        "environment",
        "environment variables",
        "The environment variables that a run reads.",
        f"{OFFLINE}\n\nA config can name other variables for keys and headers. Their values are never stored.",
        rows,
        also=("offline", "variables", *(name for name, _, _ in ENVIRONMENT)),
    )
