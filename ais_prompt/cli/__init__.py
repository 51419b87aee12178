"""The command line: one short file for each verb. Help imports only click, so it is quick."""

from __future__ import annotations

import os
from typing import Any

import click

from ais_prompt import __version__
from ais_prompt.cli.baseline import baseline
from ais_prompt.cli.check import check
from ais_prompt.cli.compare import compare
from ais_prompt.cli.completion import completion
from ais_prompt.cli.diff import diff
from ais_prompt.cli.import_run import import_run
from ais_prompt.cli.list import list_parts
from ais_prompt.cli.lock import lock
from ais_prompt.cli.migrate import migrate
from ais_prompt.cli.request_files import answers, requests
from ais_prompt.cli.run import run
from ais_prompt.cli.score import score
from ais_prompt.cli.shards import merge, status
from ais_prompt.cli.streams import without_secrets
from ais_prompt.cli.view import view
from ais_prompt.cli.view_prompt import view_prompt

EPILOG = """\b
Exit codes: 0 done · 1 a gate failed (too many failures, other prompts) · 2 the config or the command line is wrong ·
3 a model, server or disk could not be used · 4 paused: a budget or quota is used up · 70 a bug · 130 interrupted.
After 4 and 130, -r resumes the run."""


class Program(click.Group):
    """All verbs. What they print contains no secrets."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line."""
        with without_secrets():
            return super().main(*args, **kwargs)


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    commands=[
        run,
        score,
        merge,
        status,
        requests,
        answers,
        compare,
        baseline,
        view,
        view_prompt,
        check,
        lock,
        diff,
        list_parts,
        import_run,
        migrate,
        completion,
    ],
    epilog=EPILOG,
)
@click.version_option(__version__, prog_name="aisprompt")
def main() -> None:
    """Evaluate language models from a Python config: see every prompt, trust every score."""
    # Arrow's own allocator keeps what it once needed to read a file; the system's gives it back.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
