"""Options for configs of OpenCompass and AISBench, the same for all verbs."""

from __future__ import annotations

from typing import Final

import click

from ais_prompt.cli.completion import complete_name
from ais_prompt.cli.peer_folders import CONFIG_DIR, PEER_PATH

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
