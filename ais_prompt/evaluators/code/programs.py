"""Make a program of a model's answer, and find the names that its tests use."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
import sys
from typing import Final

NOT_PYTHON: Final = (SyntaxError, ValueError, MemoryError, RecursionError)
"""What the parser raises for texts that are no Python: `ValueError` for a null character, and the last two for a
nesting that is too deep, such as a long chain of ``elif``."""
_INDENT = "    "
_FUTURE = re.compile(r"^from[ \t]+__future__[ \t]+import[ \t]+(?:\([^)]*\)|[^\n]*)$", re.MULTILINE)


def humaneval_program(prompt: str, answer: str, entry_point: str) -> str:
    """Return the whole function.

    The answer is the body unless it defines the function itself. A body often lacks the indentation of its first line,
    or of all lines, because the text was stripped; then it is restored.

    Args:
        prompt: imports, signature and docstring; ends in the middle of the function.
        answer: the body, or the whole function, perhaps with imports and other functions.
        entry_point: the name of the function.
    """
    imports = "".join(f"{line}\n" for line in _FUTURE.findall(answer))  # they must come first
    answer = _FUTURE.sub("", answer)
    if _defines(answer, entry_point):
        # The prompt alone is an empty function; that of the answer, which needs the same imports, replaces it.
        return f"{imports}{prompt}\n{answer}"
    return imports + prompt.rstrip(" ") + _indented(answer)


def _defines(program: str, name: str) -> bool:
    """Return whether a program gives a name to a function at its top level, by def, class, import or assignment."""
    if re.search(rf"^(?:(?:async +)?def|class) +{re.escape(name)}\b", program, re.MULTILINE):
        return True  # even if the program is not whole
    try:
        top = symtable.symtable(program, "answer", "exec")
    except NOT_PYTHON:
        return False
    symbol = top.lookup(name) if name in top.get_identifiers() else None
    return symbol is not None and (symbol.is_assigned() or symbol.is_imported())


def _indented(body: str) -> str:
    first, newline, rest = body.partition("\n")
    if first[:1].isspace() or not first:
        return body
    if _lost_indentation_of(first, [line for line in rest.splitlines() if line.strip()]):
        return _INDENT + first + newline + rest
    return "\n".join(_INDENT + line if line.strip() else line for line in body.split("\n"))


def _lost_indentation_of(first: str, rest: list[str]) -> bool:
    """Return whether only the first line of a body has lost its indentation."""
    if not rest or not all(line.startswith(_INDENT) for line in rest):
        return False
    # The line after a colon is one step deeper, which gives the depth of the first line.
    is_deeper = rest[0].startswith(2 * _INDENT)
    return is_deeper or not first.rstrip().endswith(":")


def tested_names(source: str) -> tuple[list[str], list[str]]:
    """Return the names that tests take from the program, and the modules that they use without an import.

    Names of builtins are left out: a program could otherwise redefine ``abs``, and with it what its tests
    check. If a test uses no other names, the function that is called first is returned: ``sum`` of
    ``assert sum(10, 15) == 6``.

    Args:
        source: statements.

    Raises:
        SyntaxError, ValueError, MemoryError, RecursionError: they are not Python, as in `NOT_PYTHON`.
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
