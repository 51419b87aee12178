"""Entries of everything that Python code defines.

These are the parts that a config names, the values of their options, the public Python names, the dicts of a config,
the errors and the environment variables.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

import ais_prompt
from ais_prompt import errors, names, registry
from ais_prompt.catalog import PARTS, PROVIDERS
from ais_prompt.config import READER, KeyTable, all_tables, keys_of
from ais_prompt.data import SHAPES, RowShape
from ais_prompt.extensions.describe.docstring import default_text, field_defaults, hints_of, read_docstring
from ais_prompt.models import (
    FLAT_NAMES,
    Batching,
    Limits,
    Loading,
    LocalNames,
    Retry,
    Sampling,
    SamplingNames,
    ServedNames,
    ServerOptions,
    Wire,
)
from ais_prompt.parts import type_words
from ais_prompt.plan import KINDS
from ais_prompt.steps import extensions, load_plugins
from ais_prompt.types import REQUIRED, Argument, Entry

OPTIONS: Final[dict[str, type[Struct]]] = {
    "sampling": Sampling,
    "limits": Limits,
    "retry": Retry,
    "wire": Wire,
    "loading": Loading,
    "batching": Batching,
    "server": ServerOptions,
}
"""Argument of models → the value that holds its options."""

SINGULAR: Final = {"templates": "prompt template"}
"""Kind of part → its name in the singular, where that is not the kind without its last letter."""
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
"""What a range can be; `ais_prompt.data.reader.select` reads it."""
ENVIRONMENT: Final = (
    ("AISPROMPT_CONFIG_DIR", "folders", "folders with `models`, `datasets` and `summarizers`, as `--config-dir`"),
    ("AISPROMPT_DATA", "folder", "where the data of benchmarks are kept; default `~/.cache/aisprompt/data`"),
    (
        "AISPROMPT_LANG",
        "`zh` or `en`",
        "language of labels: reports, prompt pages, tables and hints of a terminal; default: the locale",
    ),
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
    ("ASCEND_RT_VISIBLE_DEVICES", "numbers", "the same for NPUs of Ascend"),
    ("HTTPS_PROXY", "URL", "the proxy of requests; also `HTTP_PROXY`, `ALL_PROXY`, and `NO_PROXY` for exceptions"),
    ("SSL_CERT_FILE", "file", "certificates of authorities to trust, for servers inside a company"),
    ("TMPDIR", "folder", "where rows and scores of large datasets are kept during a run"),
    ("TQDM_DISABLE", "`1`", "show no bars"),
    ("NO_COLOR", "`1`", "print without colours"),
    ("COLUMNS", "number", "the width of tables, in place of that of the terminal"),
)
"""Name, value and meaning of each environment variable that matters to users; extensions have more."""
OFFLINE: Final = """\
Without a network: data files and model folders on the disk, the shipped configs and `ScriptedModel` need none. A `path`
that is a folder is never looked up on the Hub. For models and datasets of the Hub, run once with network or copy
`HF_HOME`, and then set `HF_HUB_OFFLINE=1`: what is missing is an error that names it, before anything is asked."""


def part_entries() -> Iterator[Entry]:
    """Yield the entries of all shipped parts; names of the same part share one.

    Raises:
        MissingExtra: a part cannot be imported.
    """
    for kind, parts in PARTS.items():
        named: dict[int, list[str]] = {}
        for name in sorted(parts, key=lambda name: (not name.isidentifier(), name)):
            named.setdefault(id(getattr(registry, kind.upper()).get(name)), []).append(name)
        for name, *others in named.values():
            yield _part_entry(kind, name, others)


def plugin_entries() -> Iterator[Entry]:
    """Yield the entries of the parts of installed packages."""
    load_plugins()
    for kind in PARTS:
        parts: registry.PartRegistry = getattr(registry, kind.upper())
        for name in parts.names():
            if name not in parts.shipped:
                yield _part_entry(kind, name, ())


def _part_entry(kind: str, name: str, others: Sequence[str]) -> Entry:
    part = getattr(registry, kind.upper()).get(name)
    doc = read_docstring(part)
    skipped = 1 if kind in ("postprocessors", "transports") else 0  # the text; the server
    importable = name.isidentifier() and name in ais_prompt.__all__
    return Entry(
        name,
        kind,
        SINGULAR.get(kind, kind.removesuffix("s")),
        doc.summary,
        doc.text,
        tuple(_arguments(part, doc.items, skipped)),
        usage=f"type={name!r}" + (f", or from ais_prompt import {name}" if importable else ""),
        also=tuple(others),
        facts=((("also called", ", ".join(f"`{one}`" for one in others)),) if others else ()) + _raises(doc.raises),
    )


def option_entries() -> Iterator[Entry]:
    """Yield the entries of the values of options."""
    for argument, kind in OPTIONS.items():
        doc = read_docstring(kind)
        yield Entry(
            kind.__name__,
            "models",
            "value of options",
            doc.summary,
            doc.text,
            tuple(_fields(kind)),
            usage=f"{argument}=dict(...)",
            also=(argument,),
            facts=_raises(doc.raises),
        )


def provider_entry() -> Entry:
    """Return the entry of the providers of models."""
    rows = (
        Argument(name, "address", "", f"{one.base_url}, key in `{one.key}` ([source]({one.source}))")
        for name, one in PROVIDERS.items()
    )
    text = "The address and the environment variable of the key are the defaults of `base_url` and `api_key`."
    return Entry(
        "provider",
        "models",
        "argument of models",
        "Providers of models behind an OpenAI-compatible API.",
        text,
        tuple(rows),
        usage="provider='deepseek', or --url deepseek",
        also=("providers",),
    )


def data_entries() -> Iterator[Entry]:
    """Yield the entries of what is recognised in a file of ``--data``: the shapes of its rows, and its golds."""
    doc = read_docstring(RowShape)
    yield Entry(
        "shape",
        "readers",
        "argument of LocalDataset",
        doc.summary,
        doc.text,
        tuple(_fields(RowShape)),
        usage="shape=dict(options='choices', answer='answer', gold='from 0')",
        also=("RowShape",),
    )
    shapes = (
        Argument(
            shape.name,
            shape.part,
            "",
            f"{shape.about}: `{json.dumps(shape.example, ensure_ascii=False)}`. Source: {shape.source}",
        )
        for shape in SHAPES
    )
    yield Entry(
        "shapes",
        "readers",
        "rows of --data",
        "Forms of rows that are recognised in a file without a config.",
        "Of each part the first form that fits counts. What `--prompt` and `--answer` name counts before it.",
        tuple(shapes),
        usage="--data questions.jsonl",
        also=("data shapes",),
    )
    golds = (
        Argument(
            kind.name, "kind", "", f"{kind.about}, such as {', '.join(f'`{_shown(one)}`' for one in kind.examples)}"
        )
        for kind in KINDS
    )
    yield Entry(
        "golds",
        "readers",
        "answers of --data",
        "Kinds of gold answers that are recognised in a file without a config.",
        "The first kind counts whose scorer gives full marks to the golds of the file, alone and in a sentence, and "
        "none to that of another row; `exact` is never guessed. `--postprocessor` and `--evaluator` count before it.",
        tuple(golds),
        usage="aisprompt init --kind label",
        also=("gold kinds",),
    )


def _shown(gold: Any) -> str:
    return gold.replace("\n", " ") if isinstance(gold, str) else json.dumps(gold, ensure_ascii=False)


def name_entries() -> Iterator[Entry]:
    """Yield the entries of the functions, results, protocols, values and registries that Python imports."""
    groups: dict[str, Mapping[str, str]] = {
        "function": names.API,
        "result": names.RESULTS,
        "protocol": names.PROTOCOLS,
        "value": names.VALUES,
    }
    for kind, group in groups.items():
        for name in group:
            if name not in {one.__name__ for one in OPTIONS.values()}:
                yield _name_entry(name, kind)
    for name, package in names.HELPERS.items():
        yield _name_entry(name, "helper", package)


def _name_entry(name: str, kind: str, package: str = "ais_prompt") -> Entry:
    part = getattr(importlib.import_module(package), name)
    if not callable(part):
        return Entry(name, "python", "constant", f"`{part!r}`", usage=f"from {package} import {name}")
    doc = read_docstring(part)
    if inspect.isclass(part) and (issubclass(part, Struct) or typing.is_typeddict(part)):
        arguments = tuple(_fields(part))
    elif kind == "protocol":
        arguments = tuple(_attributes(part, doc.items))
    else:
        arguments = tuple(_arguments(part, doc.items))
    returned = (("returns", doc.returns),) if doc.returns else ()
    methods = tuple(_methods(part)) if inspect.isclass(part) and not typing.is_typeddict(part) else ()
    return Entry(
        name,
        "python",
        kind,
        doc.summary,
        doc.text,
        arguments,
        usage=f"from {package} import {name}",
        facts=(*methods, *returned, *_raises(doc.raises)),
    )


def _attributes(protocol: type, meanings: Mapping[str, str]) -> Iterator[Argument]:
    """Yield the attributes that a protocol asks for."""
    hints = typing.get_type_hints(protocol)
    for name, meaning in meanings.items():
        member = getattr(protocol, name, None)
        hint = hints_of(member.fget)["return"] if isinstance(member, property) else hints[name]
        yield Argument(name, type_words(hint), "", meaning)


def _methods(part: type) -> Iterator[tuple[str, str]]:
    """Yield ``name(arguments)`` and the first sentence of each public method that the class defines or inherits."""
    for name, method in inspect.getmembers(part, callable):
        inherited = getattr(method, "__module__", "") or ""
        if not name.startswith("_") and inherited.startswith("ais_prompt.") and not inspect.isclass(method):
            given = [one.name for one in inspect.signature(method).parameters.values() if one.name != "self"]
            yield f"`{name}({', '.join(given)})`", read_docstring(method).summary


def _arguments(part: Callable[..., Any], meanings: Mapping[str, str], skipped: int = 0) -> Iterator[Argument]:
    """Yield the parameters of a class or function; those behind ``**`` with the names that it takes."""
    hints = hints_of(part)
    for parameter in list(inspect.signature(part).parameters.values())[skipped:]:
        hint = hints.get(parameter.name, parameter.annotation)
        if parameter.kind is parameter.VAR_KEYWORD:
            [taken] = typing.get_args(hint) or (None,)
            if taken is not None:
                yield from _fields(taken)
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:  # of a protocol without arguments
            continue
        default = REQUIRED if parameter.default is parameter.empty else default_text(parameter.default)
        yield Argument(parameter.name, type_words(hint), default, meanings.get(parameter.name, ""))


def _fields(kind: type) -> Iterator[Argument]:
    """Yield the fields of a value or the keys of a TypedDict. A flat name means what the field of its value means."""
    meanings = read_docstring(kind).items
    if kind in (ServedNames, LocalNames):  # a TypedDict does not know the docstring of its base
        meanings = {**read_docstring(SamplingNames).items, **meanings}
    hints = typing.get_type_hints(kind, include_extras=True)
    defaults = dict(field_defaults(kind)) if issubclass(kind, Struct) else {}
    for name, hint in hints.items():
        if issubclass(kind, Struct) and name not in kind.__struct_fields__:
            continue
        argument, target = FLAT_NAMES.get(name, ("", ""))
        if name not in meanings and isinstance(target, str) and argument:
            value = OPTIONS[argument]
            meaning = f"`{argument}.{target}`: {read_docstring(value).items[target]}"
            yield Argument(name, type_words(hint), dict(field_defaults(value))[target], meaning)
        else:
            yield Argument(name, type_words(hint), defaults.get(name, ""), meanings.get(name, ""))


def _raises(raises: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((f"raises `{error}`", when) for error, when in raises.items())


def config_entries() -> Iterator[Entry]:
    """Yield the entries of the dicts of a config."""
    for table in all_tables():
        yield _config_entry(table)


def _config_entry(table: KeyTable) -> Entry:
    path = table.where.rpartition(".")[2].partition("[")[0]
    doc = read_docstring(table.struct)
    keys = (
        Argument(key.name, re.sub(r"^(?:an?|the) ", "", key.kind), key.default_words, doc.items.get(key.field, ""))
        for key in keys_of(table.struct).values()
    )
    more = (Argument(name, "dict(...)", "none", meaning) for name, meaning in table.more.items())
    return Entry(
        table.title,
        "config",
        "part of a config",
        doc.summary,
        "\n\n".join(filter(None, (doc.text, RANGES if table is READER else ""))),
        (*keys, *more),
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
    variables = (*((name, *about) for one in extensions() for name, about in one.variables.items()), *ENVIRONMENT)
    rows = tuple(Argument(name, kind, "", meaning) for name, kind, meaning in variables)
    return Entry(
        "environment",
        "environment",
        "environment variables",
        "The environment variables that a run reads.",
        f"{OFFLINE}\n\nA config can name other variables for keys and headers. Their values are never stored.",
        rows,
        also=("offline", "variables", *(name for name, _, _ in variables)),
    )
