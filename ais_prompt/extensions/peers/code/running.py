"""Call loaders, evaluators and postprocessors as OpenCompass and AISBench call them, and read their values.

For worker processes only.
"""

from __future__ import annotations

import inspect
import json
import logging
import math
import numbers
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from ais_prompt.evaluators import BatchVerdict
from ais_prompt.extensions.peers.code.calls import (
    PROMPT,
    STYLES,
    CheckCall,
    EvaluateCall,
    JudgedCall,
    LoadCall,
    PostprocessCall,
    RetrieveCall,
    read_table,
    write_table,
)
from ais_prompt.extensions.peers.code.importing import resolve, with_parts

LOADER_BASE: Final = frozenset({"abbr", "k", "n", "reader_cfg"})
"""Arguments that the base class of datasets takes; the others go to ``load``."""


READERS: Final = {
    "opencompass": "opencompass.openicl.icl_dataset_reader",
    "ais_bench": "ais_bench.benchmark.openicl.icl_dataset_reader",
}
"""Package of a peer → the module with its reader of columns."""

ASKS_A_JUDGE: Final = "LMEvaluator"
"""A class whose own code asks a judge; the class itself is translated, its subclasses cannot be."""


class WrongArguments(TypeError):
    """The arguments of a part do not fit its signature."""


def check(call: CheckCall) -> list[str]:
    """Return the parameters of a part's main method, after comparing its arguments with its signature.

    Raises:
        WrongArguments: they do not fit.
        Exception: whatever importing the part raises.
    """
    part, kwargs = resolve(call.path), with_parts(call.kwargs)
    if call.kind == "dataset":
        target = part.load if _is_plain_loader(part) else part
        _bind(target, kwargs if target is part else _loader_kwargs(kwargs), call.path, is_method=target is not part)
        return list(inspect.signature(part.load).parameters)
    if call.kind == "template":
        _bind(part, kwargs, call.path)
        return list(inspect.signature(part.generate_item).parameters)
    if call.kind == "retriever":
        _bind(part, {**kwargs, "dataset": None}, call.path)
        return []
    if call.kind == "postprocessor":
        _bind(partial(part, "") if callable(part) else part, kwargs, call.path)
        return []
    if call.kind == "judged":
        parameters = list(inspect.signature(part).parameters)
        _bind(partial(part, {}, ""), {**kwargs, **({"dataset": None} if "dataset" in parameters else {})}, call.path)
        return parameters
    if any(base.__name__ == ASKS_A_JUDGE for base in getattr(part, "__mro__", ())):
        raise WrongArguments(f"{call.path.rpartition('.')[2]} asks a judge by itself, which is not possible here")
    given = {"predictions", "references"} & inspect.signature(part).parameters.keys()
    _bind(part, {**kwargs, **dict.fromkeys(given)}, call.path)
    scoring: Any = part if inspect.isclass(part) else part(**kwargs)  # a function that makes one
    return [name for name in inspect.signature(scoring.score).parameters if name != "self"]


def load(call: LoadCall) -> dict[str, str]:
    """Load a dataset, and return split → Arrow file.

    Raises:
        Exception: whatever their code raises.
    """
    import datasets

    datasets.disable_progress_bars()
    part, kwargs = resolve(call.path), with_parts(call.kwargs)
    found = _loaded(part, kwargs)
    splits = found if isinstance(found, Mapping) else {"test": found}
    template = None if call.prompt is None else resolve(call.prompt)()
    files = {}
    for number, (split, rows) in enumerate(splits.items()):
        files[str(split)] = str(Path(call.folder) / f"{number}.arrow")
        _write(rows if template is None else _with_prompts(rows, template), files[str(split)])
    return files


