"""Read command lines as people of OpenCompass and AISBench write them: what an option becomes or what replaces it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePath
from typing import Any, Final

import click

from ais_prompt.extension import REINSTALL, missing_extension

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
    "--max-workers-per-gpu": "all tasks share one engine; a local model is loaded once",
    "--merge-ds": "datasets of one model always share the engine; under load each is measured by itself",
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
HABITS: Final = {
    "--temperature": "--set models.0.generation_kwargs.temperature=0.7",
    "--top-p": "--set models.0.generation_kwargs.top_p=0.9",
    "--top-k": "--set models.0.generation_kwargs.top_k=20",
    **dict.fromkeys(("--max-tokens", "--max-new-tokens", "--max-gen-toks"), "--set models.0.max_out_len=512"),
    "--seed": "--set models.0.seed=1",
    **dict.fromkeys(
        ("--concurrency", "--num-concurrent", "--max-concurrency", "--max-connections", "--num-workers", "--workers"),
        "--set models.0.max_concurrency=16",
    ),
    **dict.fromkeys(
        ("--api-key", "--key"), "export OPENAI_API_KEY=…, or name another variable: --set models.0.api_key=NAME"
    ),
    **dict.fromkeys(("--base-url", "--api-base", "--endpoint", "--server", "--host"), "--url http://…/v1"),
    **dict.fromkeys(("--dataset", "--task", "--tasks", "--benchmark", "--eval"), "--datasets NAME…, or --data FILE"),
    **dict.fromkeys(("--input", "--file", "--questions"), "--data FILE"),
    **dict.fromkeys(("--config", "-c"), "the config needs no option: aisprompt run eval.py"),
    **dict.fromkeys(("--resume", "--continue"), "-r goes on with the latest run"),
    **dict.fromkeys(("--output", "--output-dir", "--output-path", "--out", "-o"), "-w DIR for the run folders"),
    **dict.fromkeys(
        ("--num-fewshot", "--fewshot", "--num-shots", "--shots"), "--few-shot N with --data; else a retriever"
    ),
    **dict.fromkeys(("--num-samples", "--max-samples", "--samples", "-n"), "--num-prompts N"),
    **dict.fromkeys(("--system", "--system-prompt"), "write it into --prompt, or as a turn of SYSTEM into a config"),
    **dict.fromkeys(("--model-args", "--model-name"), "--url http://…/v1 --model NAME, or --hf-path PATH"),
    **dict.fromkeys(
        ("--metric", "--metrics", "--scorer"), "--evaluator NAME with --data; else evaluator in the config"
    ),
    "--no-cache": "no answers are taken from earlier runs without --cache or -r",
    "--provider": "--url NAME: openai, deepseek, … (`aisprompt list providers`)",
}
"""An option as other programs or newcomers call it → what to do."""
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
_VALUES: Final = {
    "--batch-size": "models.0.batch_size",
    "--custom-dataset-data-type": "datasets.0.data_type",
    "--custom-dataset-infer-method": "datasets.0.infer_method",
    "--custom-dataset-meta-path": "datasets.0.meta_path",
    "--max-out-len": "models.0.max_out_len",
    "--max-tokens": "models.0.max_out_len",
    "--temperature": "models.0.generation_kwargs.temperature",
    "--top-p": "models.0.generation_kwargs.top_p",
    "--seed": "models.0.seed",
    "--max-seq-len": "models.0.max_seq_len",
    "--tokenizer-path": "models.0.tokenizer_path",
}
_LISTS: Final = {"--stop-words": "models.0.stop_words"}
_DICTS: Final = {
    "--generation-kwargs": "models.0.generation_kwargs",
    "--model-kwargs": "models.0.model_kwargs",
    "--tokenizer-kwargs": "models.0.tokenizer_kwargs",
}
_PLACES: Final = {**_VALUES, **_LISTS, **_DICTS}
"""Option for the model or dataset that the command line describes → its place in the config.

