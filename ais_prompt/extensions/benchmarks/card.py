"""Read the cards of benchmarks: ``configs/datasets/NAME/card.toml``.

A card says what a benchmark is and where its rows come from; the configs beside it say how it is asked. Nothing but the
standard library is imported, so that `aisprompt list` can show all cards at once.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from ais_prompt.config import config_folders
from ais_prompt.errors import ConfigError
from ais_prompt.parts import place
from ais_prompt.utils import advice, data_root

CARD: Final = "card.toml"
LOCK: Final = "data.lock"
NOT_VERIFIED: Final = "not verified"


@dataclass(frozen=True, slots=True)
class Hub:
    """Where a benchmark is on the Hugging Face Hub.

    Attributes:
        repo: id of the dataset, such as ``openai/gsm8k``.
        config: the configuration (subset); ``*`` takes all, and their names become the column ``subset``.
        splits: our name of a split → its name there.
    """

    repo: str
    splits: Mapping[str, str]
    config: str = "default"


@dataclass(frozen=True, slots=True)
class Files:
    """Another form in which people have a benchmark, for ``data get --from``.

    Attributes:
        about: where these files are from.
        splits: split → file below the folder or archive; ``{subset}`` in it becomes the column ``subset``.
        header: names of the columns, for files without a header.
        ranges: split → its rows in the file, as in ``reader_cfg``; all of them if it is not named.
        key: the key of the list of rows in a JSON object; empty if the file holds the rows.
        lines: whether each line is an object, whatever the file is called; its values may differ from row to row.
        beside: a file in the folder of each file, ``{name}`` being the name, whose rows of the same ``id`` add columns.
        texts: the end of the path of a text below the folder of each file, in which ``{column}`` is a value of a row;
            of a value with semicolons each part is a text. They are the column ``texts`` of the row, a list in order.
        subsets: the subsets that are used; empty for all.
        vlmeval: whether it is a TSV of VLMEvalKit: fields in quotes, and an image may be the index of another row.
    """

    about: str
    splits: Mapping[str, str]
    header: tuple[str, ...] = ()
    ranges: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    lines: bool = False
    beside: str = ""
    texts: str = ""
    subsets: tuple[str, ...] = ()
    vlmeval: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """What a benchmark is.

    Attributes:
        name: the name of its folder, which ``data get`` and `CatalogDataset` take.
        title: its name as people write it.
        tests: what it tests, in a few words.
        language: of its questions.
        licence: of its data, as its publisher gives it.
        source: the page of its publisher.
        size: number of questions.
        columns: the columns of the stored rows.
        version: which version of the data the card is about; `NOT_VERIFIED` if it was not seen.
        form: where repository, splits and columns were read.
        checked: what it was held against, and how that came out.
        shape: the keys of the `RowShape` that makes our columns, as for `LocalDataset`; empty for none.
        rows: name of the function in ``cards/publisher_rows.py`` that makes our columns;
            empty if the columns have our names already.
        rename: our column → the column of the publisher.
        hub: where it is on the hub; None if it is not there.
        files: other forms of it.
        made: whether its reader makes the rows, so that there are no data to get.
        note: what users should know before they use it.
        folder: where the card is.
    """

    name: str
    title: str
    tests: str
    language: str
    licence: str
    source: str
    size: int
    columns: tuple[str, ...]
    folder: Path
    version: str = NOT_VERIFIED
    form: str = NOT_VERIFIED
    checked: str = NOT_VERIFIED
    shape: Mapping[str, Any] = field(default_factory=dict)
    rows: str = ""
    rename: Mapping[str, str] = field(default_factory=dict)
    hub: Hub | None = None
    files: tuple[Files, ...] = ()
    made: bool = False
    note: str = ""

    @property
    def data(self) -> Path:
        """Return the folder of its data, which need not exist."""
        return data_root() / self.name

    @property
    def is_here(self) -> bool:
        """Return whether its data are on this machine, or made here."""
        return self.made or (self.data / LOCK).is_file()


def read_cards() -> dict[str, Card]:
    """Return all cards by name, in alphabetical order; of several with one name the first counts, as with configs.

    Raises:
        ConfigError: a card cannot be read.
    """
    found: dict[str, Path] = {}
    for folder in config_folders("datasets"):
        for file in sorted(folder.glob(f"*/{CARD}")):
            found.setdefault(file.parent.name, file)
    return {name: read_card(found[name]) for name in sorted(found)}


def listed() -> tuple[str, list[Card]]:
    """Return the title of the section of ``aisprompt list datasets``, and all cards.

    Raises:
        ConfigError: a card cannot be read.
    """
    return "benchmarks: aisprompt data get NAME…; aisprompt describe NAME", [*read_cards().values()]


def find_card(name: str) -> Card:
    """Return the card of a benchmark.

    Raises:
        ConfigError: there is none of that name; the fix offers the nearest.
    """
    known = read_cards()
    if name not in known:
        raise ConfigError(f"there is no benchmark {name!r}", fix=advice(name, known))
    return known[name]


def read_card(file: Path) -> Card:
    """Read a card.

    Raises:
        ConfigError: it is not TOML, or a key is missing, unknown or of the wrong type.
    """
    try:
        values = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"the card cannot be read: {error}", where=place(file), fix="repair the file") from None
    values |= {"name": file.parent.name, "folder": file.parent}
    if "hub" in values:
        values["hub"] = _made(Hub, values["hub"], file, "hub")
    values["files"] = tuple(_made(Files, one, file, "files") for one in values.get("files", ()))
    card: Card = _made(Card, values, file, "")
    return card


_KINDS: Final = {"str": str, "int": int, "bool": bool, "Path": Path, "tuple": list | tuple, "Mapping": dict, "Hub": Hub}
"""Type of a field, up to a bracket or blank → type of its value in TOML."""


def _made(kind: Any, values: Any, file: Path, key: str) -> Any:
    """Make a value of a table of the card."""
    known = {one.name: one for one in fields(kind)}
    if not isinstance(values, dict):
        raise ConfigError(f"{key} is no table", where=place(file), fix=f"write [{key}]")
    if unknown := sorted(values.keys() - known.keys()):
        raise ConfigError(
            f"the card has an unknown key {unknown[0]!r}", where=place(file), fix=advice(unknown[0], known)
        )
    needed = (one.name for one in known.values() if one.default is MISSING and one.default_factory is MISSING)
    if missing := [name for name in needed if name not in values]:
        raise ConfigError(f"the card lacks {missing[0]!r}", where=place(file), fix=f"add {missing[0]} = …")
    for name, value in values.items():
        wanted = _KINDS[str(known[name].type).partition("[")[0].partition(" ")[0]]
        if not isinstance(value, wanted):
            what = f"{name} of the card is {type(value).__name__}"
            raise ConfigError(what, where=place(file), fix=f"write a value of type {known[name].type}")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def get_command(name: str) -> str:
    """Return the command that brings the data of a benchmark."""
    return f"aisprompt data get {name}"


def how_to_get(card: Card) -> str:
    """Return the command that brings the data of a benchmark, and which files it needs if the hub has none."""
    if card.hub:
        return get_command(card.name)
    return f"{get_command(card.name)} --from FOLDER, with {' or '.join(form.about for form in card.files)}"
