"""Help and lists come at once: what they may import is held here, because a test must not depend on time."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from ais_prompt.cli import VERBS, main

pytestmark = pytest.mark.process


ALLOWED = {"ais_prompt", "click", "colorama"}
"""Packages outside of the standard library that may be loaded."""

PROGRAM = """
import sys
sys.argv = ["aisprompt", *sys.argv[1:]]
before = set(sys.modules)
from ais_prompt.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(" ".join(sorted(loaded - set(sys.stdlib_module_names))), file=sys.stderr)
print(" ".join(sorted(name for name in sys.modules if name.startswith("ais_prompt."))), file=sys.stderr)
"""


@pytest.mark.parametrize("args", [["--help"], ["list"], ["list", "models"], ["run", "--help"], ["--version"]])
def test_only_click_is_loaded(args: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *args], capture_output=True, text=True, check=True)
    packages, own = done.stderr.strip().splitlines()
    assert set(packages.split()) <= ALLOWED
    assert done.stdout
    # A manifest of an extension is one literal value.
    below = [name for name in own.split() if not re.match(r"ais_prompt\.(cli|extensions(\.\w+)?$)", name)]
    assert len(below) <= 29, f"start-up loads more than the command line: {below}"


def test_help_imports_no_verb_and_a_list_no_other() -> None:
    """Each verb that is imported for nothing is paid for by every command, and by every completion in a shell."""
    modules = {name: verb.home.partition(":")[0] for name, verb in VERBS.items()}
    for args, verb in ((["--help"], ""), (["list"], "list")):
        done = subprocess.run([sys.executable, "-c", PROGRAM, *args], capture_output=True, text=True, check=True)
        own = done.stderr.strip().splitlines()[-1].split()
        others = {module for name, module in modules.items() if name != verb}
        assert not others & set(own)


def test_without_plugins_no_metadata_of_packages_are_read() -> None:
    code = "import sys; from ais_prompt.steps import find_plugins; assert not find_plugins(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "importlib.metadata" not in done.stdout.split()


def test_a_check_loads_neither_torch_nor_transformers() -> None:
    args = [sys.executable, "-c", PROGRAM, "check", "configs/eval.py"]
    done = subprocess.run(args, capture_output=True, text=True, check=True)
    assert "No faults" in done.stdout
    assert not {"torch", "transformers", "datasets", "openai"} & set(done.stderr.splitlines()[-2].split())


@pytest.mark.parametrize("verb", ["", *sorted(main.verbs())])
def test_help_fits_into_80_columns(verb: str) -> None:
    result = CliRunner().invoke(main, [*verb.split(), "--help"], env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert [line for line in result.output.splitlines() if len(line) > 80] == []
