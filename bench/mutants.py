"""The mutants of a module: small changes of its functions, all compiled into one module and switched on by a number.

`mutated` wraps each expression in ``mutant if __mutant__(number) else original``, and each statement in such an ``if``.
The function ``__mutant__`` decides which mutant is active, and sees which of them a test reaches.

Changed are the bodies of functions, not what is evaluated at import: numbers of a module are changed where a function
uses them. Left out is what tests should not fix: docstrings, annotations, f-strings, log calls, assertions, and the
texts of errors.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final, NamedTuple

SWITCH: Final = "__mutant__"
COMPARISONS: Final[Mapping[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS: Final[Mapping[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,  # not the other way round: `|` joins types too
}
FUNCTIONS: Final = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list", "reversed": "list"}
MESSAGE_KEYWORDS: Final = frozenset(("exc_info", "fix", "what", "where"))
MESSAGE_CALLS: Final = ("logger.", "warnings.warn", "cast(")
"""Beginnings of calls whose arguments are for people or for mypy; the names of error classes end with Error."""


class Mutant(NamedTuple):
    """A change of one place.

    Attributes:
        function: the qualified name of the function.
        line: where the change is.
        change: the former and the new code.
        nth: the number of the same change within the function, from 0.
    """

    function: str
    line: int
    change: str
    nth: int

    @property
    def key(self) -> str:
        """A name that stays the same while its function does, wherever that is."""
        return f"{self.function}: {self.change} #{self.nth}"


def mutated(source: str, first: int) -> tuple[ast.Module, list[Mutant]]:
    """Return a module that holds its mutants, and the mutants: that number ``first``, the next one and so on."""
    tree = ast.parse(source)
    mutator = _Mutator(tree, first)
    return ast.fix_missing_locations(mutator.visit(tree)), mutator.mutants


class _Mutator(ast.NodeTransformer):
    def __init__(self, tree: ast.Module, first: int) -> None:
        self.mutants: list[Mutant] = []
        self._first = first
        self._names: list[str] = []
        self._functions = 0  # how many of them the place is in
        self._seen: Counter[tuple[str, str]] = Counter()
        self._numbers = {
            ast.unparse(node.target)
            for node in tree.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant)
            if isinstance(node.value.value, int | float)
        }
        nodes = list(ast.walk(tree))
        self._left_out = {id(found) for node in nodes for found in _left_out(node)}
        self._conditions = {id(node.test) for node in nodes if isinstance(node, ast.If | ast.While | ast.IfExp)}
        self._conditions |= {id(test) for node in nodes if isinstance(node, ast.comprehension) for test in node.ifs}

    def visit(self, node: ast.AST) -> Any:
        """Return a node with its mutants around it."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            is_function = not isinstance(node, ast.ClassDef)
            self._names.append(node.name)
            self._functions += is_function
            node.body = [self.visit(statement) for statement in node.body]  # neither decorators nor defaults
            self._functions -= is_function
            self._names.pop()
            return node
        if isinstance(node, ast.Module):
            return self.generic_visit(node)
        if not self._functions or id(node) in self._left_out:
            return node
        # The code of a mutant holds no other mutants: one is active at a time.
        changes = [(deepcopy(changed), text) for changed, text in self._changes(node)]
        node = self.generic_visit(node)
        for changed, text in changes:
            node = self._choice(node, changed, text)
        return node

    def _choice(self, node: Any, changed: Any, text: str) -> ast.AST:
        """Return the code that is ``changed`` if the next mutant is active, else ``node``."""
        function = ".".join(self._names)
        is_active = ast.Call(ast.Name(SWITCH, ast.Load()), [ast.Constant(self._first + len(self.mutants))], [])
        self.mutants.append(Mutant(function, node.lineno, text, self._seen[function, text]))
        self._seen[function, text] += 1
        if isinstance(node, ast.stmt):
            return ast.copy_location(ast.If(is_active, [changed], [node]), node)
        return ast.copy_location(ast.IfExp(is_active, changed, node), node)

    def _changes(self, node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
        """Yield the mutants of a node, each with its description."""
        code = ast.unparse(node)
        if isinstance(node, ast.stmt):
            if isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
                yield ast.Return(ast.Constant(None)), f"{code} → return None"
            elif self._can_go(node):
                yield ast.Pass(), f"{code} → pass"
        elif isinstance(node, ast.expr):
            for changed in self._changed(node):
                yield changed, f"{code} → {ast.unparse(changed)}"

    def _can_go(self, node: ast.stmt) -> bool:
        """Return whether a statement can be deleted; a name that is not assigned any more would fail at once."""
        if isinstance(node, ast.Assign):
            kept = ast.Name | ast.Tuple if self._names[-1] != "__init__" else ast.expr
            return not isinstance(node.targets[0], kept)
        kinds = ast.Expr | ast.AugAssign | ast.Raise | ast.Continue | ast.Break | ast.Delete | ast.Return
        return isinstance(node, kinds)

    def _changed(self, node: ast.expr) -> Iterator[ast.expr]:
        if id(node) in self._conditions and isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.NamedExpr):
            yield ast.UnaryOp(ast.Not(), node)
        match node:
            case ast.Compare():
                for place, operator in enumerate(node.ops):
                    for other in COMPARISONS[type(operator)]:
                        ops = [*node.ops[:place], other(), *node.ops[place + 1 :]]
                        yield ast.Compare(node.left, ops, node.comparators)
            case ast.BoolOp():
                yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
                for place in range(len(node.values)):
                    values = node.values[:place] + node.values[place + 1 :]
                    yield ast.BoolOp(node.op, values) if len(values) > 1 else values[0]
            case ast.UnaryOp(op=ast.Not() | ast.USub()):
                yield node.operand
            case ast.BinOp() if type(node.op) in OPERATORS:
                yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
            case ast.Constant(value=bool() as flag):
                yield ast.Constant(not flag)
            case ast.Constant(value=int() | float() as number):
                yield ast.Constant(2 * number + 1)
            case ast.Constant(value=str() as text):
                yield ast.Constant(f"{text}~")
            case ast.Constant(value=bytes()):
                yield ast.Constant(b"~")
            case ast.Name(id=name, ctx=ast.Load()) if name in self._numbers:
                yield ast.BinOp(ast.BinOp(ast.Constant(2), ast.Mult(), node), ast.Add(), ast.Constant(1))
            case ast.Call():
                if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
                    yield ast.Call(ast.Name(FUNCTIONS[node.func.id], ast.Load()), node.args, node.keywords)
                for keyword in node.keywords:
                    if keyword.arg not in MESSAGE_KEYWORDS:
                        yield ast.Call(node.func, node.args, [one for one in node.keywords if one is not keyword])


def _left_out(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is not changed of a node: the node itself or some of its children."""
    match node:
        case ast.JoinedStr() | ast.Assert() | ast.pattern() | ast.arguments() | ast.Expr(value=ast.Constant()):
            yield node
        case ast.AnnAssign():
            yield node.annotation
        case ast.Raise():
            yield from filter(None, (node.exc, node.cause))
        case ast.keyword(arg=name) if name in MESSAGE_KEYWORDS:
            yield node
        case ast.Call() if ast.unparse(node).startswith(MESSAGE_CALLS) or ast.unparse(node.func).endswith("Error"):
            yield node
        case ast.Expr(value=ast.Call() as call) if ast.unparse(call).startswith(MESSAGE_CALLS):
            yield node
