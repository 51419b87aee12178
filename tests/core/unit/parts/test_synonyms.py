"""What is advised exists: each key is one of a part or a table, each part is registered."""

from __future__ import annotations

import inspect
from typing import get_args, get_origin, get_type_hints

import pytest

from ais_prompt import registry
from ais_prompt.catalog import PARTS
from ais_prompt.config import all_tables
from ais_prompt.errors import AisPromptError
from ais_prompt.parts.synonyms import _PARTS, KEYS, key_advice, part_meant


def all_keys() -> set[str]:
    """The keys of all tables, and the arguments of all models, inferencers, retrievers and readers."""
    found = {name for table in all_tables() for name in table.names}
    for kind in ("models", "inferencers", "retrievers", "readers"):
        for name in PARTS[kind]:
            try:
                part = getattr(registry, kind.upper()).get(name)
            except AisPromptError:  # an optional package
                continue
            hints = get_type_hints(part.__init__, include_extras=True)
            for parameter in inspect.signature(part).parameters.values():
                is_rest = parameter.kind is parameter.VAR_KEYWORD and get_origin(hints.get(parameter.name)) is not None
                found |= set(get_args(hints[parameter.name])[0].__annotations__) if is_rest else {parameter.name}
    return found


@pytest.mark.torch
def test_what_is_advised_exists() -> None:
    keys = all_keys()
    advised = {meaning.partition("=")[0] for meanings in KEYS.values() for meaning in meanings}
    assert advised - keys == set()
    assert {part for kind, parts in _PARTS.items() for part in parts.values() if part not in PARTS[kind]} == set()


@pytest.mark.parametrize(
    ("kind", "name", "part"),
    [
        ("postprocessors", "extract_last_number", "last_number_postprocess"),
        ("postprocessors", "extractFirstNumber", "first_number_postprocess"),
        ("postprocessors", "my.module.last_letter", "last_option_postprocess"),
        ("evaluators", "ExactMatchEvaluator", "EMEvaluator"),
        ("evaluators", "accuracy", "AccEvaluator"),
        ("evaluators", "LLMJudge", "GenericLLMEvaluator"),
        ("evaluators", "nothing", None),
    ],
)
def test_the_words_of_a_name_tell_the_part(kind: str, name: str, part: str | None) -> None:
    assert part_meant(kind, name) == part


def test_the_meaning_that_the_part_has_is_advised() -> None:
    assert key_advice("batch_size", ["max_concurrency"]) == "write max_concurrency=..."
    assert key_advice("name", ["path"]) == "write path='...'"
    assert key_advice("response_format", ["base_url"]) == "write generation_kwargs=dict(response_format=...)"
    assert key_advice("response_format", ["generation_kwargs"]) == "known: generation_kwargs"
    assert key_advice("temprature", ["temperature"]) == "did you mean 'temperature'?"
