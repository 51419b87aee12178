"""Resolve relative paths of data files and model folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from ais_prompt.config.locate import shipped_root
from ais_prompt.utils import split_sheet

Find: TypeAlias = Callable[[str], Path | None]
"""From a path in a config to the file or folder that is meant; None if there is none."""
PATH_KEYS = ("path", "tokenizer_path", "rows")


def resolve_data_path(path: str, config_dir: Path | None, run_dir: Path | None = None) -> Path | None:
    """Return the absolute path of a data file, sheet or model folder; None if there is none, as for a hub repository.

    A relative path is looked up in the working directory, then beside the config, then in the shipped ``configs``, then
    in the run folder that keeps the config.
    """
    if not path:
        return None
    expanded = expand(path)
    if _exists(expanded):
        return expanded.absolute()
    for folder in (config_dir, shipped_root(), run_dir):
        if folder is not None and _exists(found := folder / expanded):
            return found.absolute()
    return None


def replace_paths(args: Mapping[str, Any], find: Find) -> dict[str, Any]:
    """Return the arguments of a model or dataset with each path replaced by what ``find`` returns.

    ``data_files`` are left alone where ``path`` is a folder, because then they lie in that folder.
    """
    replaced = dict(args)
    for key in PATH_KEYS:
        if isinstance(path := args.get(key), str):
            replaced[key] = _found(path, find)
    if "data_files" in args and not _is_folder(replaced.get("path")):
        replaced["data_files"] = _found(args["data_files"], find)
    return replaced


def _found(value: Any, find: Find) -> Any:
    """Return a path, a list of them, or a mapping from splits to either, as they are found."""
    if isinstance(value, str):
        found = find(value)
        return value if found is None else str(found)
    if isinstance(value, list | tuple):
        return type(value)(_found(item, find) for item in value)
    if isinstance(value, Mapping):
        return {split: _found(files, find) for split, files in value.items()}
    return value


def expand(path: str) -> Path:
    """Return the path with ``~`` replaced by the home folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _is_folder(path: Any) -> bool:
    return isinstance(path, str) and _exists(Path(path)) and Path(path).is_dir()


def _exists(path: Path) -> bool:
    try:
        return split_sheet(path)[0].exists()
    except (OSError, ValueError):
        # A long prompt or any other text may be where a path is expected.
        return False
