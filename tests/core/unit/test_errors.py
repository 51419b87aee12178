from __future__ import annotations

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from ais_prompt import errors
from ais_prompt.errors import AisPromptError, ConfigError, ConfigFaults, DataError

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, AisPromptError)]
SINGLE = [kind for kind in KINDS if kind is not ConfigFaults]
ENDS_OF_A_RUN = {"Interrupted", "Terminated", "InternalError"}
"""Users know why they stop a run; what to do about a fault of the program is said in one place."""
PACKAGE = Path(errors.__file__).parent


def without_fix(file: Path) -> Iterator[str]:
    """Yield the places where a file makes an error that does not tell what to do."""
    kinds, text = {kind.__name__ for kind in SINGLE} - ENDS_OF_A_RUN, file.read_text("utf-8")
    if not any(f"{kind}(" in text for kind in kinds):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds:
            fix = next((one.value for one in node.keywords if one.arg == "fix"), None)
            if fix is None or (isinstance(fix, ast.Constant) and not fix.value):
                yield f"{file.relative_to(PACKAGE)}:{node.lineno}: {node.func.id}"


@pytest.mark.thorough
def test_every_error_says_what_to_do() -> None:
    assert not [place for file in sorted(PACKAGE.rglob("*.py")) for place in without_fix(file)]


def test_an_error_has_three_lines_and_survives_pickling() -> None:
    for kind in SINGLE:
        error = kind("what", where="where", fix="fix")
        assert error.lines() == [f"{kind.__name__}: what", "  where: where", "  fix:   fix"]
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.lines()) == (kind, error.lines())


def test_what_is_not_known_is_left_out() -> None:
    for kind in SINGLE:
        assert kind("what").lines() == [f"{kind.__name__}: what"]


def test_all_faults_at_once_survive_pickling() -> None:
    faults = ConfigFaults([ConfigError("one", where="a"), ConfigError("two")])
    assert faults.lines()[-1] == "2 faults in the config"
    assert pickle.loads(pickle.dumps(faults)).lines() == faults.lines()


def test_exit_codes() -> None:
    codes = {kind.__name__: kind.exit_code for kind in KINDS}
    assert codes == {
        "AisPromptError": 2,
        "ConfigError": 2,
        "ConfigFaults": 2,
        "DataError": 2,
        "GoldError": 2,
        "MissingGoldError": 2,
        "PromptError": 2,
        "PartError": 2,
        "SandboxError": 2,
        "StoreError": 3,
        "ReadError": 3,
        "ModelError": 3,
        "MissingExtra": 3,
        "Paused": 4,
        "InternalError": 70,
        "Interrupted": 130,
        "Terminated": 143,
    }


def test_the_fault_of_a_loop_is_shown_once() -> None:
    faults: list[AisPromptError] = []
    for number in range(57):
        where = f"datasets[{number}].infer_cfg (eval.py:3)"
        faults.append(ConfigError("no such part", where=where, fix="did you mean it?"))
        faults.append(DataError("no such file", where=f"datasets[{number}].path (eval.py:3) · data/{number}.csv"))
    faults.append(ConfigError("no such part", where="datasets[9].eval_cfg (eval.py:3)", fix="did you mean it?"))
    assert ConfigFaults(faults).lines() == [
        *faults[0].lines(),
        "  and in 56 more datasets",
        *faults[1].lines(),
        "  and in 56 more datasets",
        *faults[-1].lines(),
        "115 faults in the config",
    ]
