"""The command line: one short file for each verb. Help imports only click, so it is quick."""

from __future__ import annotations

import os
from typing import Any, Final

import click

from ais_prompt import __version__
from ais_prompt.cli.baseline import baseline
from ais_prompt.cli.check import check
from ais_prompt.cli.compare import compare
from ais_prompt.cli.completion import completion
from ais_prompt.cli.data import data
from ais_prompt.cli.describe import describe
from ais_prompt.cli.diff import diff
from ais_prompt.cli.export import export
from ais_prompt.cli.import_run import import_run
from ais_prompt.cli.judge_check import judge_check
from ais_prompt.cli.list import list_parts
from ais_prompt.cli.lock import lock
from ais_prompt.cli.migrate import migrate
from ais_prompt.cli.request_files import answers, requests
from ais_prompt.cli.run import run
from ais_prompt.cli.score import score
from ais_prompt.cli.serve import serve
from ais_prompt.cli.shards import merge
from ais_prompt.cli.status import status
from ais_prompt.cli.streams import without_secrets
from ais_prompt.cli.view import view
from ais_prompt.cli.view_prompt import view_prompt

EPILOG = """\b
Exit codes: 0 done · 1 a gate failed (too many failures, other prompts) ·
2 the config or the command line is wrong ·
3 a model, server or disk could not be used ·
4 paused: a budget or quota is used up · 70 a bug ·
130 interrupted · 143 terminated. After 4, 130 and 143, -r resumes the run."""


VERBS: Final[dict[str, dict[click.Command, str]]] = {
    "Ask": {
        run: "Ask the models, score the answers, report.",
        score: "Score stored answers.",
        merge: "Put the answers of shards together.",
        serve: "Start servers that all shards share.",
        status: "Show how far the shards of a run are.",
        requests: "Write what is still to be asked into a file.",
        answers: "Read answers from files of a batch service.",
    },
    "Look": {
        check: "Find every fault of a config.",
        view_prompt: "Show prompts exactly as they are sent.",
        list_parts: "List configs, parts and providers.",
        describe: "Describe a part, key, error, file or option.",
        view: "Show the report of a run in the browser.",
    },
    "Compare": {
        lock: "Write the prompts of a config into a lock.",
        diff: "Compare prompts.",
        compare: "Compare two runs: what changed, and why.",
        judge_check: "Measure a judge against labels of people.",
        baseline: "Write what later runs are held against.",
    },
    "Others": {
        data: "Bring benchmarks to this machine, or check them.",
        export: "Write results in the form of another program.",
        import_run: "Bring a run of OpenCompass or AISBench.",
        migrate: "Write their config as one of this program.",
        completion: "Print the completion script of a shell.",
    },
}
"""Purpose → verbs, each with one line."""


class Program(click.Group):
    """All verbs. What they print contains no secrets."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line."""
        with without_secrets():
            return super().main(*args, **kwargs)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Show the verbs by what they are for."""
        width = max(len(str(verb.name)) for verbs in VERBS.values() for verb in verbs)
        for purpose, verbs in VERBS.items():
            with formatter.section(purpose):
                formatter.write_dl([(f"{verb.name:<{width}}", line) for verb, line in verbs.items()])


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    commands=[verb for verbs in VERBS.values() for verb in verbs],
    epilog=EPILOG,
)
@click.version_option(__version__, "-V", "--version", prog_name="aisprompt")
def main() -> None:
    """Evaluate language models from a Python config: see every prompt, trust every score."""
    # Arrow's own allocator keeps what it once needed to read a file; the system's gives it back.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
