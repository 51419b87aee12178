"""``aisprompt score``: score stored answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.ending import exit_code, show, show_folder
from ais_prompt.cli.gate_options import GATE_OPTIONS, gate_options, read_gates
from ais_prompt.cli.options import option_of, read_options, shown_command
from ais_prompt.cli.verb import Verb, brought, json_option, quiet_option, speed_option, verbose_option
from ais_prompt.config import Options
from ais_prompt.verbs import Session

if TYPE_CHECKING:
    from ais_prompt.plan import Plan
    from ais_prompt.store import RunFolder
    from ais_prompt.verbs import FailureLimit


@click.command(
    cls=Verb,
    first={
        "Score": (
            *("--config", "--predictions", "--postprocessor", "--evaluator", "--set"),
            *("-w", "--gate", "--baseline", "--max-failures", "--json", "-h"),
        )
    },
)
@click.argument("run", shell_complete=complete_run, required=False, metavar="[RUN]")
@click.option("--config", metavar="CONFIG", help="Score with this config instead of the run's own.")
@click.option(
    "--predictions",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Score answers that were made elsewhere: JSONL with id or index, and prediction.",
)
@click.option("--dataset", metavar="ABBR", help="Which dataset of CONFIG the FILE answers, if there are several.")
@click.option("--model", metavar="NAME", help="Who answered in FILE (default: the file's name).")
@option_of(Options, "overrides", help="Change one value: datasets.0.eval_cfg.k=[1,4].")
@option_of(Options, "postprocessor", help="Read the answers of all datasets with it; none takes the whole text.")
@option_of(Options, "evaluator", help="Compare the answers of all datasets with it; +NAME adds it.")
@option_of(Options, "work_dir", help="Where run folders are (default: the config's, or outputs).")
@option_of(Session, "max_failures")
@option_of(Options, "allow_code_execution")
@brought("stored")
@click.option("--audit", is_flag=True, help="Find out whether scores depend on how answers are read.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@gate_options
@json_option
@quiet_option
@speed_option
@verbose_option
@click.pass_context
def score(
    ctx: click.Context,
    /,
    run: str | None,
    predictions: Path | None,
    dataset: str | None,
    model: str | None,
    max_failures: FailureLimit,
    audit: bool,
    debug: bool,
    **values: Any,
) -> None:
    """Score stored answers. They stay as they are, and only a judge is asked, if they need one.

    RUN is the path of a run folder, or below the work dir a name (its latest run), name/time, a time, or latest.
    Answers made elsewhere come with --predictions FILE --config CONFIG, and get a run folder of their own.
    """
    from ais_prompt.steps import required
    from ais_prompt.verbs import run_source, with_found_models

    if audit:
        required("audit_answers", "reads answers in other ways", "--audit")
    reading = {name: values.pop(name) for name in ("postprocessor", "evaluator")}
    options = replace(read_options(values), **reading)
    if options.options and options.config is None:
        option = next(iter(options.options)).replace("_", "-")
        raise click.UsageError(f"--{option} needs --config CONFIG: a run folder has the config as it was understood.")
    plan, folder = _opened(run, predictions, options, dataset, model)
    plan = with_found_models(plan, "eval")
    keeper = read_gates(plan, **{name: values[name] for name in GATE_OPTIONS})
    session = Session("eval", report=folder.report.exists(), audits=audit, command=shown_command())
    result = run_source(plan, folder, session)
    show(result, plan, options=keeper.gates.options)
    show_folder(result)
    holds = keeper.hold(result)
    ctx.exit(exit_code(result, max_failures, debug=debug) or int(not holds))


def _opened(
    run: str | None, predictions: Path | None, options: Options, dataset: str | None, model: str | None
) -> tuple[Plan, RunFolder]:
    """Return the run folder with the answers, and the plan to score them with."""
    from ais_prompt.checks import open_stored
    from ais_prompt.verbs import open_foreign

    if predictions is None:
        if run is None or dataset or model:
            raise click.UsageError("Name a RUN, or give --predictions FILE --config CONFIG (--dataset, --model).")
        return open_stored(run, options)
    if run is not None or options.config is None:
        raise click.UsageError("--predictions needs --config CONFIG, which says how to score, and no RUN.")
    options = replace(options, answered_by=model or predictions.stem, answered=dataset)
    return open_foreign(predictions, options, shown_command())
