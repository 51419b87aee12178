"""The options that name a config, the same for all verbs; among them those of extensions.

A command knows which of its words name the config, so that it can be shown again with other options.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from ais_prompt.cli.brought import BROUGHT, Command, given_options
from ais_prompt.cli.completion import complete_config, complete_name
from ais_prompt.cli.verb import CODE_EXECUTION as ALLOW_CODE_EXECUTION
from ais_prompt.cli.verb import CONFIG_DIR, GIVEN, SPREAD
from ais_prompt.steps import brought_options, steps

if TYPE_CHECKING:
    from ais_prompt.plan import (
        DataFile,
        HfType,
        SampleOption,
        Source,
    )


def _only_once(ctx: click.Context, parameter: click.Parameter, values: tuple[Any, ...]) -> Any:
    """Return the value of an option that may be given once; click would drop all but the last.

    Raises:
        click.BadParameter: it is given several times.
    """
    if len(values) > 1:
        what = f"it is given {len(values)} times; give it once, or write a config with several datasets"
        raise click.BadParameter(what, ctx, parameter)
    return values[0] if values else None


ONCE: Final[Mapping[str, Any]] = {"multiple": True, "callback": _only_once}
"""Arguments of `click.option` for an option that is refused if it is given several times."""
DATA_OPTIONS: Final = (
    click.option("--data", metavar="FILE", help="A file with your questions: CSV, Excel, JSONL, …", **ONCE),
    click.option(
        "--prompt",
        metavar="TEXT",
        help='With --data: "Translate: {question}" (default: the column of the question).',
        **ONCE,
    ),
    click.option(
        "--answer", metavar="COLUMN", help="With --data: the column of the right answer (default: by name).", **ONCE
    ),
    click.option(
        "--postprocessor",
        metavar="NAME",
        help="With --data: extracts the answer; none scores the whole text.",
        **ONCE,
    ),
    click.option("--evaluator", metavar="NAME", help="With --data: compares the answer with the right one.", **ONCE),
    click.option(
        "--few-shot",
        type=click.IntRange(1),
        metavar="N",
        help="With --data: show N other rows before each question.",
        **ONCE,
    ),
)
"""The options of a file with questions; the first names it."""
DATA_NAMES: Final = ("data", "prompt", "answer", "postprocessor", "evaluator", "few_shot")
"""The names of these options in a command."""

_CONFIG_OPTIONS = (
    click.argument("config", required=False, metavar="[CONFIG]", shell_complete=complete_config),
    click.option(
        "--url",
        "urls",
        multiple=True,
        metavar="URL",
        help="A server, such as http://127.0.0.1:8000/v1, or a provider. Repeat it for replicas.",
    ),
    click.option("--model", metavar="NAME", help="With --url: the model (default: its only one)."),
    *DATA_OPTIONS,
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
    click.option("--hf-path", metavar="PATH", help="A local model, in place of a model config: a folder or hub id."),
    click.option(
        "--hf-type", type=click.Choice(["chat", "base"]), default="chat", help="With --hf-path (default: chat)."
    ),
    click.option(
        "--set", "overrides", multiple=True, metavar="PATH=VALUE", help="Change one value: models.0.max_out_len=64."
    ),
    click.option(
        "--control",
        metavar="KIND[=COLUMN,…]",
        help="Spoil the questions: blank or swap columns, or shuffle options. A score above chance needs no reading.",
    ),
    CONFIG_DIR,
    click.option("--summarizer", metavar="NAME", shell_complete=complete_name, help="The config of the summary."),
    click.option(
        "--dataset-num-runs",
        type=click.IntRange(1, 10_000),
        metavar="N",
        help="Ask every question N times (n of a dataset).",
    ),
    click.option("--hf-num-gpus", type=click.IntRange(min=0), metavar="N", help="With --hf-path: spread it over GPUs."),
    *brought_options("config").values(),
    click.option("--debug", is_flag=True, help="Show the traceback of an error."),
)
CONFIG_OPTIONS = (
    *("config", "models", "datasets", "urls", "model", "hf_path", "hf_type", "overrides", "control", "debug"),
    *("summarizer", "dataset_num_runs", "hf_num_gpus"),
    *DATA_NAMES,
    *BROUGHT,
)
"""The names of these options in a command."""
CONFIG_NAMES = {*CONFIG_OPTIONS, "config_dir"} - {"debug"}
"""The parameters that say which config a command means."""
SOURCE_NAMES = CONFIG_NAMES | {"num_prompts", "work_dir", "allow_code_execution"}
"""The parameters that say which config a command means, and how it runs."""
_WRITTEN = (str, list, bool)
"""The types of a value that was given, before click converts it."""
MODEL_AND_DATA: Final = {
    "Model and data": ("--url", "--model", "--data", "--prompt", "--models", "--datasets", "--set"),
}
"""The options of a config that ``--help`` shows."""
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
        help="Only the first N questions of each, which are no random sample: see --sample.",
    ),
    click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are made (default: the config's)."),
    CODE_EXECUTION,
)


_SAMPLE_OPTIONS: Final = (
    click.option(
        "--sample",
        "sample_size",
        metavar="N|±POINTS",
        help="Draw N questions at random, or as many as an interval of ±POINTS needs. ± is then that of all questions.",
    ),
    click.option(
        "--sample-by",
        metavar="COLUMN",
        help="With --sample: each value of the column gets its part of the questions, and at least one.",
    ),
    click.option(
        "--sample-seed", type=click.IntRange(min=0), metavar="N", help="With --sample: other questions (default: 0)."
    ),
)
SAMPLE_NAMES: Final = ("sample_size", "sample_by", "sample_seed")
"""The names of these options in a command."""


def sample_options(command: Command) -> Command:
    """Add the options of a random sample to a command that asks questions; `source` reads them."""
    return _with(_SAMPLE_OPTIONS, command)


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
    **others: Any,
) -> Source:
    """Return the source that the options name; ``others`` are further ones of `CONFIG_OPTIONS` and `SAMPLE_NAMES`.

    Raises:
        ConfigError: an option describes the file of ``--data`` or the draw of ``--sample``, which is not given; or an
            extension refuses its options.
    """
    from ais_prompt.plan import Source

    brought = given_options(others)
    others = {name: value for name, value in others.items() if name not in BROUGHT}
    drawn = [others.pop(name, None) for name in SAMPLE_NAMES]
    named = Source(
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
        data=_data_file({name: others.pop(name) for name in DATA_NAMES}),
        sample=_sample(*drawn),
        options=brought,
        **others,
    )
    for complete in steps("source") if brought else ():
        named = complete(named)
    return named


def _data_file(values: Mapping[str, Any]) -> DataFile | None:
    """Return the file that ``--data`` names."""
    from ais_prompt.errors import ConfigError
    from ais_prompt.plan import DataFile

    given = {name: value for name, value in values.items() if value is not None}
    path = given.pop("data", None)
    if path is not None:
        return DataFile(path, **given)
    if given:
        option = f"--{next(iter(given)).replace('_', '-')}"
        fix = "add --data FILE; in a config it is in infer_cfg or eval_cfg of the dataset"
        raise ConfigError(f"{option} describes the file of --data", where=option, fix=fix)
    return None


def _sample(size: str | None, by: str | None, seed: int | None) -> SampleOption | None:
    """Return what ``--sample`` says; None without it."""
    from ais_prompt.errors import ConfigError
    from ais_prompt.plan import SampleOption

    if size is not None:
        return SampleOption(size, by, seed or 0)
    if by is not None or seed is not None:
        option = "--sample-by" if by is not None else "--sample-seed"
        raise ConfigError(f"{option} is about the questions that --sample draws", where=option, fix="add --sample N")
    return None


def given_words(ctx: click.Context, names: Container[str], *, without: re.Pattern[str] | None = None) -> list[str]:
    """Return the arguments of a command as they were given, the config first and each option by its long name.

    Args:
        ctx: of the command.
        names: the parameters to return.
        without: matches the values to leave out of options that can be repeated.
    """
    given: Mapping[str, Any]
    given, _, _ = ctx.command.make_parser(ctx).parse_args(list(ctx.meta[GIVEN]))
    words: list[str] = []
    for parameter in ctx.command.get_params(ctx):
        value, option = given.get(parameter.name or ""), max(parameter.opts, key=len)
        if parameter.name not in names or not isinstance(value, _WRITTEN):
            continue
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif option == ALLOW_CODE_EXECUTION:
            words.append(f"{option}=unsafe" if value == "unsafe" else option)
        elif isinstance(value, bool):
            words.append(option)
        elif isinstance(value, str):
            words += [option, value]
        else:
            kept = [one for one in value if without is None or not without.match(one)]
            if option in SPREAD:
                words += [option, *kept]
            else:
                words += [word for one in kept for word in (option, one)]
    return words


def shown_command(words: Sequence[str] | None = None) -> str:
    """Return a command line of these words, or the present one, for people; secrets are shown as ``***``."""
    from ais_prompt.config import redacted_override

    return shlex.join(["aisprompt", *map(redacted_override, sys.argv[1:] if words is None else words)])
