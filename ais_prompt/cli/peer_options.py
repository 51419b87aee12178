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
PEER_SCORES: Final = click.option(
    "--peer-scores", is_flag=True, help="Score a config of OpenCompass or AISBench with their rules and code."
)
PEER_OPTIONS: Final = (
    PEER_PATH,
    _folders("--config-dir", "A folder with datasets/, models/ and summarizers/, whose configs can be named."),
    click.option("--summarizer", metavar="NAME", shell_complete=complete_name, help="The config of the summary."),
    click.option("--custom-dataset-path", metavar="FILE", help="A JSONL or CSV file with questions, as a dataset."),
    click.option(
        "--dataset-num-runs",
        type=click.IntRange(min=1),
        metavar="N",
        help="Ask every question N times (n of a dataset).",
    ),
    click.option("--hf-num-gpus", type=click.IntRange(min=0), metavar="N", help="With --hf-path: spread it over GPUs."),
    click.option(
        "--hf", is_flag=True, help="Run the models of vLLM and LMDeploy in a config of OpenCompass with transformers."
    ),
    PEER_SCORES,
    click.option("--dump-eval-details", is_flag=True, expose_value=False, help="Accepted: details are always kept."),
)
PEER_NAMES: Final = ("summarizer", "custom_dataset_path", "dataset_num_runs", "hf_num_gpus", "hf", "peer_scores")
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


_SLURM: Final = "see docs/scale.md: --set runner.partition=…, runner.qos=…"
_STATION: Final = "results stay in their run folder; aisprompt compare, baseline and import read it"
_PEFT: Final = "merge the adapter into the weights, or serve both with vLLM and give --url"
ANSWERS: Final = {
    "--accelerator": "name the model as VLLMwithChatTemplate, or start a server and give --url",
    "--aliyun-cfg": "start aisprompt in the job itself",
    "--analysis-repeat": "aisprompt view shows each answer; same_text of repeated questions counts equal ones",
    "--batch-size": "--set models.0.batch_size=16",
    "--chat-template": "the template of the tokenizer is used; see meta_template in docs/meta-templates.md",
    "--config-verbose": "aisprompt migrate shows what a config means",
    "--custom-dataset-data-type": "it is found from the columns: choices A, B, … or a free answer",
    "--custom-dataset-infer-method": "write a config with PPLInferencer; see docs/inferencers.md",
    "--custom-dataset-meta-path": "call the file like the data, with .meta.json at the end: mine.csv.meta.json",
    "--dlc": "start aisprompt in the job itself",
    "--dump-extract-rate": "the summary always counts answers that could not be read",
    "--dump-only-message-path": "aisprompt view-prompt --json writes the messages",
    "--dump-res-length": "token counts of answers are always kept in predictions/",
    "--generation-kwargs": "--set \"models.0.generation_kwargs={'temperature': 0.7}\"",
    "--lark": "call your own command when aisprompt ends; the exit code says how",
    "--max-out-len": "--set models.0.max_out_len=512",
    "--max-partition-size": "one engine asks all tasks; --runner splits them into shards",
    "--max-seq-len": "--set models.0.max_seq_len=4096",
    "--max-workers-per-gpu": "all tasks share one engine; a local model is loaded once",
    "--merge-ds": "datasets of one model always share the engine",
    "--min-out-len": "--set \"models.0.generation_kwargs={'min_new_tokens': 1}\"",
    "--model-kwargs": "--set \"models.0.model_kwargs={'device_map': 'auto'}\"",
    "--num-gpus": "--hf-num-gpus",
    "--num-warmups": "leave out the first requests in aisprompt view; the speed of a run counts all",
    "--pad-token-id": "padding is masked, so that no token of it is needed",
    "--partition": _SLURM,
    "--peft-kwargs": _PEFT,
    "--peft-path": _PEFT,
    "--pressure": "set request_rate of the model; see docs/api-models.md",
    "--pressure-time": "set request_rate of the model, and --num-prompts; see docs/api-models.md",
    "--qos": _SLURM,
    "--quotatype": _SLURM,
    "--read-from-station": _STATION,
    "--retry": "set retry of the model: --set models.0.retry=2",
    "--search": "aisprompt check --datasets NAME says which file it takes; aisprompt list shows all names",
    "--slurm": "--runner slurm, with --set runner.num_shards=8 --set runner.partition=…; see docs/scale.md",
    "--station-overwrite": _STATION,
    "--station-path": _STATION,
    "--stop-words": "--set \"models.0.stop_words=['Q:']\"",
    "--tokenizer-kwargs": "--set \"models.0.tokenizer_kwargs={'use_fast': False}\"",
    "--tokenizer-path": "--set models.0.tokenizer_path=PATH",
}
"""An option of the peers that is none here → what to do."""
ANSWERS_SHORT: Final = {
    "-a": "--accelerator",
    "-l": "--lark",
    "-p": "--partition",
    "-s": "--search",
}


def answer_to(option: str) -> str | None:
    """Return what to do in place of an option of the peers; None for other options."""
    name = option.partition("=")[0]
    return ANSWERS.get(ANSWERS_SHORT.get(name, name))
