"""Find the folders and URLs that a config allows its rows to take media from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ais_prompt.config.paths import expand
from ais_prompt.prompts.media_roots import MediaRoots
from ais_prompt.readers.data_path import find_data
from ais_prompt.types import DatasetSpec
from ais_prompt.utils.media import has_scheme, references


def media_roots_of(spec: DatasetSpec) -> MediaRoots:
    """Return the roots of a dataset: ``media_roots``, the folders of its data, and what its templates name."""
    given = [root if has_scheme(root) else str(expand(root)) for root in spec.reader.media_roots]
    templates = filter(None, (spec.infer.ice_template, spec.infer.prompt_template))
    written = [root for template in templates for root in _written_roots(template.args)]
    return MediaRoots.of([*given, *_data_folders(spec.source.args), *written], f"{spec.reader.where}.media_roots")


def _data_folders(args: Mapping[str, Any]) -> Iterator[str]:
    """Yield the folders that the reader's arguments name: ``path``, ``data_files``, and those like ``image_path``."""
    for key, value in args.items():
        if isinstance(value, Mapping) and key != "data_files":  # arguments of a peer's loader
            yield from _data_folders(value)
        elif key in ("path", "data_files") or str(key).endswith("_path"):
            for text in _texts(value):
                with suppress(OSError, ValueError):  # too long for a path
                    if text and (found := find_data(text)):
                        yield str(found if found.is_dir() else found.parent)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner)


def _written_roots(args: Mapping[str, Any]) -> Iterator[str]:
    """Yield the media that a template names itself, and the folder that it writes in front of a placeholder."""
    for reference in references(args):
        written, placeholder, _ = reference.partition("{")
        root = written.rpartition("/")[0].rstrip("/") if placeholder else written
        if root and not root.endswith(":"):  # "file:///{image}" names no folder
            yield root
