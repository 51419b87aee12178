"""Score what an agent did: the tools that it called, what it needed, and what it left behind."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal

from msgspec import Struct

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.evaluators import AnswerBatch, BatchVerdict
from ais_prompt.extensions.agents.trajectory import CalledTool, called_tools
from ais_prompt.parts import calling, defined_at
from ais_prompt.registry import EVALUATORS, import_dotted
from ais_prompt.types import Completion, LeftFile, SampleScore, Score
from ais_prompt.utils import is_missing, parse_text, require, require_installed

_FORM: Final = "write ['search', {'name': 'book', 'arguments': {'city': 'Paris'}}, {'name': 'pay', 'schema': {...}}]"
NEEDS: Final = ("steps", "tool_calls", "total_tokens", "cost", "seconds")
"""Metrics of what an agent needed, beside whether it did what was expected."""


class ExpectedTool(Struct, frozen=True):
    """A call that is expected.

    Attributes:
        name: of the tool.
        arguments: values that the arguments must have; others may be there too.
        schema: JSON schema of the arguments; None for any.
    """

    name: str
    arguments: Mapping[str, Any] = {}
    schema: Mapping[str, Any] | None = None

    def fits(self, call: CalledTool) -> bool:
        """Return whether a call is as expected. Numbers are equal as 2 and 2.0 are; other values exactly."""
        if call.name != self.name:
            return False
        given = call.arguments if isinstance(call.arguments, dict) else {}
        if any(name not in given or not _same(given[name], value) for name, value in self.arguments.items()):
            return False
        if self.schema is None:
            return True
        jsonschema = require("jsonschema", extra="instructions", why="TrajectoryEvaluator")
        kind = jsonschema.validators.validator_for(self.schema, default=jsonschema.Draft202012Validator)
        return bool(kind(self.schema).is_valid(call.arguments))


class _BatchOnly:
    """What an evaluator has that scores all answers together."""

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002
        """Return nothing: see `score_all`."""
        return {}

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:  # noqa: ARG002
        """Return nothing: see `score_all`."""
        return []


@EVALUATORS.register_module()
class TrajectoryEvaluator(_BatchOnly):
    """Score the way of an agent: 1 if it called the expected tools and kept to its limits, else 0.

    ``trajectory`` is the mean. ``steps``, ``tool_calls``, ``total_tokens``, ``cost`` and ``seconds`` are the means of
    what a sample needed. It knows the agents of this extension and `ToolLoopInferencer`::

        dict(type='TrajectoryEvaluator', tools=['search', dict(name='book', arguments=dict(city='Paris'))],
             order='in_order', forbidden=['delete'], max_steps=6)

    Args:
        tools: calls that are expected: the names of tools, or ``dict(name=..., arguments=..., schema=...)``. A text is
            the column that has them, as a list or JSON; a row without any expects none.
        order: ``all`` of them, ``any`` of them, ``in_order`` (others may come between) or ``exactly`` these.
        forbidden: names of tools that must not be called.
        max_steps: most requests to the model.
        max_cost: most cost of a sample, in the currency of the model's ``price``.

    Raises:
        ConfigError: there is no such order, or an expected call has another form.
        MissingExtra: a schema needs a package that is not installed.
    """

    metrics: tuple[str, ...] = ("trajectory", *NEEDS)
    lower_is_better = NEEDS

    def __init__(
        self,
        tools: str | Sequence[str | Mapping[str, Any]] = (),
        order: Literal["all", "any", "in_order", "exactly"] = "all",
        forbidden: Sequence[str] = (),
        max_steps: int | None = None,
        max_cost: float | None = None,
    ) -> None:
        if order not in ("all", "any", "in_order", "exactly"):
            fix = "write 'all', 'any', 'in_order' or 'exactly'"
            raise ConfigError(f"there is no order {order!r}", where="order", fix=fix)
        self.column = tools if isinstance(tools, str) else ""
        try:
            self.tools = () if isinstance(tools, str) else expected_tools(tools)
        except DataError as error:
            raise ConfigError(error.what, where="tools", fix=error.fix) from None
        if any(tool.schema is not None for tool in self.tools):
            require_installed("jsonschema", extra="instructions", why=type(self).__name__)
        self.order = order
        self.forbidden = frozenset(forbidden)
        self.max_steps = max_steps
        self.max_cost = max_cost

    def score_all(self, batch: AnswerBatch) -> BatchVerdict:
        """Score all trajectories.

        Raises:
            DataError: the column does not hold expected calls.
        """
        rows = batch.rows() if self.column else [{}] * len(batch.predictions)
        values = [self._values(one, row) for one, row in zip(batch.completions, rows, strict=True)]
        return _batch_verdict(values, self.metrics, self.metrics[1:])

    def _values(self, completions: Sequence[Completion], row: Mapping[str, Any]) -> dict[str, float]:
        trajectory = [call for one in completions for call in one.trajectory]
        calls = called_tools(trajectory)
        costs = [call.cost for call in trajectory if call.cost is not None]
        usages = [call.completion.usage for call in trajectory]
        needed = {
            "steps": len(trajectory),
            "tool_calls": len(calls),
            "total_tokens": sum((one.prompt_tokens or 0) + (one.completion_tokens or 0) for one in usages),
            "seconds": sum(one.seconds for one in completions),
            **({"cost": sum(costs)} if costs or not trajectory else {}),
        }
        tools = expected_tools(_column(row, self.column)) if self.column else self.tools
        is_right = (
            follows(calls, tools, self.order)
            and not any(call.name in self.forbidden for call in calls)
            and (self.max_steps is None or len(trajectory) <= self.max_steps)
            and (self.max_cost is None or sum(costs) <= self.max_cost)
        )
        return {"trajectory": float(is_right), **{name: float(value) for name, value in needed.items()}}


def expected_tools(given: Sequence[str | Mapping[str, Any]]) -> tuple[ExpectedTool, ...]:
    """Return expected calls.

    Raises:
        DataError: one has another form.
    """
    found = []
    for one in given:
        if isinstance(one, str):
            found.append(ExpectedTool(one))
        elif isinstance(one, Mapping) and isinstance(one.get("name"), str) and one.keys() <= _KEYS:
            found.append(ExpectedTool(one["name"], one.get("arguments") or {}, one.get("schema")))
        else:
            raise DataError(f"this is no expected call of a tool: {one!r:.80}", fix=_FORM)
    return tuple(found)


_KEYS: Final = {"name", "arguments", "schema"}


def follows(calls: Sequence[CalledTool], tools: Sequence[ExpectedTool], order: str) -> bool:
    """Return whether calls are as expected; each call fulfils one expectation at most, but for ``any``."""
    if order == "any":
        return not tools or any(tool.fits(call) for tool in tools for call in calls)
    if order == "exactly":
        return len(calls) == len(tools) and all(map(ExpectedTool.fits, tools, calls))
    if order == "in_order":
        left = iter(calls)
        return all(any(tool.fits(call) for call in left) for tool in tools)
    return _matched(calls, tools)


def _matched(calls: Sequence[CalledTool], tools: Sequence[ExpectedTool]) -> bool:
    """Return whether each expectation has a call of its own (a bipartite matching, by augmenting paths)."""
    owner: dict[int, int] = {}

    def assign(tool: int, seen: set[int]) -> bool:
        for place, call in enumerate(calls):
            if place not in seen and tools[tool].fits(call):
                seen.add(place)
                if place not in owner or assign(owner[place], seen):
                    owner[place] = tool
                    return True
        return False

    return all(assign(tool, set()) for tool in range(len(tools)))


@EVALUATORS.register_module()
class StateEvaluator(_BatchOnly):
    """Score what an agent left behind, with a function of your own.

    The function takes what was left, and the row: a mapping with ``answer``, ``files`` (name → text, bytes, or None
    beyond the limit of `CommandModel`) and ``tools`` (the calls, each with ``name``, ``arguments``, ``result`` and
    ``step``). It returns a number, a truth value, or a mapping of numbers::

        def is_fixed(left, row):
            return 'return a + b' in (left['files'].get('sum.py') or '')

        dict(type='StateEvaluator', function='my_checks:is_fixed')

    Args:
        function: the function, or its dotted path ``module:function``.
        metric: name of the number that it returns.

    Raises:
        ConfigError: there is no such function.
    """

    runs_code: ClassVar = True

    def __init__(self, function: str | Callable[..., Any], metric: str = "state") -> None:
        self.function = function if callable(function) else import_dotted(function.replace(":", "."))
        self.metrics = (metric,)

    def score_all(self, batch: AnswerBatch) -> BatchVerdict:
        """Call the function for each answer.

        Raises:
            PartError: it raised an exception.
            DataError: it returned something else than numbers.
        """
        given = zip(batch.predictions, batch.completions, batch.rows(), strict=True)
        values = [self._values(answer, completions, row) for answer, completions, row in given]
        return _batch_verdict(values, values[0] if values else ())

    def _values(self, answer: Any, completions: Sequence[Completion], row: Mapping[str, Any]) -> dict[str, float]:
        files = {file.name: content_of(file) for one in completions for file in one.files}
        calls = [call._asdict() for one in completions for call in called_tools(one.trajectory)]
        with calling("StateEvaluator", self.function):
            found = self.function({"answer": answer, "files": files, "tools": calls}, row)
        values = found if isinstance(found, Mapping) else {self.metrics[0]: found}
        if odd := [value for value in values.values() if not isinstance(value, bool | int | float)]:
            what = f"the function of StateEvaluator returned {odd[0]!r:.80}, which is no number"
            raise DataError(what, where=defined_at(self.function), fix="return a number, a bool, or a dict of them")
        return {str(name): float(value) for name, value in values.items()}


def _batch_verdict(
    values: Sequence[Mapping[str, float]], names: Iterable[str], amounts: Sequence[str] = ()
) -> BatchVerdict:
    """Return the values of all answers, and their means, of the metrics that every answer has."""
    each = {name: [one[name] for one in values] for name in names if all(name in one for one in values)}
    means = {name: sum(column) / len(column) if column else 0.0 for name, column in each.items()}
    return BatchVerdict(means, each, amounts=amounts)


def content_of(file: LeftFile) -> str | bytes | None:
    """Return the content of a file that an agent left; None if it was not kept."""
    return base64.b64decode(file.base64) if file.base64 is not None else file.text


def _same(given: Any, expected: Any) -> bool:
    are_numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (given, expected))
    return (are_numbers or type(given) is type(expected)) and bool(given == expected)


def _column(row: Mapping[str, Any], column: str) -> Sequence[Any]:
    """Return the expected calls of a row.

    Raises:
        DataError: the column does not hold a list.
    """
    if column not in row:
        raise DataError(f"there is no column {column!r} with expected calls", fix="name the column: tools='…'")
    value = row[column]
    if is_missing(value):
        return ()
    try:
        found = parse_text(value) if isinstance(value, str) else value
    except ValueError as error:
        raise DataError(f"the column {column!r} is no list: {error}", fix=_FORM) from None
    if not isinstance(found, list | tuple):
        raise DataError(f"the column {column!r} holds no list: {value!r:.80}", fix=_FORM)
    return found
