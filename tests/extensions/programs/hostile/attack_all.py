"""Run hostile programs against targets of the current user, and print what came of each as a line of JSON.

python -m tests.extensions.programs.hostile.attack_all bubblewrap            all of them
python -m tests.extensions.programs.hostile.attack_all landlock signals      one kind
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence

from ais_prompt.extensions.programs.sandbox import CheckedProgram, Isolation, find_isolation, run_program
from tests.extensions.programs.hostile.attacks import ATTACKS, HEADER, Attack
from tests.extensions.programs.hostile.targets import Targets

SECONDS, MEGABYTES = 4.0, 512
NEIGHBOUR = CheckedProgram("def double(x):\n    return 2 * x\n", [(["double"], "assert double(2) == 4")])


def outcomes(level: str, attacks: Sequence[Attack]) -> Iterator[dict[str, object]]:
    """Run attacks one after the other, each followed by a program that means no harm."""
    isolation = find_isolation(level)
    with Targets() as targets:
        for attack in attacks:
            yield {"tries": attack.tries, **_outcome(attack, targets, isolation, level)}


def _outcome(attack: Attack, targets: Targets, isolation: Isolation, level: str) -> dict[str, object]:
    program = targets.fill_in(HEADER + attack.program, level)
    found = run_program(CheckedProgram(program, [(["result"], "assert result is True")]), isolation, SECONDS, MEGABYTES)
    complaints = targets.complaints()
    if found == "passed":
        complaints.append("the attempt worked")
    if attack.reasons and found not in attack.reasons:
        complaints.append(f"it ended as {found}")
    if (neighbour := run_program(NEIGHBOUR, isolation, 30.0, MEGABYTES)) != "passed":
        complaints.append(f"the next program ended as {neighbour}")
    return {"outcome": found, "complaints": complaints}


if __name__ == "__main__":
    wanted = sys.argv[2:]
    for line in outcomes(sys.argv[1], [attack for attack in ATTACKS if not wanted or attack.kind in wanted]):
        print(json.dumps(line), flush=True)
