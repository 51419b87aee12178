"""Command lines as people of OpenCompass and AISBench write them.

Verbs have some of their options here too. Another option becomes one of ours, or an error says what replaces it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Final

import click

from ais_prompt.cli.habits import MODELS, AsSetting, with_settings
from ais_prompt.cli.verb import echo, folders_option, is_config
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


_SLURM: Final = "see docs/runners.md: --set runner.partition=…, runner.qos=…"
_STATION: Final = "results stay in their run folder; aisprompt compare, baseline and import read it"
_PEFT: Final = "merge the adapter into the weights, or serve both with vLLM and give --url"
ANSWERS: Final = {
    "--aliyun-cfg": "start aisprompt in the job itself",
    "--analysis-repeat": "an answer that repeats itself is cut: the summary counts truncated ones",
    "--batch-size": "--set models.0.batch_size=16",
    "--chat-template": "the template of the tokenizer is used; see meta_template in docs/meta-templates.md",
    "--config-verbose": "aisprompt migrate shows what a config means",
    **dict.fromkeys(
        ("--custom-dataset-data-type", "--custom-dataset-infer-method", "--custom-dataset-meta-path"),
        "it goes with --custom-dataset-path",
    ),
    "--dlc": "start aisprompt in the job itself",
    "--dump-extract-rate": "the summary always counts answers that could not be read",
    "--dump-only-message-path": "aisprompt view-prompt --json writes the messages",
    "--dump-res-length": "token counts of answers are always kept in predictions/",
    "--generation-kwargs": "--set \"models.0.generation_kwargs={'temperature': 0.7}\"",
    "--lark": "call your own command when aisprompt ends; the exit code says how",
    "--max-out-len": "--set models.0.max_out_len=512",
    "--max-partition-size": "one engine asks all tasks; --runner splits them into shards",
    "--max-seq-len": "--set models.0.max_seq_len=4096",
    "--min-out-len": "--set \"models.0.generation_kwargs={'min_new_tokens': 1}\"",
    "--model-kwargs": "--set \"models.0.model_kwargs={'device_map': 'auto'}\"",
    "--num-gpus": "--hf-num-gpus",
    "--pad-token-id": "padding is masked, so that no token of it is needed",
    "--partition": _SLURM,
    "--peft-kwargs": _PEFT,
    "--peft-path": _PEFT,
    "--qos": _SLURM,
    "--quotatype": _SLURM,
    "--read-from-station": _STATION,
    "--retry": "set retry of the model: --set models.0.retry=2",
    "--search": "aisprompt list PATTERN… shows the configs with their paths",
    "--slurm": "--runner slurm, with --set runner.num_shards=8 --set runner.partition=…; see docs/runners.md",
    "--station-overwrite": _STATION,
    "--station-path": _STATION,
    "--stop-words": "--set \"models.0.stop_words=['Q:']\"",
    "--tokenizer-kwargs": "--set \"models.0.tokenizer_kwargs={'use_fast': False}\"",
    "--tokenizer-path": "--set models.0.tokenizer_path=PATH",
}
"""An option of the peers that is none here → what to do."""
TAKEN: Final = {
    "--max-workers-per-gpu": "all tasks share one engine; a local model is loaded once",
    "--merge-ds": "datasets of one model always share the engine; under load each is measured by itself",
    "--num-warmups": "only -m perf sends requests before a load",
}
"""An option of the peers that is taken and changes nothing here, with a note → why. `--merge-ds` has no value."""
SHORT: Final = {
    "-a": "--accelerator",
    "-l": "--lark",
    "-p": "--partition",
    "-q": "--quotatype",
    "-s": "--search",
    "-sp": "--station-path",
}
"""The short names of theirs, where a verb here has no option of that name."""
_SUBMISSION: Final = "the judge is asked in the run; aisprompt export RUN --to csv writes a submission"
_HEATMAP: Final = "aisprompt view RUN: the report has the heatmaps of long contexts"
_SUFFIX: Final = "aisprompt lock CONFIG writes the digests of all prompts into a file"
_SAME_WORDS: Final = "leave this word out: aisprompt takes the words behind it"
TOOLS: Final = {
    **dict.fromkeys(("opencompass", "ais_bench", "run", "cfg_run"), _SAME_WORDS),
    "analyze_repeat": "the summary counts truncated answers; aisprompt view RUN shows them",
    "case_analyzer": "aisprompt view RUN, then w for the wrong samples; aisprompt export RUN --to csv writes them all",
    "chatml_format_test": "aisprompt check CONFIG, with chatml_datasets; aisprompt view-prompt CONFIG",
    "collect_code_preds": "programs are scored in the run; aisprompt export RUN --to csv is for another scorer",
    "compare_configs": "aisprompt diff A.py B.py compares the prompts, diff -r the files",
    **dict.fromkeys(
        ("convert_alignmentbench", "convert_alignment_bench", "convert_alignment_bench_to_csv"), _SUBMISSION
    ),
    **dict.fromkeys(("eval_mmbench", "xinan", "gedit"), "this is not here"),
    "herding_coreset_selector": "test_range of reader_cfg chooses rows",
    "list_configs": "aisprompt list PATTERN…",
    "prediction_merger": "aisprompt import RUN joins the parts of an old run, aisprompt merge RUN joins shards",
    "prompt_viewer": "aisprompt view-prompt CONFIG, with -n, -a, -p and -c as there",
    "results_station": "aisprompt baseline RUN -o FILE.json, and --baseline FILE.json of later runs",
    "test_api_model": "aisprompt run --models NAME --datasets demo_addition --num-prompts 1 -v",
    **dict.fromkeys(("tools_needleinahaystack", "viz_needleinahaystack"), _HEATMAP),
    **dict.fromkeys(("update_dataset_suffix", "update_suffix"), _SUFFIX),
    "viz_multi_model": "one config with all models; aisprompt compare RUN RUN for two runs",
}
"""A program or tool of the peers → what to do in its place. `docs/coming-from.md` has the tools too."""
MODES: Final = {"judge": "eval", "infer_judge": "all"}
"""A mode of AISBench that asks a judge and stops → the mode here, which also writes the scores."""

_QUOTA_TYPES: Final = ("auto", "reserved", "spot")
_TRUTH: Final = {"true": True, "false": False}
_SETTINGS: Final = {
    "--batch-size": AsSetting("models.0.batch_size"),
    "--custom-dataset-data-type": AsSetting("datasets.0.data_type"),
    "--custom-dataset-infer-method": AsSetting("datasets.0.infer_method"),
    "--custom-dataset-meta-path": AsSetting("datasets.0.meta_path"),
    "--generation-kwargs": AsSetting("models.0.generation_kwargs", "pairs"),
    "--max-out-len": AsSetting("models.0.max_out_len"),
    "--max-seq-len": AsSetting("models.0.max_seq_len"),
    "--model-kwargs": AsSetting("models.0.model_kwargs", "pairs"),
    "--stop-words": AsSetting("models.0.stop_words", "list"),
    "--tokenizer-kwargs": AsSetting("models.0.tokenizer_kwargs", "pairs"),
    "--tokenizer-path": AsSetting("models.0.tokenizer_path"),
}
"""Option for the model or dataset that the command line describes → its place in the config."""
_BEHIND_URL: Final = {**_SETTINGS, "--batch-size": AsSetting("models.0.max_concurrency")}
_DESCRIBING: Final = {**MODELS, "--custom-dataset-path": "datasets.0."}
_MODE_OPTIONS: Final = {"-m", "--mode"}


def tool_answer(word: str) -> str | None:
    """Return what to do in place of a program, tool or example of the peers: ``list_configs``, ``tools/run.py``.

    Args:
        word: the first of a command line.

    Returns:
        None for any other word, and for a file that is there: it may be a config of this name.
    """
    path = PurePath(word)
    if path.suffix not in ("", ".py") or any(os.path.isfile(name) for name in (word, f"{word}.py")):  # noqa: PTH113  # a long name raises nothing
        return None
    config = f"to run a config, give its path: PATH/{word}.py" if re.fullmatch(r"eval_\w+", word) else None
    return TOOLS.get(path.stem.replace("-", "_"), config)


def as_written_here(args: Sequence[str], command: click.Command) -> list[str]:
    """Return a command line with the options of the peers in the words of this program, for the step ``command_line``.

    - A flag may have a value: ``--dump-eval-details False``.
    - Options for the model of ``--hf-path`` or ``--url``, or the file of ``--custom-dataset-path``, become ``--set``.
    - ``--hf PATH``, a flag there, is ``--hf-path PATH``, unless the word behind it is a config.
    - A short name that the verb does not have becomes the long one.
    - A mode that is none here becomes the one that does its work.
    - An option that changes nothing here is left out, with a note.

    Args:
        args: the words behind the verb.
        command: the verb, which runs a config.

    Raises:
        click.UsageError: an option cannot be used so.
    """
    options = [option for option in command.params if isinstance(option, click.Option)]
    names = {name for option in options for name in option.opts}
    flags = {name for option in options if option.is_flag for name in option.opts}
    modes = _MODE_OPTIONS & names
    written: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word == "-q" and rest and rest[0] in _QUOTA_TYPES:
            raise click.UsageError(f"-q is --quiet here, and has no value {rest[0]!r}; for --quotatype {_SLURM}")
        if name in SHORT and name not in names:
            name = SHORT[name]
        if name in TAKEN and not (name == "--num-warmups" and _measures_load(args)):
            del rest[: 0 if equals or name == "--merge-ds" else 1]
            _note_taken(name, command)
        elif name in flags and (truth := value if equals else "".join(rest[:1])).lower() in _TRUTH:
            del rest[: not equals]
            written += [name] * _TRUTH[truth.lower()]
        elif name in modes and (mode := value if equals else "".join(rest[:1])) in MODES:
            del rest[: not equals]
            written += [name, MODES[mode]]
        elif name == "--hf" and name in flags and (equals or _begins_with_weights(rest)):
            written += ["--hf-path", value if equals else rest.pop(0)]
        else:
            written.append(name + equals + value)
    return with_settings(written, command, _BEHIND_URL if _has(args, "--url") else _SETTINGS, _DESCRIBING)


def _measures_load(args: Sequence[str]) -> bool:
    """Return whether the mode of a command line is one that measures performance."""
    words = [part for word in args for part in word.split("=", 1)]
    return any(word in _MODE_OPTIONS and mode.startswith("perf") for word, mode in pairwise(words))


def _note_taken(name: str, command: click.Command) -> None:
    """Say why an option changes nothing, unless the words are only tried, to find the verb."""
    context = click.get_current_context(silent=True)
    if context is not None and context.command is command:
        echo(f"note: {name} changes nothing here: {TAKEN[name]}", err=True)


def _begins_with_weights(words: Sequence[str]) -> bool:
    return bool(words) and not words[0].startswith("-") and not is_config(words[0])


def _has(args: Sequence[str], option: str) -> bool:
    return any(word.partition("=")[0] == option for word in args)