def _with_prompts(rows: Any, template: Any) -> list[dict[str, Any]]:
    """Return rows with the prompt that a template writes for each: the text of its only turn.

    Raises:
        WrongArguments: it writes several turns.
    """
    found = []
    for row in map(dict, rows):
        written = template.generate_item(row)
        turns = [written] if isinstance(written, str) else [turn for turn in written if _is_turn(turn)]
        if len(turns) != 1:
            raise WrongArguments(f"{type(template).__name__} writes {len(turns)} turns, not one")
        turn = turns[0]
        found.append({**row, PROMPT: turn if isinstance(turn, str) else turn.get("prompt", turn.get("content"))})
    return found


def _is_turn(item: Any) -> bool:
    """Return whether an item of a prompt is a text or a turn, and no mark of a section."""
    return bool(item) and not (isinstance(item, Mapping) and "section" in item)


def score(call: EvaluateCall) -> BatchVerdict:
    """Score all answers of a dataset.

    Raises:
        WrongArguments: ``score`` asks for something that is not known here.
        Exception: whatever their code raises.
    """
    part, kwargs = resolve(call.path), with_parts(call.kwargs)
    with tempfile.TemporaryDirectory() as folder:
        offered = dict(call.offered)
        if call.rows is not None:
            offered["test_set"] = _rows(call.rows)
        given = {"predictions", "references"} & inspect.signature(part).parameters.keys()
        evaluator = part(**{**{name: offered[name] for name in given}, **kwargs})
        evaluator._out_dir = str(Path(folder) / "results")
        evaluator._dataset_replica_idx = call.replica
        if hasattr(evaluator, "pred_postprocess"):
            offered["predictions"] = evaluator.pred_postprocess(offered["predictions"])
        result = evaluator.score(**_wanted(evaluator.score, offered, call.path))
    return verdict(result, len(call.offered["predictions"]), f"{call.path.rpartition('.')[2]}.score")


def score_judged(call: JudgedCall) -> BatchVerdict:
    """Score what a judge said, with a ``dict_postprocessor``.

    Raises:
        Exception: whatever their code raises.
    """
    part, kwargs = resolve(call.path), with_parts(call.kwargs)
    if call.rows is not None:
        rows = _rows(call.rows)
        kwargs["dataset"] = SimpleNamespace(test=rows, reader=SimpleNamespace(dataset={"test": rows}))
    with tempfile.TemporaryDirectory() as folder:
        result = part(dict(call.output), str(Path(folder) / "judged.json"), **kwargs)
    return judged_verdict(result, len(call.output), call.path.rpartition(".")[2], call.model)


def retrieve(call: RetrieveCall) -> list[list[int]]:
    """Return the train rows that a retriever chooses for each question.

    Raises:
        Exception: whatever their code raises.
    """
    import datasets

    part, kwargs = resolve(call.path), with_parts(call.kwargs)
    splits = datasets.DatasetDict(
        {name: datasets.Dataset(read_table(file)) for name, file in (("train", call.train), ("test", call.test))}
    )
    reader_class = resolve(f"{READERS[call.path.partition('.')[0]]}.DatasetReader")
    reader = reader_class(splits, input_columns=list(call.input_columns), output_column=None)
    dataset = SimpleNamespace(reader=reader, train=splits["train"], test=splits["test"])
    return [[int(row) for row in rows] for rows in part(dataset=dataset, **kwargs).retrieve()]


def postprocess(call: PostprocessCall) -> list[Any]:
    """Return what a function makes of each text.

    Raises:
        Exception: whatever it raises.
    """
    function = _function(call.path, json.dumps(call.kwargs))
    return [function(text) for text in call.texts]


@lru_cache(64)
def _function(path: str, kwargs: str) -> Callable[[Any], Any]:
    return partial(resolve(path), **with_parts(json.loads(kwargs)))


def _bind(target: Callable[..., Any], kwargs: Mapping[str, Any], path: str, *, is_method: bool = False) -> None:
    try:
        signature = inspect.signature(target)
        parameters = list(signature.parameters.values())
        if is_method and parameters and parameters[0].name == "self":
            signature = signature.replace(parameters=parameters[1:])
        signature.bind(**kwargs)
    except ValueError:  # some builtins have no signature
        return
    except TypeError as error:
        raise WrongArguments(f"{path.rpartition('.')[2]}: {error}") from None


