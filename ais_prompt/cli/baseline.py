"""``aisprompt baseline``: write a small file of a run, for later runs to be compared with."""

from __future__ import annotations

from pathlib import Path

import click

from ais_prompt.cli.completion import complete_run
from ais_prompt.cli.verb import Verb


@click.command(cls=Verb)
@click.argument("runs", shell_complete=complete_run, nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write it.")
@click.option("-w", "--work-dir", metavar="DIR", help="Where run folders are (default: outputs).")
def baseline(runs: tuple[str, ...], output: str, work_dir: str | None) -> None:
    """Write down which samples of a run were right, in a small file that can be committed.

    `aisprompt run CONFIG --baseline FILE` compares a later run with it. RUN is as in `aisprompt score`; the baseline of
    several runs has the mean over them, and less noise.
    """
    from ais_prompt.comparison.baseline import make_baselines
    from ais_prompt.comparison.runs import read_stored_run
    from ais_prompt.report.gates import alarm_words
    from ais_prompt.store.baseline_file import write_baseline
    from ais_prompt.utils.text import counted

    made = make_baselines([read_stored_run(run, work_dir) for run in runs])
    write_baseline(Path(output), made)
    samples = sum(len(task.values) for task in made.tasks)
    click.echo(f"{output}: {counted(samples, 'sample')} of {counted(len(made.tasks), 'dataset')}, from {made.run}")
    click.echo(alarm_words(made.tasks, made.runs))
