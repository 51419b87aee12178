"""``aisprompt view`` and ``aisprompt export``: results in the browser, and for other programs."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ais_prompt.catalog import EXPORTERS
from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.verb import Verb, brought, echo, given_options
from ais_prompt.extension import missing_extension

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ais_prompt.report import RunPage
    from ais_prompt.store import RunFolder

SCORING_SECONDS: Final = 600
"""The longest that scores so far may take."""


@click.command(cls=Verb)
@click.argument("run", shell_complete=complete_run, required=False, metavar="[RUN]")
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="PORT", help="Default: any that is free.")
@click.option("--no-open", is_flag=True, help="Only say the address; do not open the browser.")
@brought("view")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def view(
    run: str | None,
    work_dir: str | None,
    port: int,
    no_open: bool,
    debug: bool,  # noqa: ARG001  # read by `Verb`
    **further: Any,
) -> None:
    """Show the report of a run in the browser, or the list of all runs.

    RUN is the path of a run folder, or below the work dir a name (its latest run), name/time, a time, or latest; or a
    folder where run folders are, as with -w. Of a run that is not finished it shows progress, and scores and samples so
    far. Only this machine can reach it, and only with the token in the address that is printed. Ctrl-C ends.
    """
    import webbrowser

    from ais_prompt.config import DEFAULT_WORK_DIR, expand
    from ais_prompt.report import ReportServer
    from ais_prompt.store import all_runs, locate_run
    from ais_prompt.utils import temporary_folder

    runs = expand(work_dir or DEFAULT_WORK_DIR)
    if run and work_dir is None and any(all_runs(expand(run))):
        runs, run = expand(run), None
    folder = locate_run(runs, run) if run else None
    pages = pages_of(folder, given_options(further, further))
    with ReportServer(runs, port, folder, _score_so_far, pages) as server, suppress(KeyboardInterrupt):
        name = next(iter(pages), "")
        address = server.with_token("/".join(filter(None, (server.address(folder), name))) if folder else "/")
        echo(f"{address}\nCtrl-C ends.")
        with ExitStack() as stack:
            if not no_open:
                # The command line of a browser is no secret to other users of the machine, so it names a file.
                page = Path(stack.enter_context(temporary_folder())) / "view.html"
                page.write_text(f'<meta http-equiv="refresh" content="0; url={address}">\n', "utf-8")
                webbrowser.open(page.as_uri())
            server.serve_forever()


def pages_of(folder: RunFolder | None, given: Mapping[str, Any]) -> dict[str, RunPage]:
    """Return the pages that extensions bring for these options, by name.

    Raises:
        UsageError: an option is about a run, and no run is named.
        AisPromptError: a page cannot be made.
    """
    from ais_prompt.steps import steps

    if given and folder is None:
        raise click.UsageError(f"--{next(iter(given))} needs a RUN.")
    if folder is None:
        return {}
    return {name: page for made in steps("pages") for name, page in made(folder.root, given).items()}


def _score_so_far(folder: RunFolder) -> None:
    """Score what a run has answered so far, in a process of its own."""
    import subprocess

    from ais_prompt.processes import module_command, module_environment

    command = [*module_command("ais_prompt"), "score", str(folder.root.resolve()), "--quiet"]
    silent, variables = subprocess.DEVNULL, module_environment()
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            command, stdin=silent, stdout=silent, stderr=silent, env=variables, timeout=SCORING_SECONDS, check=False
        )


class _Form(click.Choice):  # type: ignore[type-arg]  # generic only from click 8.2 on
    """A form of exported results; installed packages may have others."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from ais_prompt.steps import installed_entry

        is_known = value in self.choices or not (missing_extension(value) or installed_entry("exporters", value))
        return super().convert(value, param, ctx) if is_known else value


@click.command(cls=Verb)
@click.argument("run", shell_complete=complete_run, metavar="RUN")
@click.option(
    "--to",
    type=_Form(tuple(EXPORTERS)),
    required=True,
    help="CSV or Parquet tables, or the form of another program.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where the files go (default: export/FORM in the run folder).",
)
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def export(run: str, to: str, output: Path | None, work_dir: str | None, debug: bool) -> None:  # noqa: ARG001
    """Write scores and samples of a run in the form of another program.

    RUN is the path of a run folder, or below the work dir a name (its latest run), name/time, a time, or latest.
    """
    from ais_prompt.verbs import export as write

    paths = write(run, to, output, work_dir)
    for path in paths:
        echo(str(path))
    if not paths:
        echo("no task has a score, so there is nothing to write: aisprompt score RUN", err=True)
