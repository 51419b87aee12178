"""The command line: one short file for each verb. Help imports click, and no verb, so it is quick."""

from __future__ import annotations

import atexit
import gc
import os
from typing import Any, Final

import click

from ais_prompt import __version__
from ais_prompt.catalog import import_object
from ais_prompt.cli.streams import safe_output

EPILOG = """\b
Exit codes: 0 done · 1 a gate failed (too many failures, other prompts) ·
2 the config or the command line is wrong ·
3 a model, server or disk could not be used ·
4 paused: a budget or quota is used up · 70 a bug ·
130 interrupted · 143 terminated. After 4, 130 and 143, -r resumes the run."""


VERBS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "Ask": {
        "init": ("ais_prompt.cli.init.init", "Write a config from the answers to four questions."),
        "run": ("ais_prompt.cli.run.run", "Ask the models, score the answers, report."),
        "score": ("ais_prompt.cli.score.score", "Score stored answers."),
        "merge": ("ais_prompt.cli.shards.merge", "Put the answers of shards together."),
        "serve": ("ais_prompt.cli.shards.serve", "Start servers that all shards share."),
        "status": ("ais_prompt.cli.shards.status", "Show how far the shards of a run are."),
        "requests": ("ais_prompt.cli.request_files.requests", "Write what is still to be asked into a file."),
        "answers": ("ais_prompt.cli.request_files.answers", "Read answers from files of a batch service."),
    },
    "Look": {
        "check": ("ais_prompt.cli.check.check", "Find every fault of a config."),
        "view-prompt": ("ais_prompt.cli.view_prompt.view_prompt", "Show prompts exactly as they are sent."),
        "list": ("ais_prompt.cli.list.list_parts", "List configs, parts and providers."),
        "describe": ("ais_prompt.cli.describe.describe", "Describe a part, key, error, file or option."),
        "view": ("ais_prompt.cli.view.view", "Show the report of a run in the browser."),
    },
    "Compare": {
        "lock": ("ais_prompt.cli.lock.lock", "Write the prompts of a config into a lock."),
        "diff": ("ais_prompt.cli.lock.diff", "Compare prompts."),
        "compare": ("ais_prompt.cli.compare.compare", "Compare two runs: what changed, and why."),
        "explain": ("ais_prompt.cli.explain.explain", "Explain why two scores differ, of any tools."),
        "same": ("ais_prompt.extensions.same.same_command.same", "Find out whether two models are the same."),
        "judge-check": ("ais_prompt.cli.compare.judge_check", "Measure a judge against labels of people."),
        "baseline": ("ais_prompt.cli.compare.baseline", "Write what later runs are held against."),
    },
    "Others": {
        "data": (
            "ais_prompt.extensions.benchmarks.data_command.data",
            "Bring benchmarks to this machine, or check them.",
        ),
        "export": ("ais_prompt.cli.view.export", "Write results in the form of another program."),
        "import": ("ais_prompt.extensions.formats.import_command.import_command", "Import a log of another tool."),
        "migrate": ("ais_prompt.extensions.peers.migrate_command.migrate", "Write their config as one of ours."),
        "seal": ("ais_prompt.extensions.seals.verify_command.seal", "Put a finished run into one file, as evidence."),
        "verify": ("ais_prompt.extensions.seals.verify_command.verify", "Verify a sealed run: bytes, prompts, scores."),
        "completion": ("ais_prompt.cli.completion.completion", "Print the completion script of a shell."),
    },
}
"""Purpose → verb → its function, and one line. Only the verb that runs is imported."""

MEANT: Final = {
    **dict.fromkeys(("evaluate", "test", "infer", "ask", "start", "benchmark", "bench"), "run"),
    **dict.fromkeys(("validate", "lint"), "check"),
    **dict.fromkeys(("report", "show", "open", "ui", "results"), "view"),
    **dict.fromkeys(("prompt", "prompts", "preview"), "view-prompt"),
    **dict.fromkeys(("new", "create", "setup"), "init"),
    **dict.fromkeys(("download", "get", "fetch"), "data get"),
    "resume": "run CONFIG -r",
}
"""A command as others call it → the verb."""

# At its end Python looks for garbage among all objects, which takes 0.1 to 0.2 s after a run.
atexit.register(gc.freeze)


class CommandLine(click.Group):
    """All verbs. What they print contains no secrets."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line."""
        with safe_output() as lost:
            try:
                return super().main(*args, **kwargs)
            except SystemExit as end:
                if end.code or (error := lost()) is None:
                    raise
                from ais_prompt.cli.verb import report
                from ais_prompt.errors import StoreError

                what = f"standard output cannot be written: {error.strerror}"
                report(
                    StoreError(what, fix="free space or choose another file; a run folder has everything"), debug=False
                )
                raise SystemExit(StoreError.exit_code) from error

    def verbs(self) -> dict[str, click.Command]:
        """Import all verbs, by name."""
        return {name: _verb(home) for verbs in VERBS.values() for name, (home, _) in verbs.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all verbs."""
        return [name for verbs in VERBS.values() for name in verbs]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a verb; None if there is none of this name."""
        return next((_verb(verbs[cmd_name][0]) for verbs in VERBS.values() if cmd_name in verbs), None)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take a command line without a verb, as the peers have it, as one of ``run``; ``help VERB`` is an option."""
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        elif args == ["version"]:
            args = ["--version"]
        return super().parse_args(ctx, ["run", *args] if args and self._runs(ctx, args[0]) else args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb of a command line; of an unknown one say what may be meant."""
        word, verbs = args[0], self.list_commands(ctx)
        if word in verbs or word.startswith("-"):
            return super().resolve_command(ctx, args)
        from ais_prompt.cli.peer_flags import tool_answer
        from ais_prompt.utils import advice

        meant = MEANT.get(word)
        fix = f"did you mean {meant!r}?" if meant else tool_answer(word) or advice(word, verbs)
        raise click.UsageError(f"There is no command {word!r}: {fix}", ctx)

    def _runs(self, ctx: click.Context, word: str) -> bool:
        """Return whether a command line that begins so is one of ``run``: with a config, or an option of it."""
        if any(word in verbs for verbs in VERBS.values()):
            return False
        if not word.startswith("-"):
            from ais_prompt.cli.peer_flags import tool_answer
            from ais_prompt.cli.verb import is_config

            return is_config(word) and tool_answer(word) is None
        if any(word in option.opts for option in self.get_params(ctx)):
            return False
        from ais_prompt.cli.peer_flags import is_peer_option

        name = word.partition("=")[0]
        return is_peer_option(word) or any(name in option.opts for option in _verb(VERBS["Ask"]["run"][0]).params)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the verbs by what they are for."""
        width = max(map(len, self.list_commands(ctx)))
        for purpose, verbs in VERBS.items():
            with formatter.section(purpose):
                formatter.write_dl([(f"{name:<{width}}", line) for name, (_, line) in verbs.items()])


def _verb(home: str) -> click.Command:
    verb: click.Command = import_object(home)
    return verb


@click.group(
    cls=CommandLine,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=EPILOG,
)
@click.version_option(__version__, "-V", "--version", prog_name="aisprompt")
def main() -> None:
    """Evaluate language models: see every prompt, trust every score.

    \b
    aisprompt run --url http://127.0.0.1:8000/v1 --data questions.csv
    aisprompt init         # write a config
    aisprompt run eval.py  # run it
    """
    # Arrow's own allocator keeps what it once needed to read a file; the system's gives it back.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
