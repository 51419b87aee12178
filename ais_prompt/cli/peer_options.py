"""Options for configs of OpenCompass and AISBench, the same for all verbs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from ais_prompt.cli.completion import complete_name

_FOLDERS: Final = {"--peer-path": "AISPROMPT_PEER_PATH", "--config-dir": "AISPROMPT_CONFIG_DIR"}
"""Option with folders → the environment variable that hands them to all processes of a run."""


def _folders(option: str, text: str) -> Callable[..., Any]:
    def hand_on(_: click.Context, __: click.Parameter, folders: tuple[str, ...]) -> None:
        if folders:
            os.environ[_FOLDERS[option]] = os.pathsep.join(folders)

    return click.option(
        option,
        multiple=True,
        metavar="DIR",
        expose_value=False,
        callback=hand_on,
        type=click.Path(exists=True, file_okay=False),
        help=text,
    )


PEER_PATH: Final = _folders(
    "--peer-path", "A checkout or unpacked wheel of OpenCompass or AISBench, whose code the config uses."
)
CONFIG_DIR: Final = _folders(
    "--config-dir", "A folder with datasets/, models/ and summarizers/, whose configs can be named."
)
PEER_SCORES: Final = click.option(
    "--peer-scores", is_flag=True, help="Score a config of OpenCompass or AISBench with their rules and code."
)
PEER_OPTIONS: Final = (
    PEER_PATH,
    CONFIG_DIR,
    click.option("--summarizer", metavar="NAME", shell_complete=complete_name, help="The config of the summary."),
    click.option("--custom-dataset-path", metavar="FILE", help="A JSONL or CSV file with questions, as a dataset."),
    click.option(
        "--dataset-num-runs",
        type=click.IntRange(1, 10_000),
        metavar="N",
        help="Ask every question N times (n of a dataset).",
    ),
    click.option("--hf-num-gpus", type=click.IntRange(min=0), metavar="N", help="With --hf-path: spread it over GPUs."),
    click.option(
        "--hf", is_flag=True, help="Run the models of vLLM and LMDeploy in a config of OpenCompass with transformers."
    ),
    click.option(
        "--accelerator",
        type=click.Choice(["vllm", "lmdeploy"]),
        help="Start a server of this kind for models that transformers would load; also -a.",
    ),
    PEER_SCORES,
    click.option("--dump-eval-details", is_flag=True, expose_value=False, help="Accepted: details are always kept."),
)
PEER_NAMES: Final = (
    "summarizer",
    "custom_dataset_path",
    "dataset_num_runs",
    "hf_num_gpus",
    "hf",
    "accelerator",
    "peer_scores",
)
"""The names of these options in a command."""


def peer_arguments(values: Mapping[str, Any]) -> list[str]:
    """Return these options as they are written on a command line; those without a value are left out."""
    written: list[str] = []
    for option, variable in _FOLDERS.items():
        for folder in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            written += [option, folder]
    for name in PEER_NAMES:
        value = values.get(name)
        if value:
            written += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return written