def _is_plain_loader(part: Any) -> bool:
    """Return whether a dataset class leaves the constructor to the peers' base class."""
    owner = next((base for base in getattr(part, "__mro__", ()) if "__init__" in vars(base)), object)
    return owner.__name__ == "BaseDataset" or owner is object


def _loader_kwargs(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in kwargs.items() if name not in LOADER_BASE}


def _loaded(part: Any, kwargs: Mapping[str, Any]) -> Any:
    if not _is_plain_loader(part):
        reader: dict[str, Any] = {"input_columns": [], "output_column": None}
        return part(**{"reader_cfg": reader, "abbr": "dataset", **kwargs}).dataset
    made = part.__new__(part)
    made.abbr, made.logger = kwargs.get("abbr", "dataset"), logging.getLogger(part.__name__)
    made.task_state_manager = None
    return made.load(**_loader_kwargs(kwargs))


def _write(rows: Any, file: str) -> None:
    """Write a split as an Arrow file; it may be a `datasets.Dataset`, or any rows."""
    import datasets

    if isinstance(rows, Iterable) and not isinstance(rows, datasets.Dataset):
        rows = datasets.Dataset.from_list([dict(row) for row in rows])
    write_table(rows.with_format("arrow")[:], file)


def _rows(file: str) -> Any:
    import datasets

    rows = datasets.Dataset(read_table(file))
    # The peers number the rows of each dataset, and some evaluators group by it.
    numbers: dict[str, list[Any]] = {"subdivision": ["dataset"] * len(rows), "idx": list(range(len(rows)))}
    for name, values in numbers.items():
        if name not in rows.column_names:
            rows = rows.add_column(name, values)
    return rows


