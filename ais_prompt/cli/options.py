"""The options that name a config, the same for all verbs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from ais_prompt.cli.completion import complete_config, complete_name
from ais_prompt.cli.peer_options import PEER_NAMES, PEER_OPTIONS, peer_arguments

if TYPE_CHECKING:
    from ais_prompt.plan.named_model import HfType
    from ais_prompt.plan.source import Source

Command = TypeVar("Command", bound=Callable[..., Any])


_CONFIG_OPTIONS = (
    click.argument("config", required=False, metavar="[CONFIG]", shell_complete=complete_config),
    click.option(
        "--models",
        multiple=True,
        metavar="NAME…",
        shell_complete=complete_name,
        help="Model configs by name; see `aisprompt list`.",
    ),
    click.option(
        "--datasets",
        multiple=True,
        metavar="NAME…",
        shell_complete=complete_name,
        help="Dataset configs by name or pattern, or benchmarks: gsm8k is gsm8k_gen.",
    ),
    click.option(
        "--url",
        "urls",
        multiple=True,
        metavar="URL",
        help="A server, in place of a model config: http://127.0.0.1:8000/v1, or a provider. Repeat it for replicas.",
    ),
    click.option("--model", metavar="NAME", help="With --url: the model (default: the only one that it serves)."),
    click.option("--hf-path", metavar="PATH", help="A local model, in place of a model config: a folder or hub id."),
    click.option(
        "--hf-type", type=click.Choice(["chat", "base"]), default="chat", help="With --hf-path (default: chat)."
    ),
    click.option(
        "--set", "overrides", multiple=True, metavar="PATH=VALUE", help="Change one value: models.0.max_out_len=64."
    ),
    *PEER_OPTIONS,
    click.option("--debug", is_flag=True, help="Show the traceback of an error."),
)
CONFIG_OPTIONS = (
    *("config", "models", "datasets", "urls", "model", "hf_path", "hf_type", "overrides", "debug"),
    *PEER_NAMES,
)
"""The names of these options in a command."""
CODE_EXECUTION = click.option(
    "--allow-code-execution",
    type=click.Choice(["sandboxed", "unsafe"]),
    callback=lambda _, __, value: value if value == "unsafe" else value is not None,
    metavar="[=unsafe]",
    help="Let evaluators run programs that a model wrote, in a sandbox; =unsafe also where there is none.",
)
_RUN_OPTIONS = (
    click.option(
        "--num-prompts",
        "--limit",
        "num_prompts",
        type=click.IntRange(min=1),
        metavar="N",
        help="Only the first N questions of each.",
    ),
    click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are made (default: the config's)."),
    CODE_EXECUTION,
)


def source_options(command: Command) -> Command:
    """Add the options of a config and of a run to a command; `source` makes a `Source` of them."""
    return _with((*_CONFIG_OPTIONS, *_RUN_OPTIONS), command)


def config_options(command: Command) -> Command:
    """Add only those of a config to a command; `source` makes a `Source` of them."""
    return _with(_CONFIG_OPTIONS, command)


def _with(options: Sequence[Callable[[Command], Command]], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def source(
    config: str | None,
    models: tuple[str, ...],
    datasets: tuple[str, ...],
    urls: tuple[str, ...],
    model: str | None,
    hf_path: str | None,
    hf_type: HfType,
    overrides: tuple[str, ...],
    debug: bool,  # noqa: ARG001  # read by `Verb`
    num_prompts: int | None = None,
    work_dir: str | None = None,
    allow_code_execution: bool | Literal["unsafe"] = False,
    cache: str | None = None,
    **peer: Any,
) -> Source:
    """Return the source that the options name; ``peer`` are those of `PEER_NAMES`."""
    from ais_prompt.plan.source import Source

    return Source(
        config,
        models,
        datasets,
        overrides,
        work_dir,
        num_prompts,
        allow_code_execution,
        cache=cache,
        urls=urls,
        model=model,
        hf_path=hf_path,
        hf_type=hf_type,
        **peer,
    )


def as_command(
    verb: str,
    config: str | None,
    models: tuple[str, ...] = (),
    datasets: tuple[str, ...] = (),
    urls: tuple[str, ...] = (),
    model: str | None = None,
    hf_path: str | None = None,
    hf_type: HfType = "chat",
    overrides: tuple[str, ...] = (),
    debug: bool = False,  # noqa: ARG001
    num_prompts: int | None = None,
    work_dir: str | None = None,
    allow_code_execution: bool | Literal["unsafe"] = False,
    **peer: Any,
) -> str:
    """Return the command line of another verb with the same options; secrets are shown as ``***``."""
    from ais_prompt.config.redact import redacted_override
    from ais_prompt.models.transport.address import public_address

    parts = ["aisprompt", verb, *filter(None, [config]), *_given("--models", *models), *_given("--datasets", *datasets)]
    for url in urls:
        parts += _given("--url", public_address(url))
    parts += _given("--model", model)
    parts += _given("--hf-path", hf_path)
    parts += _given("--hf-type", hf_type if hf_path and hf_type != "chat" else None)
    parts += peer_arguments(peer)
    for override in overrides:
        parts += _given("--set", redacted_override(override))
    parts += _given("--num-prompts", num_prompts)
    parts += _given("-w", work_dir)
    parts += code_execution_option(allow_code_execution)
    return shlex.join(parts)


def _given(option: str, *values: object) -> list[str]:
    """Return an option and its values; nothing if no value is given."""
    given = [str(value) for value in values if value]
    return [option, *given] if given else []


def code_execution_option(allowed: bool | Literal["unsafe"]) -> list[str]:
    """Return the option that allows to run programs, as it was given."""
    return ["--allow-code-execution" + "=unsafe" * (allowed == "unsafe")] if allowed else []
