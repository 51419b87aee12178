"""Evaluate a model or a function on rows, without a config: what is left out is guessed, as for ``run --data``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, Unpack

from msgspec.structs import replace

from ais_prompt.config import compose_config, in_python, plain_value
from ais_prompt.data import hold_rows
from ais_prompt.errors import ConfigError
from ais_prompt.plan import (
    DataFile,
    Description,
    completed_urls,
    describe_file,
    describe_rows,
    served_model,
)
from ais_prompt.utils import counted
from ais_prompt.verbs.api import load_config, run
from ais_prompt.verbs.keywords import EvaluateOptions, words_of_python
from ais_prompt.verbs.open_run import Run, public_errors

Part: TypeAlias = str | Mapping[str, Any] | Callable[..., Any]
"""A part: its name or dotted path, a dict with its arguments, or a function."""

_NAME: Final = "data"
"""Names a dataset of rows in memory."""


def evaluate(
    data: Any,
    *,
    url: str | Sequence[str] | None = None,
    model: str | Mapping[str, Any] | None = None,
    function: Callable[..., Any] | str | None = None,
    prompt: str | None = None,
    prompts: Mapping[str, str] | None = None,
    answer: str | None = None,
    extract: Part | None = None,
    evaluator: Part | list[Part] | None = None,
    few_shot: int = 0,
    limit: int | None = None,
    name: str = "evaluate",
    **options: Unpack[EvaluateOptions],
) -> Run:
    """Ask a model or function every question of some data, score the answers, and write a run folder.

    Args:
        data: rows: a list of dicts or of pairs (question, answer), a frame of pandas, polars or Arrow, or a dict of
            columns; or the path of a file.
        url: address of a server; ``model`` names the model if the server has several.
        model: a dict as in ``models`` of a config, or the name of a model config.
        function: takes the prompt and returns the answer, see `FunctionModel`.
        prompt: the question, with ``{column}``; None takes the column of the question.
        prompts: name → prompt, in place of ``prompt``: each is a variant of the same questions.
        answer: the column of the gold answer; None finds it by its name.
        extract: finds the answer in the text of the model: a postprocessor or a function; ``'none'`` takes the whole
            text. None decides by the gold answers.
        evaluator: compares the answer with the gold answer: an evaluator, or a function ``(answer, gold) -> float``.
            A list scores each answer with all of them. None decides by the gold answers.
        few_shot: other rows that are shown before each question.
        limit: the first so many rows only.
        name: names the run folder.
        options: as in `EvaluateOptions`.

    Returns:
        The run, as of `run`; what was guessed is in its ``warnings``.

    Raises:
        ConfigError: not one model is given, or the column of the question is not known.
        DataError: the data cannot be read.
        AisPromptError: as `run`.
    """
    if prompt is not None and prompts is not None:
        raise ConfigError("give either prompt or prompts, not both", fix="prompts=dict(short='…', steps='…')")
    is_file = isinstance(data, str | os.PathLike)
    given = evaluator if isinstance(evaluator, list) else [evaluator]
    scorers = [one for one in given if one is not None]
    described = DataFile(
        os.fspath(data) if is_file else _NAME,
        prompt=prompts or prompt,
        answer=answer,
        postprocessor=_type_of(extract, "extract"),
        evaluator=_type_of(scorers[0] if scorers else None, "evaluator"),
        few_shot=few_shot,
    )
    with public_errors(), words_of_python():
        found = describe_file(described) if is_file else _describe_rows(described, data)
        scoring = found.dataset.get("eval_cfg", {})
        if isinstance(extract, Mapping) and "pred_postprocessor" in scoring:
            scoring["pred_postprocessor"] = dict(extract)
        if scorers and "evaluator" in scoring:
            parts = [dict(one) if isinstance(one, Mapping) else {"type": _type_of(one, "evaluator")} for one in scorers]
            scoring["evaluator"] = parts if len(parts) > 1 else parts[0]
        config = {"run_name": name, "models": [_model(url, model, function)], "datasets": [found.dataset]}
        loaded = replace(
            load_config(config), notes=tuple(replace(note, what=in_python(note.what)) for note in found.notes)
        )
    return run(loaded, num_prompts=limit, **options) if limit else run(loaded, **options)


def _describe_rows(described: DataFile, data: Any) -> Description:
    held = hold_rows(data)
    table = held.value.get("test") or next(iter(held.value.values()))
    found = describe_rows(table.columns, table, described, {"type": "LocalDataset", "rows": held})
    return found._replace(sentence=f"{counted(len(table), 'row')} · {found.sentence}")


def _model(
    url: str | Sequence[str] | None, model: str | Mapping[str, Any] | None, function: Callable[..., Any] | str | None
) -> Any:
    """Return the config of the model.

    Raises:
        ConfigError: none is given, or several are.
    """
    name = model if isinstance(model, str) else None
    if sum([url is not None, model is not None and (url is None or name is None), function is not None]) != 1:
        fix = "url='http://127.0.0.1:8000/v1', model=dict(type=...), or function=my_app"
        raise ConfigError("give one of url, model and function", fix=fix)
    if function is not None:
        return {"type": "FunctionModel", "function": function}
    if url is not None:
        return served_model(completed_urls((url,) if isinstance(url, str) else tuple(url)), name)
    if name is None:
        return model
    [found] = compose_config([name], ()).values["models"]
    return found


def _type_of(part: Part | None, where: str) -> str | None:
    """Return the ``type`` of a part as a text."""
    given = part.get("type") if isinstance(part, Mapping) else part
    named: str | None = None if given is None else plain_value(given, where, holds=True)
    return named
