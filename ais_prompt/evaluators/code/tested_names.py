"""Which names the tests of a program take from the program."""

from __future__ import annotations

import ast
import builtins
import sys


def tested_names(source: str) -> tuple[list[str], list[str]]:
    """Return the names that tests take from the program, and the modules that they use without an import.

    A name of Python's own is not the program's to define: a program could otherwise redefine ``abs``, and with it what
    its tests say. The exception is a test that knows no other names: of ``assert sum(10, 15) == 6`` it is the function
    that is called first.

    Args:
        source: statements.

    Raises:
        SyntaxError: they are no Python.
    """
    nodes = list(ast.walk(ast.parse(source)))
    mentioned = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.id for node in mentioned if isinstance(node.ctx, ast.Store)}
    used = dict.fromkeys(node.id for node in mentioned if node.id not in own)
    called = [node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    bases = {node.value.id for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)}
    modules = [name for name in used if name in bases and name in sys.stdlib_module_names and name not in called]
    names = [name for name in used if not hasattr(builtins, name) and name not in modules]
    return names or called[-1:], modules  # `ast.walk` comes to the innermost call last
