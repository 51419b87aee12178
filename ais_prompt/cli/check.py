"""``aisprompt check``: all faults of a config at once; and what a run would ask, which ``run --dry-run`` shows too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ais_prompt.cli.options import FURTHER, MODEL_AND_DATA, read_options, with_options
from ais_prompt.cli.verb import Verb, hanging, hint, json_option, offer, quiet_option, repeat_mistakes

if TYPE_CHECKING:
    from ais_prompt.plan import Plan


@click.command(
    cls=Verb, first={**MODEL_AND_DATA, "Check": ("--gate", "--audit", "--json", "-q", "-h")}, further=FURTHER
)
@with_options("config", "run", "sample")
@json_option
@quiet_option
@click.option("--gate", "gates", multiple=True, metavar="CONDITION", help="Say how many samples its claim needs.")
@click.option("--audit", is_flag=True, help="Put answers that know nothing through each scorer.")
def check(gates: tuple[str, ...], audit: bool, **values: Any) -> None:
    """Find every fault of a config without building or asking anything.

    Types, arguments, templates, data files and columns are checked, and one prompt is made for each model and
    dataset. All prompts are made again with other gold answers: where one changes, it tells the answer. The data is
    searched for golds in other columns, choices that look right, and questions that are copied (docs/leaks.md).
    Golds are put into ordinary phrasings to see whether the postprocessor finds them again.
    --audit shows what an evaluator or a postprocessor gives to answers such as a list of all golds.
    Of gates with a claim, such as 'accuracy >= 70% @95%', it says how many samples they need.
    It ends with the number of requests to servers, about how many tokens they have, and their cost if models have
    a price.
    Exit code 2 if anything is wrong; warnings are about prompts that you may not expect.
    """
    from dataclasses import replace

    from ais_prompt.gates import describe_claim
    from ais_prompt.plan import STAND_IN
    from ais_prompt.report import describe
    from ais_prompt.utils import printable
    from ais_prompt.verbs import check_source as check_config
    from ais_prompt.verbs import remarks, trials

    options = replace(read_options(values), stand_in=STAND_IN)
    found = check_config(options, gates, audit_scorers=audit)
    claims = [line for claim in found.claims for line in describe_claim(claim.gate, claim.dataset, claim.samples)]
    models, datasets = len(found.plan.models), len(found.plan.datasets)
    shown = remarks(found.warnings), trials(found.extractions)
    offer(models=models, datasets=datasets, warnings=shown[0], extractions=shown[1], claims=claims)
    offer(**({"audits": found.audits} if audit else {}))
    lines = [warning.labelled() for warning in found.warnings]
    audited = [line for one in found.audits for line in one.lines()]
    lines += [hanging("", line) for line in (*describe(found.extractions), *audited)]
    for line in [*lines, *claims]:
        hint(printable(line))
    show_estimate(found.plan, by_task=False)
    hint(f"No faults: {models} model{'s' * (models != 1)}, {datasets} dataset{'s' * (datasets != 1)}.")
    repeat_mistakes(found.warnings, err=False)


def show_estimate(plan: Plan, *, by_task: bool) -> None:
    """Print what a run would ask, and which limits that reaches.

    Args:
        plan: of the run.
        by_task: a line for each task; else one for all tasks of served models. Prompts of local models may need their
            tokenizer, which takes longer than all the rest of a check.
    """
    from ais_prompt.engine import estimate, exceeded
    from ais_prompt.models import BatchModel
    from ais_prompt.report import estimate_lines, estimate_words
    from ais_prompt.utils import listed, printable
    from ais_prompt.verbs import task_estimates

    left_out = set() if by_task else {one.spec.abbr for one in plan.models if isinstance(one.model, BatchModel)}
    estimates = [estimate(task) for task in plan.tasks if task.spec.model.abbr not in left_out]
    offer(estimates=task_estimates(estimates))
    if by_task:
        for line in estimate_lines(estimates):
            hint(printable(line))
    elif estimates:
        without = f" (without {listed(sorted(left_out))}: see run --dry-run)" if left_out else ""
        hint(printable(f"A run asks {estimate_words(estimates)}{without}"))
    for limit in exceeded(plan.spec.budget, estimates):
        hint(f"Warning: {limit}: the run would be paused, and go on with -r")
