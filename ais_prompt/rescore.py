"""Scoring of answers that are there already: neither models nor servers are asked."""

from __future__ import annotations

from dataclasses import replace

from ais_prompt.config.parse import DEFAULT_WORK_DIR
from ais_prompt.config.paths import expand
from ais_prompt.pipeline import Source, checked_for_scoring
from ais_prompt.store.find import locate_run
from ais_prompt.store.layout import RunFolder
from ais_prompt.types import RunSpec


def open_stored(run: str, source: Source) -> tuple[RunSpec, RunFolder]:
    """A run that is to be scored again: what `ais_prompt.pipeline.run` needs for that, with the mode ``eval``.

    Args:
        run: its path, or its name below the work dir.
        source: the config to score with; the run's own if it names none.

    Raises:
        ConfigError: there is no such run, or the config has faults.
    """
    if source.config is not None:
        spec = checked_for_scoring(source)
        return spec, locate_run(spec.work_dir, run)
    folder = locate_run(expand(source.work_dir or DEFAULT_WORK_DIR), run)
    return checked_for_scoring(replace(source, config=str(folder.config_file))), folder
