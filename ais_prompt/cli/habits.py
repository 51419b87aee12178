"""Read options as other programs and newcomers call them: what they become here, or what replaces them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Final, Literal, NamedTuple

import click

from ais_prompt.steps import first_answer, steps

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
    **dict.fromkeys(
        ("--num-samples", "--max-samples", "--samples", "--requests", "--num-requests", "-n"), "--num-prompts N"
    ),
    **dict.fromkeys(("--function", "--app"), "a function is a model of a config: aisprompt init --model my_app.answer"),
    **dict.fromkeys(("--system", "--system-prompt"), "write it into --prompt, or as a turn of SYSTEM into a config"),
    **dict.fromkeys(("--model-args", "--model-name"), "--url http://…/v1 --model NAME, or --hf-path PATH"),
    **dict.fromkeys(
        ("--metric", "--metrics", "--scorer"), "--evaluator NAME with --data; else evaluator in the config"
    ),
    "--no-cache": "no answers are taken from earlier runs without --cache or -r",
    "--provider": "--url NAME: openai, deepseek, … (`aisprompt list providers`)",
}
"""An option as other programs or newcomers call it → what to do."""


class AsSetting(NamedTuple):
    """An option that becomes ``--set``.

    Attributes:
        place: in the config.
        words: how many words follow: one, or all up to the next option, as a list or as pairs ``NAME=VALUE``.
        meaning: for ``--help``.
    """

    place: str
    words: Literal["one", "list", "pairs"] = "one"
    meaning: str = ""


SETTINGS: Final = {
    name: AsSetting(place, meaning=f"With --url or --hf-path: {meaning}.")
    for name, place, meaning in (
        ("--temperature", "models.0.generation_kwargs.temperature", "how random answers are (default: 0)"),
        ("--max-tokens", "models.0.max_out_len", "most tokens of an answer (default: 256)"),
        ("--top-p", "models.0.generation_kwargs.top_p", "nucleus sampling"),
        ("--seed", "models.0.seed", "the seed of sampling"),
    )
}
"""Option for the model that the command line describes → its place in the config."""
MODELS: Final = {"--hf-path": "models.0.", "--url": "models.0."}
"""Option that describes a model → its place in the config."""
_TRUTH: Final = {"true": True, "false": False}


def advice_on(option: str) -> str | None:
    """Return what to do in place of an option of other programs; None for other options."""
    foreign = first_answer("foreign_name", "option", option, ())
    return foreign.fix if foreign else HABITS.get(option.partition("=")[0])


def is_known_elsewhere(word: str, command: click.Command) -> bool:
    """Return whether a word of a command line is an option of other programs that is none of a verb here."""
    return advice_on(word) is not None or as_written_here([word], command) != [word]


def as_written_here(args: Sequence[str], command: click.Command) -> list[str]:
    """Return a command line with options of other programs in the words of this program.

    Args:
        args: the words behind the verb.
        command: the verb. One that runs no config is given back its words.

    Raises:
        click.UsageError: an option cannot be used so.
    """
    if not any("--models" in option.opts for option in command.params):
        return list(args)
    for rewrite in steps("command_line"):
        args = rewrite(args, command)
    return with_settings(args, command, SETTINGS, MODELS)


def with_settings(
    args: Sequence[str], command: click.Command, settings: Mapping[str, AsSetting], describing: Mapping[str, str]
) -> list[str]:
    """Return a command line in which options for what it describes are ``--set``.

    Args:
        args: the words behind the verb.
        command: the verb.
        settings: the options.
        describing: option that describes a model or dataset → its place in the config.

    Raises:
        click.UsageError: an option has no value, or one that is not ``NAME=VALUE``.
    """
    names = {name for option in command.params for name in option.opts if name not in settings or option.expose_value}
    given = {word.partition("=")[0] for word in args}
    described = tuple(place for option, place in describing.items() if option in given)
    written: list[str] = []
    rest = list(args)
    while rest:
        name, equals, value = (word := rest.pop(0)).partition("=")
        setting = settings.get(name)
        if setting is None or name in names or not described or not setting.place.startswith(described):
            written.append(word)
            continue
        words = [value] if equals else _values(setting, rest)
        del rest[: 0 if equals else len(words)]
        written += ["--set", f"{setting.place}={_value(name, setting, words)}"]
    return written


def _values(setting: AsSetting, rest: Sequence[str]) -> list[str]:
    return list(rest[:1]) if setting.words == "one" else list(takewhile(lambda word: not word.startswith("-"), rest))


def _value(option: str, setting: AsSetting, words: Sequence[str]) -> str:
    """Return the value for ``--set``.

    Raises:
        click.UsageError: there is none, or a word is not ``NAME=VALUE``.
    """
    from ais_prompt.config import parse_literal

    if not words:
        raise click.UsageError(f"Option {option!r} requires a value.")
    if setting.words == "one":
        return words[0]
    if setting.words == "list":
        return repr(list(words))
    pairs = [word.partition("=") for word in words]
    if unclear := next((word for word, (_, equals, _) in zip(words, pairs, strict=True) if not equals), None):
        raise click.UsageError(f"{option} takes NAME=VALUE, and {unclear!r} has no =")
    return repr({name: _TRUTH.get(value, parse_literal(value)) for name, _, value in pairs})