Options of `_LISTS` take all words up to the next option, those of `_DICTS` as ``NAME=VALUE``.
"""
_DESCRIBED_BY: Final = {
    "--hf-path": "models.0.",
    "--url": "models.0.",
    "--custom-dataset-path": "datasets.0.",
}
"""Option that describes a model or dataset → its place in the config."""


def answer_to(option: str) -> str | None:
    """Return what to do in place of an option of other programs; None for other options."""
    name = option.partition("=")[0]
    return ANSWERS.get(name) or HABITS.get(name)


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


def is_peer_option(word: str) -> bool:
    """Return whether a word of a command line is an option of other programs that is none here."""
    name = word.partition("=")[0]
    return name in ANSWERS or name in HABITS or name in SHORT


class Mode(click.Choice):  # type: ignore[type-arg]  # generic only from click 8.2 on
    """A mode of a run; those of AISBench that are none here are translated."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the mode.

        Raises:
            click.UsageError: there is no such mode.
        """
        if owner := missing_extension(f"-m {value}"):
            self.fail(f"the extension {owner!r} has {value!r}, and is not here: {REINSTALL}", param, ctx)
        return super().convert(MODES.get(value, value), param, ctx)


def as_written_here(args: Sequence[str], command: click.Command) -> list[str]:
    """Return a command line with the options of the peers in the words of this program.

    - A flag may have a value: ``--dump-eval-details False``.
    - Options for the model of ``--hf-path`` or ``--url``, or the file of ``--custom-dataset-path``, become ``--set``.
    - A short name that the verb does not have becomes the long one.

    Args:
        args: the words behind the verb.
        command: the verb. One that runs no config is given back its words.

    Raises:
        click.UsageError: an option cannot be used so.
    """
    options = [option for option in command.params if isinstance(option, click.Option)]
    names = {name for option in options for name in option.opts}
    if "--models" not in names:
        return list(args)
    flags = {name for option in options if option.is_flag for name in option.opts}
    given = {word.partition("=")[0] for word in args}
    described = tuple(place for option, place in _DESCRIBED_BY.items() if option in given)
    written: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word == "-q" and rest and rest[0] in _QUOTA_TYPES:
            raise click.UsageError(f"-q is --quiet here, and has no value {rest[0]!r}; for --quotatype {_SLURM}")
        if name in SHORT and name not in names:
            name = SHORT[name]
        if name in flags and (truth := value if equals else "".join(rest[:1])).lower() in _TRUTH:
            del rest[: not equals]
            written += [name] * _TRUTH[truth.lower()]
        elif name not in names and described and _PLACES.get(name, "").startswith(described):
            words = [value] if equals else _values(name, rest)
            del rest[: 0 if equals else len(words)]
            place = _PLACES[name]
            if "--url" in given:
                place = place.replace("batch_size", "max_concurrency")
            written += ["--set", f"{place}={_setting(name, words)}"]
        else:
            written.append(name + equals + value)
    return written


def _values(option: str, rest: Sequence[str]) -> list[str]:
    """Return the values of an option: the next word, or all up to the next option."""
    return list(rest[:1]) if option in _VALUES else list(takewhile(lambda word: not word.startswith("-"), rest))


def _setting(option: str, words: Sequence[str]) -> str:
    """Return the value for ``--set``.

    Raises:
        click.UsageError: there is none, or a word is not ``NAME=VALUE``.
    """
    from ais_prompt.config import parse_literal

    if not words:
        raise click.UsageError(f"Option {option!r} requires a value.")
    if option in _VALUES:
        return words[0]
    if option in _LISTS:
        return repr(list(words))
    pairs = [word.partition("=") for word in words]
    if unclear := next((word for word, (_, equals, _) in zip(words, pairs, strict=True) if not equals), None):
        raise click.UsageError(f"{option} takes NAME=VALUE, and {unclear!r} has no =")
    return repr({name: _TRUTH.get(value, parse_literal(value)) for name, _, value in pairs})