def _wanted(method: Callable[..., Any], offered: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return the arguments that a method has parameters for."""
    parameters = inspect.signature(method).parameters.values()
    for parameter in parameters:
        needed = parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_KEYWORD,
            parameter.VAR_POSITIONAL,
        )
        if needed and parameter.name not in offered:
            raise WrongArguments(
                f"{path.rpartition('.')[2]}.score asks for {parameter.name!r}, which is not known here"
            )
    names = {parameter.name for parameter in parameters}
    return {name: value for name, value in offered.items() if name in names}


RIGHT: Final = ("correct", "is_correct", "cascade_correct")
"""Keys of a detail that say whether an answer is right, in the order in which the peers look for them."""
WHOLE: Final = (
    "score",
    "total",
    "overall",
    "overall_score",
    "Average_score",
    "final_score",
    "average",
    "总分",
    "accuracy",
)
"""Names of the number for the whole dataset, among those for its categories."""
DETAILS: Final = "details"
PERCENT: Final = 100.0


class NoVerdict(Exception):
    """An evaluator returned no number."""


def verdict(result: Any, answers: int, name: str) -> BatchVerdict:
    """Return the numbers of a result.

    Args:
        result: what ``score`` returned.
        answers: how many there were.
        name: of what returned it, for the error.

    Raises:
        NoVerdict: it holds no number, or an ``error``.
    """
    if not isinstance(result, Mapping):
        raise NoVerdict(f"{name} returns {type(result).__name__}, not a dict")
    if "error" in result:
        raise NoVerdict(f"{name}: {result['error']}")
    metrics = dict(_numbers(result))
    if not metrics:
        raise NoVerdict(f"{name} gives no number but {', '.join(map(str, result)) or 'nothing'}")
    return BatchVerdict(metrics, _each(result.get(DETAILS), answers, metrics))


def judged_verdict(result: Any, answers: int, name: str, model: str) -> BatchVerdict:
    """Return the numbers that a function makes of what a judge said. The one for the whole dataset comes first.

    Args:
        result: what it returned.
        answers: how many there were.
        name: its name, for the error.
        model: whose answers were judged; comparisons, as ``matches``, become its ``win_rate`` and battles.

    Raises:
        NoVerdict: it holds no number, or an ``error``.
    """
    if isinstance(result, Mapping) and isinstance(matches := result.get("matches"), list):
        if not matches:
            raise NoVerdict(f"{name} found no verdict in what the judge said")
        rate = PERCENT * math.fsum(_share(match, model) for match in matches) / len(matches)
        return BatchVerdict({"win_rate": rate}, {}, [_battle(match) for match in matches])
    found = verdict(result, answers, name)
    first = [name for name in WHOLE if name in found.metrics]
    return BatchVerdict({name: found.metrics[name] for name in (*first, *found.metrics)}, found.each)


def _share(match: Mapping[str, Any], model: str) -> float:
    """Return what a comparison is worth to a model: 1 for a win, 0.5 for a tie."""
    if match["winner"] not in ("model_a", "model_b"):
        return 0.5
    return float(match[match["winner"]] == model)


def _battle(match: Mapping[str, Any]) -> dict[str, Any]:
    """Return a comparison as `ais_prompt.extensions.peers.tables.ratings_of` takes it."""
    counts = match.get("conv_metadata", {})
    return {
        "models": [match["model_a"], match["model_b"]],
        "points": {"model_a": 1.0, "model_b": 0.0}.get(match["winner"], 0.5),
        "styles": [[_count(counts.get(f"{name}{end}", 0)) for name in STYLES] for end in ("_a", "_b")],
        "groups": {key: value for key, value in match.items() if key not in _OF_MATCH},
    }


def _count(found: Any) -> int:
    """Return a number of style elements, of all kinds together."""
    return int(sum(found.values()) if isinstance(found, Mapping) else found)


_OF_MATCH: Final = frozenset({"winner", "model_a", "model_b", "prediction1", "prediction2", "conv_metadata"})


def _numbers(values: Mapping[Any, Any], prefix: str = "") -> list[tuple[str, float]]:
    """Return all numbers, those of an inner dict as ``outer/inner``."""
    found: list[tuple[str, float]] = []
    for key, value in values.items():
        if key == DETAILS:
            continue
        if isinstance(value, Mapping):
            found += _numbers(value, f"{prefix}{key}/")
        elif (number := _number(value)) is not None:
            found.append((f"{prefix}{key}", number))
    return found


def _each(details: Any, answers: int, metrics: Mapping[str, float]) -> dict[str, Sequence[float]]:
    """Return the values of each answer for those metrics that are a mean of what the details say."""
    items = list(details.values()) if isinstance(details, Mapping) else details
    if not isinstance(items, list | tuple) or len(items) != answers or not answers:
        return {}
    columns = [column for key in (*RIGHT, *metrics) if (column := _column(items, key))]
    found: dict[str, Sequence[float]] = {}
    for metric, value in metrics.items():
        means = [column for column in columns if _is_mean(value, column)]
        if means:
            found[metric] = means[0]
    return found


def _column(items: Sequence[Any], key: str) -> list[float]:
    """Return the numbers of all details under a key; empty if one of them has none."""
    values = [_number(item.get(key)) if isinstance(item, Mapping) else None for item in items]
    return [value for value in values if value is not None] if None not in values else []


def _is_mean(value: float, column: Sequence[float]) -> bool:
    """Return whether a metric is the mean of a column, or its percentage; some evaluators round it to two digits."""
    mean = math.fsum(column) / len(column)
    return any(
        math.isclose(value, exact, rel_tol=1e-6, abs_tol=1e-9) or math.isclose(value, round(exact, 2), abs_tol=1e-9)
        for exact in (mean, PERCENT * mean)
    )


def _number(value: Any) -> float | None:
    """Return a number of any library as a float; None for anything else."""
    if isinstance(value, numbers.Real) or hasattr(value, "dtype"):
        try:
            number = float(value)
        except (TypeError, ValueError):
            return None
        return number if math.isfinite(number) else None
    return None
