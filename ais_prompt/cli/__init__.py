"""The command line: one short file for each verb. Help imports click, and no verb, so it is quick."""

from __future__ import annotations

import atexit
import gc
import os
from typing import Any, Final

import click

from ais_prompt import __version__
from ais_prompt.cli.streams import safe_output
from ais_prompt.extension import REINSTALL, Extension, VerbEntry, all_of, import_object, missing_extension

EPILOG = """\b
Exit codes: 0 done · 1 a gate failed (too many failures, other prompts) ·
2 the config or the command line is wrong ·
3 a model, server or disk could not be used ·
4 paused: a budget or quota is used up · 70 a bug ·
130 interrupted · 143 terminated. After 4, 130 and 143, -r resumes the run."""


_CORE: Final = Extension(
    verbs={
        "init": VerbEntry("Ask", "init:init", "Write a config from the answers to four questions."),
        "run": VerbEntry("Ask", "run:run", "Ask the models, score the answers, report."),
        "score": VerbEntry("Ask", "score:score", "Score stored answers."),
        "check": VerbEntry("Look", "check:check", "Find every fault of a config."),
        "view-prompt": VerbEntry("Look", "view_prompt:view_prompt", "Show prompts exactly as they are sent."),
        "list": VerbEntry("Look", "listing:list_parts", "List configs, parts and providers."),
        "view": VerbEntry("Look", "view:view", "Show the report of a run in the browser."),
        "compare": VerbEntry("Compare", "compare:compare", "Compare two runs: what changed, and why."),
        "baseline": VerbEntry("Compare", "compare:baseline", "Write what later runs are held against."),
        "export": VerbEntry("Others", "view:export", "Write results in the form of another program."),
        "completion": VerbEntry("Others", "completion:completion", "Print the completion script of a shell."),
    }
).at(__name__)
PURPOSES: Final = ("Ask", "Look", "Compare", "Others")
VERBS: Final[dict[str, VerbEntry]] = {**_CORE.verbs, **all_of("verbs")}
"""Name → verb. Only the verb that runs is imported."""

MEANT: Final[dict[str, str]] = {
    **dict.fromkeys(("evaluate", "test", "infer", "ask", "start", "benchmark", "bench"), "run"),
    **dict.fromkeys(("validate", "lint"), "check"),
    **dict.fromkeys(("report", "show", "open", "ui", "results"), "view"),
    **dict.fromkeys(("prompt", "prompts", "preview"), "view-prompt"),
    **dict.fromkeys(("new", "create", "setup"), "init"),
    "resume": "run CONFIG -r",
    **all_of("meant"),
}
"""A command as others call it → the verb."""

# A start makes objects that stay. By default Python looks for garbage after each 700 of them: a twentieth of the time.
gc.set_threshold(100_000, 50, 50)
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
        """Import all verbs, by name; those of installed packages too."""
        return {name: _verb(verb) for name, verb in _with_installed().items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all verbs."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a verb; None if there is none of this name."""
        return _verb(VERBS[cmd_name]) if cmd_name in VERBS else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take a command line without a verb, as others have it, as one of ``run``; ``help VERB`` is an option."""
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
        if verb := _with_installed().get(word):
            return word, _verb(verb), args[1:]
        from ais_prompt.steps import first_answer
        from ais_prompt.utils import advice

        if owner := missing_extension(word):
            raise click.UsageError(f"The extension {owner!r} has {word!r}, and is not here: {REINSTALL}", ctx)
        meant = MEANT.get(word)
        foreign = first_answer("foreign_name", "command", word, verbs)
        fix = f"did you mean {meant!r}?" if meant else foreign.fix if foreign else advice(word, verbs)
        raise click.UsageError(f"There is no command {word!r}: {fix}", ctx)

    def _runs(self, ctx: click.Context, word: str) -> bool:
        """Return whether a command line that begins so is one of ``run``: with a config, or an option of it."""
        if word in VERBS:
            return False
        if not word.startswith("-"):
            from ais_prompt.cli.verb import is_config
            from ais_prompt.steps import first_answer

            return is_config(word) and first_answer("foreign_name", "command", word, list(VERBS)) is None
        if any(word in option.opts for option in self.get_params(ctx)):
            return False
        from ais_prompt.cli.habits import is_known_elsewhere

        name, run = word.partition("=")[0], _verb(VERBS["run"])
        return is_known_elsewhere(word, run) or any(name in option.opts for option in run.params)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Show the verbs by what they are for; below ``run`` its modes."""
        from ais_prompt.steps import extensions

        known = _with_installed()
        modes = {f"run -m {name}": mode.task for one in extensions() for name, mode in one.modes.items() if mode.task}
        width = max(map(len, known))
        for purpose in PURPOSES:
            lines: dict[str, str] = {}
            for name, verb in known.items():
                if verb.purpose == purpose:
                    lines[name] = verb.line
                    lines |= modes if name == "run" else {}
            with formatter.section(purpose):
                formatter.write_dl([(f"{name:<{width}}", line) for name, line in lines.items()])


def _verb(verb: VerbEntry) -> click.Command:
    command: click.Command = import_object(verb.home)
    return command


def _with_installed() -> dict[str, VerbEntry]:
    """Return all verbs by name; those of installed packages last."""
    from ais_prompt.steps import installed_extensions

    brought = {name: verb for one in installed_extensions() for name, verb in one.verbs.items()}
    return VERBS | {name: verb for name, verb in brought.items() if name not in VERBS}


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
