"""The steps ``source``, ``translate`` and ``shown`` of a run, each of which loads more of us only where it acts.

A config in terms of this program is found here and not translated; ratings are printed only for a run with a judge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ais_prompt.catalog import PARTS
from ais_prompt.config import CONFIG, Note, Options
from ais_prompt.errors import ConfigError
from ais_prompt.utils import part_types

if TYPE_CHECKING:
    from rich.console import Console


_OWN: Final = {name for parts in PARTS.values() for name in parts}
_FOREIGN_KEYS: Final = {"chatml_datasets", "eval", "infer", "judge_models"}
"""Keys at the top of a config that only OpenCompass and AISBench give a meaning."""


def is_native(values: Mapping[str, Any]) -> bool:
    """Return whether every part of a config is one of ours by its name, so that there is nothing to translate.

    Args:
        values: a loaded config. Parts of the user's own count as foreign: whether OpenCompass or AISBench has a part of
            their name is known only to the extension that translates.
    """
    if _FOREIGN_KEYS & values.keys():
        return False
    models, datasets = values.get("models"), values.get("datasets")
    if not isinstance(models, list | tuple) or not isinstance(datasets, list | tuple):
        return False
    if any(not isinstance(item, Mapping) or "type" not in item for item in (*models, *datasets)):
        return False
    described = [value for key, value in values.items() if key in CONFIG.names]
    return all(isinstance(name, str) and name in _OWN for name in part_types(described))


def with_own_file(options: Options) -> Options:
    """Return options with the dataset of ``--custom-dataset-path``.

    Raises:
        ConfigError: two options exclude each other.
    """
    path, accelerator = (options.options.get(name) for name in ("custom_dataset_path", "accelerator"))
    if options.options.get("hf") and accelerator is not None:
        what = f"--hf is for transformers and -a {accelerator} for a server"
        raise ConfigError(what, fix="give one of them")
    if path is None:
        return options
    if options.data is not None:
        raise ConfigError("--data and --custom-dataset-path name one file each", fix="give one of them")
    return replace(options, dataset={"path": path})


def translated(
    values: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    foreign_summary: bool,
    folder: Path | None,
    place: Callable[[str], str],
) -> tuple[Mapping[str, Any], tuple[Note, ...]]:
    """Return a config in terms of this program, with servers for its models if ``-a`` wants them, and notes.

    Args:
        values: the loaded config; it is not changed.
        options: of this extension, as far as they are given.
        foreign_summary, folder, place: as for `ais_prompt.extensions.peers.translate.translate`.

    Raises:
        ConfigFaults: what is missing to translate it, such as the name of a judge.
    """
    notes: tuple[Note, ...] = ()
    if foreign_summary or not is_native(values):
        from ais_prompt.extensions.peers.translate import translate

        values, notes = translate(
            values,
            peer_scores=options.get("peer_scores", False),
            in_process=options.get("hf", False),
            foreign_summary=foreign_summary,
            folder=folder,
            place=place,
        )
    engine = options.get("accelerator")
    if engine is not None and isinstance(models := values.get("models"), list | tuple):
        from ais_prompt.extensions.peers.model import accelerated

        served, dropped = accelerated(models, engine, folder)
        values, notes = {**values, "models": served}, (*notes, *dropped)
    return values, notes


def print_after_scores(root: Path, console: Console) -> None:
    """Print the ratings of a run if functions of OpenCompass read battles in what its judge says.

    Args:
        root: of the run folder.
        console: where to.
    """
    if not any(root.glob("judge/*")):
        return
    from ais_prompt.extensions.peers.tables import print_table_of, tables_of
    from ais_prompt.store import RunFolder

    for table in tables_of(RunFolder(root)):
        print_table_of(table, console)
