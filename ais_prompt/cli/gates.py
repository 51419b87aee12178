"""The options by which a run is let pass or not, the same for all verbs that score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ais_prompt.plan.plan import Plan
    from ais_prompt.store.baseline_file import Baseline
    from ais_prompt.types import Gate
    from ais_prompt.workflows.run import RunResult

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--gate",
        "gates",
        multiple=True,
        metavar="CONDITION",
        help="Exit code 1 unless it holds: 'accuracy >= 80%', 'gsm8k*: failed <= 1%'; with confidence: "
        "'accuracy >= 80% @95%', 'drop < 1pt @95%'. In a config: gates=[...].",
    ),
    click.option("--baseline", metavar="RUN|FILE", help="Exit code 1 on a significant drop; see `aisprompt baseline`."),
    click.option(
        "--min-drop",
        type=float,
        default=0.0,
        show_default=True,
        metavar="X",
        help="With --baseline: smaller drops do not matter, in the metric's unit (0.01 is one point of accuracy).",
    ),
    click.option(
        "--level",
        type=click.FloatRange(0, 0.5, min_open=True),
        default=0.05,
        show_default=True,
        metavar="P",
        help="With --baseline: how often equally good runs may fail; 0.0027 is one alarm in a year of nights.",
    ),
    click.option("--junit", metavar="FILE", help="Write the gates as JUnit XML."),
    click.option("--markdown", metavar="FILE", help="Write gates and scores as Markdown, for a pull request."),
)
GATE_OPTIONS = ("gates", "baseline", "min_drop", "level", "junit", "markdown")
"""The names of these options in a command."""


def gate_options(command: Command) -> Command:
    """Add these options to a command; `read_gates` takes them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class GateKeeper:
    """Holds a run against its gates.

    Attributes:
        gates: the conditions of the config and of the command line.
        baseline: what it is held against; None if nothing.
        min_drop: the smallest drop that matters.
        level: how often equally good runs may fail.
        junit, markdown: files to write; None for none.
    """

    gates: Sequence[Gate]
    baseline: Baseline | None
    min_drop: float
    level: float
    junit: str | None
    markdown: str | None

    def to_stop_early(self) -> Sequence[Gate]:
        """The gates that can be decided before every sample is asked.

        Raises:
            ConfigError: there are none, or a baseline is to be held against too.
        """
        from ais_prompt.errors import ConfigError

        if self.baseline is not None:
            raise ConfigError("a drop against a baseline is known only at the end", fix="leave out --stop-early")
        if not self.gates:
            raise ConfigError("--stop-early needs a gate to decide", fix="add --gate 'accuracy >= 80%'")
        if any(gate.confidence is not None for gate in self.gates):
            raise ConfigError("a claim (@95%) needs every answer", fix="leave out --stop-early, or the confidence")
        return self.gates

    def hold(self, result: RunResult, root: Path) -> bool:
        """Say of each gate whether it holds, and write the files that are asked for; True if all hold.

        Raises:
            StoreError: a file cannot be written.
        """
        from ais_prompt.regression.baseline import check_run
        from ais_prompt.regression.claims import check_claims
        from ais_prompt.regression.gates import check_gates
        from ais_prompt.regression.runs import read_stored_run
        from ais_prompt.report.gates import gate_lines, to_junit, to_pull_request
        from ais_prompt.summary.rows import summary_rows

        rows = list(dict.fromkeys([*summary_rows(result.outcomes), *result.rows]))
        claims = [gate for gate in self.gates if gate.confidence is not None]
        verdicts = check_gates([gate for gate in self.gates if gate.confidence is None], rows)
        if claims:
            verdicts += check_claims(claims, read_stored_run(str(root)), self.baseline)
        if self.baseline is not None:
            verdicts += check_run(self.baseline, read_stored_run(str(root)), self.min_drop, self.level)
        if verdicts:
            click.echo("\nGates:")
            click.echo("\n".join(gate_lines(verdicts)))
        name = "/".join(root.parts[-2:])
        _write(self.junit, to_junit(verdicts, name))
        _write(self.markdown, to_pull_request(verdicts, rows, name).encode())
        return all(verdict.passed for verdict in verdicts)


def read_gates(
    plan: Plan,
    gates: tuple[str, ...],
    baseline: str | None,
    min_drop: float,
    level: float,
    junit: str | None,
    markdown: str | None,
) -> GateKeeper:
    """What the options say, read before anything is asked.

    Raises:
        ConfigError: a gate cannot be understood or makes no sense, or there is no such baseline.
    """
    from ais_prompt.config.parse.gates import parse_gate
    from ais_prompt.errors import ConfigError, ConfigFaults
    from ais_prompt.plan.check_gates import gate_faults
    from ais_prompt.regression.baseline import open_baseline

    conditions = [*plan.spec.gates, *(parse_gate(text, "--gate") for text in gates)]
    if faults := gate_faults(conditions, plan):
        raise ConfigFaults(faults)
    if baseline is None and (drops := [gate for gate in conditions if gate.limits_drop]):
        what = f"the gate {drops[0].text!r} needs a baseline to measure the drop from"
        raise ConfigError(what, where=drops[0].where, fix="give --baseline RUN|FILE")
    held = None if baseline is None else open_baseline(baseline)
    return GateKeeper(conditions, held, min_drop, level, junit, markdown)


def _write(path: str | None, content: bytes) -> None:
    from ais_prompt.store.disk import replacing

    if path is not None:
        with replacing(Path(path)) as stream:
            stream.write(content)
