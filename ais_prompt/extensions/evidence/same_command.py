"""``aisprompt same``: whether two servers, weights or runs are the same model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ais_prompt.cli.verb import Verb, echo, hanging, json_option, offer, quiet_option, wants_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from ais_prompt.extensions.evidence.equal_outputs import Answers, Evidence, Subject
    from ais_prompt.store import RunFolder

_WORDS: Final = {True: "DIFFER", False: "equal", None: "not known"}


@click.command(cls=Verb)
@click.argument("first")
@click.argument("second")
@click.option(
    "--prompts", type=click.Path(exists=True, dir_okay=False), metavar="FILE", help="Ask these lines, not ours."
)
@click.option(
    "--samples", type=click.IntRange(2), default=10, show_default=True, metavar="N", help="Answers to each prompt."
)
@click.option("--max-out-len", type=click.IntRange(1), default=50, show_default=True, metavar="N", help="Their tokens.")
@click.option(
    "--temperature", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True, help="Of the answers."
)
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
@json_option
@quiet_option
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def same(
    first: str,
    second: str,
    prompts: str | None,
    samples: int,
    max_out_len: int,
    temperature: float,
    work_dir: str | None,
    debug: bool,  # noqa: ARG001  # read by `Verb`
) -> None:
    """Find out whether two models are the same. Exit code 1 if they differ.

    FIRST and SECOND are addresses (http://127.0.0.1:8000/v1, or …/v1#model), model configs, or folders or GGUF files
    with weights. They are asked the same open questions several times, for JSON and calls of tools, and for the
    likelihoods of texts if both give them. Or they are two runs of one config: then nothing is asked.

    Without a difference it says how large a difference would have been found.
    """
    from msgspec.structs import asdict

    from ais_prompt.config import DEFAULT_WORK_DIR, expand
    from ais_prompt.extensions.evidence.equal_outputs import decide

    runs = expand(work_dir or DEFAULT_WORK_DIR)
    stored = [_run_or_none(runs, name) for name in (first, second)]
    if None not in stored:
        evidence = _of_runs(*stored)  # type: ignore[arg-type]  # none is None
    else:
        lines = [] if prompts is None else _lines(Path(prompts))
        evidence = _of_models((first, second), lines, samples, max_out_len, temperature, work_dir or DEFAULT_WORK_DIR)
    found = decide(evidence)
    offer(differences=list(map(asdict, found)))
    differs = any(one.differs for one in found)
    if not wants_json():
        for one in found:
            echo(hanging(f"{one.subject:<11}  {_WORDS[one.differs]:<9}  ", one.text))
        echo("They differ." if differs else "No difference is shown.")
    if differs:
        raise click.exceptions.Exit(1)


def _of_models(
    names: tuple[str, str],
    prompts: list[str],
    samples: int,
    max_out_len: int,
    temperature: float,
    work_dir: str,
) -> list[Evidence]:
    """Ask two models, and compare what they answer."""
    from ais_prompt import run
    from ais_prompt.errors import AisPromptError
    from ais_prompt.extensions.evidence import equal_outputs
    from ais_prompt.extensions.evidence.asked import (
        ANSWERS,
        FORMATS,
        SIDES,
        TEXTS,
        TOOLS,
        Kind,
        probe,
        reports_calls,
    )
    from ais_prompt.plan import named_model

    models = [named_model(name) for name in names]

    def answered(kind: Kind, *datasets: str) -> list[list[Answers]]:
        made = run(probe(models, prompts, samples, max_out_len, temperature, kind), mode="infer", work_dir=work_dir)
        made.raise_errors()
        return [[_answers(made.path, side, dataset) for dataset in datasets] for side in SIDES]

    def likelihoods() -> list[Evidence]:
        return [equal_outputs.compare_likelihoods(*answered("likelihoods", *TEXTS))]

    def tool_calls() -> list[Evidence]:
        [[first], [second]] = answered("tools", TOOLS)
        return equal_outputs.compare_tool_calls(first, second)

    def given(subject: Subject, compared: Callable[[], list[Evidence]]) -> list[Evidence]:
        """Return evidence that some models do not give."""
        try:
            return compared()
        except AisPromptError as error:
            return [equal_outputs.Evidence(subject, f"not given: {error.what}")]

    asked = (ANSWERS,) if prompts else (ANSWERS, FORMATS)
    sides = answered("answers", *asked)
    found = [
        equal_outputs.compare_prompts(sides[0][0], sides[1][0]),
        *equal_outputs.compare_answers(sides[0][0], sides[1][0]),
        *(equal_outputs.compare_formats(sides[0][1], sides[1][1], with_keys=True) if len(asked) > 1 else ()),
    ]
    if all(map(reports_calls, models)):
        found += given("tool calls", tool_calls)
    return [*given("likelihoods", likelihoods), *found]


def _of_runs(first: RunFolder, second: RunFolder) -> list[Evidence]:
    """Compare the answers of two runs to the samples that they have in common."""
    from ais_prompt.errors import ConfigError
    from ais_prompt.extensions.evidence import equal_outputs
    from ais_prompt.plan import stored_spec

    tasks = [{task.dataset.abbr: task.model.abbr for task in stored_spec(one).tasks} for one in (first, second)]
    common = [name for name in tasks[0] if name in tasks[1]]
    if not common:
        raise ConfigError("the runs have no dataset in common", where=str(second.root), fix="name runs of one config")
    sides = [
        {
            f"{name}/{sample}": one
            for name in common
            for sample, one in _answers(folder.root, models[name], name).items()
        }
        for folder, models in zip((first, second), tasks, strict=True)
    ]
    if not sides[0].keys() & sides[1].keys():
        what = "the runs have no answered sample in common"
        raise ConfigError(what, where=str(second.root), fix="name runs of the same data, both with answers")
    texts, likelihoods = ([_only(side, likelihood=kind) for side in sides] for kind in (False, True))
    return [
        *([equal_outputs.compare_likelihoods(*([side] for side in likelihoods))] if all(likelihoods) else ()),
        equal_outputs.compare_prompts(*sides),
        *(equal_outputs.compare_answers(*texts) if all(texts) else ()),
        *equal_outputs.compare_formats(*texts, with_keys=False),
        *equal_outputs.compare_tool_calls(*texts),
    ]


def _only(answers: Answers, *, likelihood: bool) -> Answers:
    """Return the samples whose answers are likelihoods, or those whose answers are texts."""
    return {
        sample: one
        for sample, one in answers.items()
        if one.completions and (one.completions[0].likelihood is not None) is likelihood
    }


def _answers(root: Path, model: str, dataset: str) -> Answers:
    from ais_prompt.extensions.evidence.equal_outputs import by_sample
    from ais_prompt.store import RunFolder, read_predictions

    return by_sample(read_predictions(RunFolder(root).predictions(model, dataset)))


def _run_or_none(work_dir: Path, name: str) -> RunFolder | None:
    from ais_prompt.errors import ConfigError
    from ais_prompt.store import locate_run

    if name.startswith(("http://", "https://")) or name.endswith((".py", ".gguf")):
        return None
    try:
        return locate_run(work_dir, name)
    except ConfigError:
        return None


def _lines(path: Path) -> list[str]:
    from ais_prompt.errors import DataError
    from ais_prompt.store import reading

    with reading(path, fix="name a text file with a prompt a line"):
        lines = list(dict.fromkeys(filter(None, map(str.strip, path.read_text("utf-8").splitlines()))))
    if len(lines) < 2:
        raise DataError("it has fewer than two prompts", where=str(path), fix="write one prompt a line")
    return lines
