"""The options of gates, the same for all verbs that score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ais_prompt.cli.options import brought_names
from ais_prompt.cli.verb import Command, added, brought, echo, given_options, hanging, offer

if TYPE_CHECKING:
    from ais_prompt.gates import RunGates
    from ais_prompt.plan import Plan
    from ais_prompt.scoring import Row
    from ais_prompt.verbs import RunResult

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
GATE_OPTIONS = ("gates", "baseline", "min_drop", "level", "junit", "markdown", *brought_names("scored"))
"""The names of these options in a command, those of extensions too."""


def gate_options(command: Command) -> Command:
    """Add these options to a command; `read_gates` takes them."""
    return brought("scored")(added(_OPTIONS)(command))


def refuse_undecided_gates(mode: str, values: dict[str, Any]) -> None:
    """Refuse gates for a run that only asks.

    Args:
        mode: of the run; only ``infer`` decides no gate.
        values: the options of gates.

    Raises:
        ConfigError: there are gates, and nothing decides them.
    """
    from ais_prompt.errors import ConfigError

    if mode == "infer" and (values["baseline"] or values["gates"]):
        raise ConfigError("-m infer scores nothing, so no gate can be decided", fix="give the gates to -m eval -r")


@dataclass(frozen=True)
class GateKeeper:
    """Prints the verdicts of the gates, and writes the files that were asked for.

    Attributes:
        gates: the gates of the config and of the command line.
        junit, markdown: files to write; None for none.
    """

    gates: RunGates
    junit: str | None
    markdown: str | None

    def hold(self, result: RunResult) -> bool:
        """Say of each gate whether it holds; True if all hold.

        Raises:
            StoreError: a file cannot be written.
        """
        from ais_prompt.scoring import summary_rows

        rows = list(dict.fromkeys([*summary_rows(result.outcomes), *result.rows]))
        return self.hold_rows(rows, result.folder.root)

    def hold_rows(self, rows: Sequence[Row], root: Path) -> bool:
        """Say of each gate whether it holds for the rows of the run in this folder; True if all hold.

        Raises:
            StoreError: a file cannot be written.
        """
        verdicts = self.gates.verdicts(rows, root)
        offer(gates=verdicts)
        if verdicts:
            from ais_prompt.gates import gate_lines

            echo("\nGates:")
            for head, text, colour in gate_lines(verdicts):
                line = hanging(head, text)
                echo(line[: len(head)], nl=False, fg=colour, bold=True)
                echo(line[len(head) :])
        name = "/".join(root.parts[-2:])
        if self.junit is not None:
            from ais_prompt.gates import to_junit

            _write(self.junit, to_junit(verdicts, name))
        if self.markdown is not None:
            from ais_prompt.gates import to_pull_request

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
    *,
    mode: str = "all",
    **further: Any,
) -> GateKeeper:
    """Read the options before anything is asked.

    The arguments are those of `ais_prompt.gates.open_gates` and `GateKeeper`, and options of extensions.

    Raises:
        ConfigError: a gate cannot be understood or makes no sense, or there is no such baseline.
    """
    from msgspec.structs import replace

    from ais_prompt.gates import open_gates

    opened = open_gates(plan, gates, baseline, min_drop, level, mode=mode)
    return GateKeeper(replace(opened, options=given_options(further, further)), junit, markdown)


def _write(path: str, content: bytes) -> None:
    from ais_prompt.store import replacing

    with replacing(Path(path)) as stream:
        stream.write(content)
