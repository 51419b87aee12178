"""A lamp of our own as the simulated program of BFCL, in a package with the names of bfcl_eval."""

from __future__ import annotations

from pathlib import Path

EVALUATION = "bfcl_eval/eval_checker/multi_turn_eval"
UTILS = f"""
from {EVALUATION.replace("/", ".")}.lamp import MathAPI
CLASS_FILE_PATH_MAPPING = {{"MathAPI": MathAPI.__module__}}

def execute_multi_turn_func_call(
    func_call_list, initial_config, involved_classes, model_name, test_entry_id, long_context=False
):
    lamp = globals().setdefault(f"{{model_name}}_lamp_instance", MathAPI())
    lamp.__dict__.setdefault("level", initial_config["MathAPI"]["level"])
    lamp.long = long_context
    results = []
    for call in func_call_list:
        try:
            results.append(str(eval(call, {{"turn": lamp.turn, "look": lamp.look, "rest": lamp.rest}})))
        except Exception as error:
            results.append(f"Error during execution: {{error}}")
    return results, {{"MathAPI": lamp}}
"""
CHECKER = f"""
from {EVALUATION.replace("/", ".")}.multi_turn_utils import execute_multi_turn_func_call

def multi_turn_checker(turns, golds, row, category, model):
    def level(name, calls):
        given = calls, row["initial_config"], row["involved_classes"], name, row["id"]
        return execute_multi_turn_func_call(*given)[1]["MathAPI"].level
    for steps, gold in zip(turns, golds):
        for step in steps:
            level(model, step)
        if level(model, []) != level(model + "_gold", gold):
            return {{"valid": False}}
    return {{"valid": True}}
"""
LAMP = """
import time

class MathAPI:  # a lamp by a name that the data of BFCL may have
    def turn(self, by):
        self.level += by
        return {"level": self.level}
    def look(self):
        return "very " * self.long + "bright" if self.level > 2 else "dark"
    def rest(self):
        time.sleep(60)
"""


def write_programs(root: Path) -> None:
    """Write the package into a folder, for ``--peer-path``."""
    for name, text in (("multi_turn_utils", UTILS), ("multi_turn_checker", CHECKER), ("lamp", LAMP)):
        path = root / EVALUATION / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
