"""A run folder as an object: its status, its errors, its scores and samples; and its export for other programs.

Errors reach callers without secrets, and with advice in terms of Python.
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from msgspec import Struct

from ais_prompt.catalog import EXPORTERS
from ais_prompt.checks import PromptWarning
from ais_prompt.config import DEFAULT_WORK_DIR, expand
from ais_prompt.errors import AisPromptError, ConfigError, DataError, Interrupted, StoreError, faults_of
from ais_prompt.extension import REINSTALL, import_object, missing_extension
from ais_prompt.plan import stored_spec
from ais_prompt.report import LONG_HEADER, long_cells, read_stored_results, samples_table, scores_table, to_pandas
from ais_prompt.scoring import Row
from ais_prompt.secrets import SECRETS
from ais_prompt.steps import installed_entry, step
from ais_prompt.store import RunFolder, locate_run, read_run_file, refuse_links
from ais_prompt.types import RunSpec
from ais_prompt.utils import advice, counted, decode_own, listed

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


SCORE_COLUMNS: Final = ("dataset", "model", "metric", "score", "ci95_low", "ci95_high", "n")
"""The columns of `Run.scores` that are shown first; the others need ``full``."""


class Run(Struct, frozen=True, dict=True, eq=False):
    """A run folder, of `run` or `open_run`. Files are read when they are needed.

    Attributes:
        path: the run folder.
        errors: ``model/dataset`` → why this task failed or is paused, of the session that this object is of.
        warnings: what you may not expect of the prompts; only of a run that `run` made.
    """

    path: Path
    errors: Mapping[str, AisPromptError] = {}
    warnings: Sequence[PromptWarning] = ()

    @property
    def name(self) -> str:
        """The last two parts of its path, ``eval/20260131_235959Z``."""
        return "/".join(self.path.absolute().parts[-2:])

    @property
    def status(self) -> str:
        """How it ended: ``finished``, ``failed``, ``paused``, ``interrupted``, ``partial``, or else ``running``."""
        with public_errors():
            return str(read_run_file(RunFolder(self.path)).get("status", "unknown"))

    @property
    def rows(self) -> list[Row]:
        """The rows of its summary, one for each metric of each task and group.

        Raises:
            StoreError: there is no summary yet, or it cannot be read.
        """
        with public_errors():
            return _read_summary(RunFolder(self.path).summary_dir / "summary.json")

    @overload
    def scores(self, *, full: bool = ..., to: Literal["pandas"] | None = ...) -> pd.DataFrame: ...
    @overload
    def scores(self, *, full: bool = ..., to: Literal["arrow"]) -> pa.Table: ...
    def scores(self, *, full: bool = False, to: Literal["pandas", "arrow"] | None = None) -> pd.DataFrame | pa.Table:
        """Return the scores: one row for each metric of each task and group.

        The columns are dataset, model, metric, score, the 95 % interval and n, and ``note`` if any row has one.

        Args:
            full: all columns of ``summary.csv``.
            to: the kind of table. None makes a frame of pandas where pandas is installed, and else an Arrow table.

        Raises:
            StoreError: the run is not scored, or its files cannot be read.
            MissingExtra: pandas is asked for and not installed.
        """
        _check_kind(to)
        with public_errors():
            rows = self.rows
            table = scores_table(rows)
            if not full:
                table = table.select([*SCORE_COLUMNS, *(["note"] if any(row.note for row in rows) else [])])
            return _in_form(table, to)

    @overload
    def samples(
        self, *, model: str | None = ..., dataset: str | None = ..., to: Literal["pandas"] | None = ...
    ) -> pd.DataFrame: ...
    @overload
    def samples(self, *, model: str | None = ..., dataset: str | None = ..., to: Literal["arrow"]) -> pa.Table: ...
    def samples(
        self, *, model: str | None = None, dataset: str | None = None, to: Literal["pandas", "arrow"] | None = None
    ) -> pd.DataFrame | pa.Table:
        """Return one row for each sample of each task: its prompt, answer, gold and scores.

        Prompts, answers and golds that are not texts are JSON. Numbers and short texts of the rows keep their columns,
        as ``row_<column>`` where the name is taken. ``score`` is the main metric of the task, and each metric has a
        column ``score_<metric>``.

        Args:
            model, dataset: only those of the model or dataset with this ``abbr``.
            to: the kind of table. None makes a frame of pandas where pandas is installed, and else an Arrow table.

        Raises:
            ConfigError: the run has no such model or dataset.
            StoreError, DataError: its files cannot be read.
            MissingExtra: pandas is asked for and not installed.
        """
        _check_kind(to)
        with public_errors():
            spec = self._spec
            _check_name(model, [one.abbr for one in spec.models], "model")
            _check_name(dataset, [one.abbr for one in spec.datasets], "dataset")
            wanted = [
                task for task in spec.tasks if model in (None, task.model.abbr) and dataset in (None, task.dataset.abbr)
            ]
            table = samples_table(wanted, RunFolder(self.path))
            return _in_form(table, to)

    def variants(self, holdout: float | None = None) -> list[Any]:
        """Return the prompts and options of each model and dataset: which is best, how sure that is, what it takes.

        Args:
            holdout: choose the best on this share of the questions, and score it on the others; None uses all for both.

        Raises:
            ConfigError: the extension that compares them is not here.
            StoreError, DataError: results are missing or broken.
        """
        if (compared := step("compared_variants")) is None:
            owner = missing_extension("compared_variants")
            raise ConfigError(f"the extension {owner!r} compares variants, and is not here", fix=REINSTALL)
        with public_errors():
            found: list[Any] = compared(self.path, holdout)
            return found

    def raise_errors(self) -> None:
        """Raise the first of the errors, if there is one.

        Raises:
            AisPromptError: a task failed, or is paused.
        """
        for error in self.errors.values():
            raise error

    @cached_property
    def _spec(self) -> RunSpec:
        return stored_spec(RunFolder(self.path))

    def __repr__(self) -> str:
        failed = f", {counted(len(self.errors), 'task')} failed or paused" if self.errors else ""
        return f"<Run {self.name}: {self.status}{failed}>"

    def __str__(self) -> str:
        """Return the summary as text, as the command line prints it."""
        try:
            return (RunFolder(self.path).summary_dir / "summary.txt").read_text("utf-8").rstrip("\n")
        except OSError:
            return repr(self)

    def _repr_html_(self) -> str:
        """Return the summary for a notebook."""
        try:
            rows = [long_cells(row) for row in self.rows]
        except StoreError:
            rows = []
        lines = [_line("th", LONG_HEADER), *(_line("td", cells) for cells in rows)] if rows else []
        errors = "".join(
            f"<p><b>{html.escape(name)}</b>: {html.escape(str(error))}</p>" for name, error in self.errors.items()
        )
        return f"<p>{html.escape(repr(self))}</p><table>{''.join(lines)}</table>{errors}"


def open_run(run: str | os.PathLike[str], work_dir: str | os.PathLike[str] | None = None) -> Run:
    """Open the folder of an earlier run, of the command line or of `run`.

    Args:
        run: the path of a run folder; or below ``work_dir`` a name, which means its latest run, ``name/time``, a time
            alone, or ``latest``.
        work_dir: where run folders are kept; ``outputs`` if left out.

    Raises:
        ConfigError: there is no such run.
        StoreError: its ``run.json`` is missing or broken, or a later version wrote it.
    """
    with public_errors():
        folder = locate_run(expand(os.fspath(work_dir or DEFAULT_WORK_DIR)), os.fspath(run))
        read_run_file(folder)
        return Run(folder.root)


def export(run: str, to: str, folder: Path | None = None, work_dir: str | None = None) -> list[Path]:
    """Write the results of a run, and return the files.

    Args:
        run: the path of a run folder, or below ``work_dir`` a name, name/time or time.
        to: a name in `ais_prompt.catalog.EXPORTERS`, or one that an installed package brings.
        folder: where the files go; it is made if needed, and files of the same names are replaced. None means
            ``export/<to>`` in the run folder.
        work_dir: where run folders are kept; None for ``outputs``.

    Raises:
        ConfigError: there is no such run or form.
        StoreError, DataError: a file cannot be read or written.
    """
    if not (home := EXPORTERS.get(to) or installed_entry("exporters", to)):
        if owner := missing_extension(to):
            raise ConfigError(f"the extension {owner!r} writes {to!r}, and is not here", where="--to", fix=REINSTALL)
        raise ConfigError(f"there is no form {to!r}", where="--to", fix=advice(to, EXPORTERS))
    found = locate_run(expand(work_dir or DEFAULT_WORK_DIR), run)
    if folder is None:
        refuse_links(found)
        folder = found.root / "export" / to
    written: list[Path] = import_object(home)(read_stored_results(found), folder)
    if not written:
        fix = "export another form, such as csv"
        raise DataError(f"this run has nothing for {to!r}", where=str(found.root), fix=fix)
    return written


@contextmanager
def public_errors() -> Iterator[None]:
    """Hide secrets in the errors that the body raises, and name the call that resumes an interrupted run."""
    try:
        yield
    except AisPromptError as error:
        if isinstance(error, Interrupted) and error.where:
            error.fix = f"resume with the same call and reuse={Path(error.where).name!r}"
        for one in {id(fault): fault for fault in (error, *faults_of(error))}.values():
            hide_secrets(one)
        raise


def hide_secrets(error: AisPromptError) -> AisPromptError:
    """Hide the secrets in the texts of an error, and return it."""
    error.what, error.where, error.fix = map(SECRETS.hide_in_message, (error.what, error.where, error.fix))
    error.args = (error.what,)
    return error


def _read_summary(path: Path) -> list[Row]:
    try:
        values: Any = decode_own(path.read_bytes())
        return [Row.from_json(row) for row in values]
    except FileNotFoundError:
        what, fix = "the run has no summary yet", "finish the run, or score what is there: aisprompt score RUN"
    except (OSError, ValueError, TypeError) as error:
        what, fix = f"the summary cannot be read: {error}", "score the run again: aisprompt score RUN"
    raise StoreError(what, where=str(path), fix=fix)


def _in_form(table: pa.Table, to: str | None) -> pd.DataFrame | pa.Table:
    """Return a table in the wanted form: without a wish as a frame of pandas, if pandas is installed."""
    if to is None:
        try:
            import pandas  # noqa: F401
        except ImportError:
            to = "arrow"
    return table if to == "arrow" else to_pandas(table)


def _check_kind(to: str | None) -> None:
    if to not in (None, "pandas", "arrow"):
        raise ConfigError(f"there is no table of kind {to!r}", fix="give to='pandas' or to='arrow'")


def _check_name(name: str | None, known: Sequence[str], kind: str) -> None:
    if name is not None and name not in known:
        raise ConfigError(f"the run has no {kind} {name!r}", fix=f"{kind}s: {listed(dict.fromkeys(known))}")


def _line(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"
