"""Cases that are drawn anew for each release, so that nothing is fitted to the files that are always compared.

Each takes another config file for a dataset whose rows we have, and answers with thoughts, cut thoughts, or none.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ais_prompt import __version__
from tools.real import further
from tools.real.cases import (
    BASE,
    CUTS_THOUGHTS,
    EXAM_ROWS,
    ROWS,
    SDK,
    Case,
    Peer,
    aisbench_config,
    opencompass_config,
    service,
)
from tools.real.suite import Suite, aisbench, opencompass

SEED: Final = __version__
"""Changes with each release."""
COUNTS: Final = {"opencompass": 6, "opencompass PPL": 3, "ais_bench": 3}
"""How many files of each kind are drawn."""
THOUGHTS: Final = ("{answer}", "{answer}", "<think>Is it A? Or 7?</think>{answer}", "<think>So it is {answer}", "")
"""What a model says, given an answer: bare, after thoughts, cut inside of thoughts, or nothing."""
_NOT: Final = ("agent", "judge", "llm", "cascade", "postprocess", "xfinder", "academic", "Verify", "verify", "mixed")
"""Words in the names of files that need other models or packages than we have."""


def draw(site: Path) -> dict[str, Case]:
    """Return the drawn cases: name → case.

    Args:
        site: the packages of the environment of the peers.
    """
    drawn = random.Random(SEED)
    found: dict[str, Case] = {}
    for kind, suites in (
        ("opencompass", (opencompass(), further.generation())),
        ("opencompass PPL", (further.perplexity(),)),
        ("ais_bench", (aisbench(), further.aisbench())),
    ):
        peer: Peer = "ais_bench" if kind == "ais_bench" else "opencompass"
        root = site / ("ais_bench/benchmark/configs" if peer == "ais_bench" else "opencompass/configs")
        files = {other: suite for suite in suites for other in siblings(root, suite)}
        for module in drawn.sample(sorted(files), COUNTS[kind]):
            name = f"drawn, {kind}: {module.rpartition('.')[2]}"
            found[name] = _case(peer, kind, module, files[module], drawn)
    return found


def siblings(root: Path, suite: Suite) -> Iterator[str]:
    """Yield other config files for the datasets of a suite: they name the same loader and path in their text."""
    for module in suite.modules:
        file = root / f"datasets/{module.replace('.', '/')}.py"
        if not (own := _read_from(file)):
            continue
        for other in sorted(file.parent.glob("*.py")):
            is_alike = ("_ppl" in other.stem) == ("_ppl" in file.stem) and not any(word in other.stem for word in _NOT)
            # A judge that environment variables name is none of the servers here.
            if other != file and is_alike and _read_from(other) == own and "judge_cfg=dict()" not in other.read_text():
                yield f"datasets.{module.rpartition('.')[0]}.{other.stem}"


def _read_from(file: Path) -> Sequence[str]:
    """Return the loaders, paths and files that a file names."""
    text = file.read_text("utf-8") if file.is_file() else ""
    return sorted(
        {*re.findall(r"type=(\w+Dataset)\b", text), *re.findall(r"\b(?:path|file_name)\s*=\s*(['\"][^'\"]+)", text)}
    )


def _case(peer: Peer, kind: str, module: str, suite: Suite, drawn: random.Random) -> Case:
    answers = {text: drawn.choice(THOUGHTS).format(answer=answer) for text, answer in suite.answers.items()}
    cut = f", {CUTS_THOUGHTS}" if drawn.random() < 0.5 else ""
    if peer == "ais_bench":
        config = aisbench_config(service("VLLMCustomAPIChat") + cut, module, ROWS)
    else:
        config = opencompass_config(BASE if kind.endswith("PPL") else SDK + cut, module, ROWS + EXAM_ROWS)
    return Case(peer, config, suite.files, answers=answers)
