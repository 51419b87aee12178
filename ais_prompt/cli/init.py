"""``aisprompt init``: write a config from the answers to four questions."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any, Final

import click

from ais_prompt.cli.options import ONCE
from ais_prompt.cli.verb import Verb, echo

KINDS: Final = ("letter", "letters", "object", "label", "number", "date", "formula", "text", "exact")
"""Names of `ais_prompt.plan.gold_kinds.KINDS`, which `--help` does not load."""
_FUNCTION: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")


@click.command(cls=Verb)
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path), metavar="[FILE]")
@click.option(
    "--model",
    metavar="WHERE",
    help="A server (http://…/v1), a provider, a folder with weights, or a function (my_app.answer).",
)
@click.option("--name", metavar="NAME", help="The model of a server that has several.")
@click.option("--data", metavar="FILE", help="Your questions: CSV, Excel, JSONL, …", **ONCE)
@click.option("--prompt", metavar="TEXT", help='"Translate: {question}" (default: the column of the question).', **ONCE)
@click.option("--answer", metavar="COLUMN", help="The column of the right answer (default: by name).", **ONCE)
@click.option("--kind", type=click.Choice(KINDS), help="What the right answers are; exact: the whole answer.")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def init(
    file: Path | None,
    model: str | None,
    name: str | None,
    data: str | None,
    prompt: str | None,
    answer: str | None,
    kind: Any,
    force: bool,
    debug: bool,  # noqa: ARG001  # read by `Verb`
) -> None:
    """Write a config from the answers to four questions; an option answers one.

    Where is the model? Where are your questions? What are the right answers? What is the name of the config?
    """
    from msgspec.structs import replace

    from ais_prompt.config import render_config
    from ais_prompt.errors import ConfigError
    from ais_prompt.plan import DataFile, describe_file
    from ais_prompt.store import replacing

    where = model or _ask("--model", "Model: a server (http://…/v1), a provider, a folder or a function")
    described = _described(where, name)
    source = DataFile(data or _ask("--data", "Questions: a CSV, Excel, JSONL or Parquet file"), prompt, answer)
    try:
        found = describe_file(source)
    except ConfigError as error:
        if prompt is not None or not error.fix.startswith("--prompt"):
            raise
        echo(f"{error.what}; {error.fix}")
        source = replace(source, prompt=_ask("--prompt", "Question, with {column}"))
        found = describe_file(source)
    for note in found.notes:
        echo(note.what)
    if found.kind is not None:
        kind = kind or _ask("--kind", "Right answers", found.kind, click.Choice(KINDS))
        found = describe_file(replace(source, kind=kind))
    dataset = found.dataset
    path = (file or Path(_ask("FILE", "Config", f"{dataset['abbr']}.py"))).with_suffix(".py")
    if path.exists() and not force:
        raise click.UsageError(f"{path} is there already; --force replaces it.")
    if path.absolute().parent != Path.cwd():
        dataset["path"] = str(Path(dataset["path"]).absolute())
    shown = shlex.quote(str(path))
    header = f'"""{found.sentence}.\n\nRun it: aisprompt run {shown}\n"""\n\n'
    with replacing(path) as stream:
        stream.write(render_config({"models": [described], "datasets": [dataset]}, header).encode())
    echo(f"{path}: written\n\nNext:")
    for purpose, verb in (("find faults", "check"), ("see the prompts", "view-prompt"), ("ask and score", "run")):
        echo(f"  {purpose:<17}aisprompt {verb} {shown}")


def _ask(option: str, question: str, default: str | None = None, kind: click.ParamType[Any] | None = None) -> str:
    """Return the answer to a question, a line of standard input.

    Raises:
        click.UsageError: standard input has ended.
    """
    try:
        answer: str = click.prompt(question, default=default, type=kind)
    except click.Abort:
        raise click.UsageError(f"standard input has no answer; give {option}") from None
    return answer


def _described(where: str, name: str | None) -> dict[str, Any]:
    """Return the config of a model, told by what its place looks like."""
    from ais_prompt.errors import AisPromptError
    from ais_prompt.plan import local_model, served_model

    if not where.isalpha() and "://" not in where:
        is_function = _FUNCTION.fullmatch(where) and not Path(where).exists()
        return {"type": "FunctionModel", "function": where} if is_function else local_model(where, "chat")
    try:
        return served_model([where], name)
    except AisPromptError as error:
        if name is not None or not (where in error.where or "--model" in error.fix):
            raise
        echo(f"{error.what}; {error.fix}")
        return served_model([where], _ask("--name", "Name of the model"))
