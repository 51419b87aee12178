"""Write the results of a run in the form of another program."""

from __future__ import annotations

from pathlib import Path

from ais_prompt.catalog import EXPORTERS, load_home
from ais_prompt.config.parse.run import DEFAULT_WORK_DIR
from ais_prompt.config.paths import expand
from ais_prompt.report.stored import read_stored_results
from ais_prompt.store.find import locate_run
from ais_prompt.store.links import refuse_links


def export(run: str, to: str, folder: Path | None = None, work_dir: str | None = None) -> list[Path]:
    """Write the results of a run, and return the files.

    Args:
        run: the path of a run folder, or below ``work_dir`` a name, name/time or time.
        to: a name in `ais_prompt.catalog.EXPORTERS`.
        folder: where the files go; it is made if needed, and files of the same names are replaced. None means
            ``export/<to>`` in the run folder.
        work_dir: where run folders are kept; None for ``outputs``.

    Raises:
        ConfigError: there is no such run.
        StoreError, DataError: a file cannot be read or written.
    """
    found = locate_run(expand(work_dir or DEFAULT_WORK_DIR), run)
    if folder is None:
        refuse_links(found)
        folder = found.root / "export" / to
    written: list[Path] = load_home(EXPORTERS[to])(read_stored_results(found), folder)
    return written
