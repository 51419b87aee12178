"""Which sampling options the body of a request can hold."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Final

from msgspec.structs import asdict

from ais_prompt.errors import ConfigError
from ais_prompt.models.flat_options import EXTRA
from ais_prompt.models.options import Sampling, Wire

_TAKEN_OPTIONS: Final = {
    "input": "prompts come from the dataset",
    "max_output_tokens": "use max_out_len",
    "max_tokens": "use max_out_len",
    "max_completion_tokens": "use max_out_len and max_tokens_field='max_completion_tokens'",
    "messages": "prompts come from the dataset",
    "model": "use the argument model",
    "n": "use n of GenInferencer",
    "prompt": "prompts come from the dataset",
    "stop": "use stop_words or sampling.stop",
    "stop_sequences": "use stop_words or sampling.stop",
    "stream": "use stream=True of the model",
    "stream_options": "use stream=True of the model",
    "system": "write a system turn into the template",
}
"""Fields of the body that the program sets itself → what to write instead."""


def check_body(sampling: Sampling, model: str) -> None:
    """Refuse sampling options that the body of a request cannot hold.

    Args:
        sampling: options of a model.
        model: its name, for the error.

    Raises:
        ConfigError: an option has a name of its own in the config, or cannot be written as JSON.
    """
    _refuse_taken(EXTRA, sampling.extra, model)
    _check_json(EXTRA, asdict(sampling), model)


def check_fields(fields: Mapping[str, Any], sampling: Sampling, model: str) -> None:
    """Refuse fields in ``body_fields`` that are options, since options count for an answer and these fields do not.

    Args:
        fields: ``body_fields`` of a model.
        sampling: its options.
        model: its name, for the error.

    Raises:
        ConfigError: a field is an option of its own or one of ``sampling``, or cannot be written as JSON.
    """
    _refuse_taken("body_fields", fields, model)
    for name in fields:
        if name in sampling.extra or name in Sampling.__struct_fields__:
            fix = "keep it in generation_kwargs, and remove it here"
            raise ConfigError(f"body_fields must not hold {name!r}, an option of sampling", where=model, fix=fix)
    _check_json("body_fields", fields, model)


def _refuse_taken(option: str, fields: Collection[str], model: str) -> None:
    for name in fields:
        if name in _TAKEN_OPTIONS:
            raise ConfigError(f"{option} must not hold {name!r}", where=model, fix=_TAKEN_OPTIONS[name])


def _check_json(option: str, value: Any, model: str) -> None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"{option} cannot be sent as JSON: {error}", where=model, fix="use plain values only"
        ) from None


def check_options(part: str, wire: Wire, sampling: Sampling, wire_options: Collection[str], *, has_seed: bool) -> None:
    """Refuse options that an API does not have.

    Args:
        part: class of the model, for the error.
        wire, sampling: its options.
        wire_options: the fields of ``wire`` that the API has.
        has_seed: whether the API has a seed.

    Raises:
        ConfigError: names the option.
    """
    fix = "leave it out: the API has nothing of the kind"
    for name in Wire.__struct_fields__:
        if name not in wire_options and getattr(wire, name) != getattr(Wire(), name):
            raise ConfigError(f"{part} has no {name}", where=name, fix=fix)
    if sampling.seed is not None and not has_seed:
        raise ConfigError(f"{part} has no seed", where="seed", fix=fix)
