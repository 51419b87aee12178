"""Run conformance cases: ``python tools/conformance.py FILE...``; exits 1 if any fails, 2 if a file is broken."""

from __future__ import annotations

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

# Run as a file, Python looks for modules beside it and not in the repository.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from ais_prompt.errors import AisPromptError
from ais_prompt.terminal import ROOT
from tools.conformance_runner.cases import Case, load_cases
from tools.conformance_runner.check import Verdict, check


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what fails and a summary.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="tools/conformance.py", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="case files")
    try:
        cases = [case for file in parser.parse_args(arguments).files for case in load_cases(file)]
    except AisPromptError as error:
        print(*error.lines(), sep="\n", file=sys.stderr)
        return error.exit_code
    verdicts = [check(case) for case in cases]
    for case, verdict in zip(cases, verdicts, strict=True):
        if verdict.status == "failed":
            _print_failure(case, verdict)
    _print_summary(verdicts)
    return 1 if any(verdict.status == "failed" for verdict in verdicts) else 0


def _print_failure(case: Case, verdict: Verdict) -> None:
    print(f"FAILED {case.name} ({case.category}): {case.title}")
    for detail in verdict.details:
        print("  " + detail.replace("\n", "\n  "))
    print()


def _print_summary(verdicts: Sequence[Verdict]) -> None:
    number = Counter(verdict.status for verdict in verdicts)
    if number["skipped"]:
        reasons = Counter(verdict.details[0] for verdict in verdicts if verdict.status == "skipped")
        print("skipped:", ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items())))
    skipped = f", {number['skipped']} skipped" if number["skipped"] else ""
    print(f"{number['passed']} passed, {number['failed']} failed{skipped}")


if __name__ == "__main__":
    ROOT.addHandler(logging.NullHandler())  # the warnings about texts that a case loses on purpose are not wanted here
    sys.exit(main())
