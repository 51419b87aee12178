"""The options of OpenCompass and AISBench that verbs have here."""

from __future__ import annotations

from typing import Final

import click

from ais_prompt.cli.verb import folders_option
from ais_prompt.extensions.peers.peer_packages import PEER_FOLDERS

PEER_PATH: Final = folders_option(
    "--peer-path", PEER_FOLDERS, "A checkout or unpacked wheel of OpenCompass or AISBench, whose code the config uses."
)
CUSTOM_DATASET_PATH: Final = click.option(
    "--custom-dataset-path", metavar="FILE", help="--data as in OpenCompass: its prompts and scores."
)
HF: Final = click.option(
    "--hf", is_flag=True, help="Run the models of vLLM and LMDeploy in a config of OpenCompass with transformers."
)
ACCELERATOR: Final = click.option(
    "--accelerator",
    type=click.Choice(["vllm", "lmdeploy"]),
    help="Start a server of this kind for models that transformers would load; also -a.",
)
PEER_SCORES: Final = click.option(
    "--peer-scores", is_flag=True, help="Score a config of OpenCompass or AISBench with their rules and code."
)
DUMP_EVAL_DETAILS: Final = click.option(
    "--dump-eval-details", is_flag=True, expose_value=False, hidden=True, help="Accepted: details are always kept."
)
