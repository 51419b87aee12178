"""``aisprompt seal`` and ``aisprompt verify``: a run as evidence that others can verify without its model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, Final

import click

from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.options import option_of, shown_command
from ais_prompt.cli.verb import Verb, echo, hanging, json_option, offer, wants_json
from ais_prompt.config import Options

_WORDS: Final = {True: "OK", False: "DIFFERS", None: "not known"}


@click.command(cls=Verb)
@click.argument("run", shell_complete=complete_run)
@click.option("-o", "output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="The file.")
@click.option(
    "--sign", "key", type=click.Path(path_type=Path), metavar="KEY", help="Sign with this SSH key: ~/.ssh/id_ed25519."
)
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@json_option
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def seal(
    run: str,
    output: Path | None,
    key: Path | None,
    work_dir: str | None,
    debug: bool,  # noqa: ARG001  # read by `Verb`
) -> None:
    """Put a finished run into one file that shows if anything of it is changed.

    It has the config, prompts, answers, keys of requests, scores, versions, a lock of all prompts, and the digests of
    the data, but not the data. Publish the root that is printed: with the file and the data, anybody can verify it.
    """
    from ais_prompt.checks import open_stored
    from ais_prompt.errors import AisPromptError
    from ais_prompt.extensions.evidence.locks.lock_file import write_prompt_lock
    from ais_prompt.extensions.evidence.locks.prompt_lock import make_prompt_lock
    from ais_prompt.extensions.evidence.seal_file import LOCK, write_seal
    from ais_prompt.utils import temporary_folder

    plan, folder = open_stored(run, Options(work_dir=work_dir, allow_code_execution="unsafe"))  # nothing is executed
    target = output or Path(f"{plan.spec.name}-{folder.root.name}.seal")
    with temporary_folder() as place:
        lock = Path(place, LOCK)
        try:
            write_prompt_lock(lock, make_prompt_lock(plan))
        except AisPromptError as error:
            echo(f"Note: sealed without a lock of the prompts: {error.what}", err=True)
        sealed = write_seal(folder, target, lock if lock.exists() else None, key)
    offer(file=str(target), root=sealed.root, entries=sealed.leaves, signed=key is not None)
    if not wants_json():
        echo(f"{target}: {sealed.leaves:,} entries, {target.stat().st_size / 1000:,.0f} kB")
        echo(f"Root: {sealed.root}")
        echo(f"Publish the root. To verify: aisprompt verify {shlex.quote(str(target))} --root ROOT")


@click.command(cls=Verb)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--root", metavar="HEX", help="The root that was published.")
@click.option(
    "--signer", type=click.Path(path_type=Path), metavar="KEY.pub", help="The public key that must have signed."
)
@click.option("--data", metavar="DIR", help="Where the data are that the config names by relative paths.")
@click.option("--config", metavar="CONFIG", help="Use this config, which you trust, instead of the sealed one.")
@click.option(
    "--ask", type=click.IntRange(min=1), metavar="N", help="Ask the model of --config N random samples again."
)
@option_of(Options, "allow_code_execution")
@json_option
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def verify(
    file: Path,
    root: str | None,
    signer: Path | None,
    data: str | None,
    config: str | None,
    ask: int | None,
    allow_code_execution: Any,
    debug: bool,  # noqa: ARG001  # read by `Verb`
) -> None:
    """Verify a sealed run. Exit code 1 if anything differs from what was sealed.

    The bytes are compared with the root; every prompt is made again from the data, and every answer is extracted and
    scored again. That needs no model. --ask finds forged answers too: a share f of them with 1 − (1 − f)^N.

    Nothing of the sealed config is executed, and no server of it is asked.
    """
    from msgspec.structs import asdict

    from ais_prompt.extensions.evidence.seal_file import unpack
    from ais_prompt.extensions.evidence.verify import ask_again, verify_content, verify_run
    from ais_prompt.store import RunFolder
    from ais_prompt.utils import temporary_folder

    if ask is not None and config is None:
        raise click.UsageError("--ask needs --config CONFIG: the model to ask, in a config that you trust.")
    if data is not None and config is not None:
        raise click.UsageError("--data is for the sealed config; --config has its own.")
    with temporary_folder() as place:
        folder = RunFolder(Path(place))
        sealed = unpack(file, folder.root)
        overrides = () if data is None else (f"paths_relative_to={str(Path(data).resolve())!r}",)
        options = Options(config, overrides=overrides, allow_code_execution=allow_code_execution)
        found = list(verify_content(sealed, folder.root, root, signer))
        if found[0].holds:
            found += verify_run(folder, options)
            if ask is not None:
                found.append(ask_again(folder, options, ask, shown_command()))
    offer(findings=list(map(asdict, found)))
    if not wants_json():
        for one in found:
            echo(hanging(f"{one.subject:<9}  {_WORDS[one.holds]:<9}  ", one.text))
    if any(one.holds is False for one in found):
        raise click.exceptions.Exit(1)
