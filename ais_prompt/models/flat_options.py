"""Options of models as a config writes them: read from values or flat names, and refused where a server has no use.

Configs of OpenCompass and AISBench write flat names: ``max_out_len=512`` means ``sampling=dict(max_out_len=512)``, a
field of a value in `ais_prompt.models.model_options`. One option is written in one of the two forms. `check_body`
and `check_options` refuse options that the body of a request cannot hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, TypeAlias, TypedDict, TypeVar, get_type_hints

import msgspec
from msgspec import Struct
from msgspec.structs import asdict
from pydantic import AfterValidator

from ais_prompt.errors import ConfigError
from ais_prompt.models.model_options import (
    Batching,
    Limits,
    Loading,
    LogprobsVia,
    MaxTokensField,
    Retry,
    Sampling,
    Wire,
    check_at_least,
)
from ais_prompt.parts import key_advice, type_words
from ais_prompt.secrets import SECRETS
from ais_prompt.utils import advice, listed

Value = TypeVar("Value", bound=Struct)
Fields: TypeAlias = dict[str, Any]
EXTRA: Final = "generation_kwargs (sampling.extra)"
"""Both names of the options that are passed on, for messages."""
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
_TRAFFIC: Final = {
    **{name: name for name in ("burstiness", "ramp_up_strategy", "ramp_up_start_rps", "ramp_up_end_rps")},
    **{name: name for name in ("ramp_up_seconds", "tokens_per_minute", "adaptive")},
    "seed": "interval_seed",
}
"""Key of ``traffic_cfg`` → field of `Limits`."""


class SamplingNames(TypedDict, total=False):
    """Flat names of `Sampling`.

    Attributes:
        generation_kwargs: ``temperature``, ``top_p``, ``seed``, and the fields of `sampling.extra`, in one dict.
    """

    max_out_len: int
    stop_words: Sequence[str]
    seed: int | None
    generation_kwargs: Mapping[str, Any] | None
    chat_template_kwargs: Mapping[str, Any] | None


class ServedNames(SamplingNames, total=False):
    """Flat names of models behind a server.

    Attributes:
        traffic_cfg: fields of `limits` in one dict, as in AISBench: ``burstiness``, ``ramp_up_strategy``,
            ``ramp_up_start_rps``, ``ramp_up_end_rps``, ``ramp_up_seconds``, ``tokens_per_minute``, ``adaptive``, and
            ``seed`` of the intervals.
    """

    max_concurrency: int
    timeout: float
    deadline: float | None
    request_rate: float | None
    query_per_second: float | None
    use_timestamp: bool
    traffic_cfg: Mapping[str, Any] | None
    stream: bool
    max_tokens_field: MaxTokensField
    logprobs_via: LogprobsVia | None


class LocalNames(SamplingNames, total=False):
    """Flat names of models in this process's memory."""

    tokenizer_path: str | None
    gguf_file: str | None
    model_kwargs: Mapping[str, Any] | None
    tokenizer_kwargs: Mapping[str, Any] | None
    trust_remote_code: bool
    batch_size: int
    prefix_cache_tokens: int


def _generation(options: Mapping[str, Any]) -> Fields:
    own = {name: options[name] for name in ("temperature", "top_p", "seed") if name in options}
    return {**own, "extra": {name: value for name, value in options.items() if name not in own}}


def _traffic(options: Mapping[str, Any]) -> Fields:
    for name in options:
        if name not in _TRAFFIC:
            raise ConfigError(f"traffic_cfg does not know {name!r}", where="traffic_cfg", fix=advice(name, _TRAFFIC))
    return {_TRAFFIC[name]: value for name, value in options.items()}


FLAT_NAMES: Final[Mapping[str, tuple[str, str | Callable[[Mapping[str, Any]], Fields]]]] = {
    "max_out_len": ("sampling", "max_out_len"),
    "stop_words": ("sampling", "stop"),
    "seed": ("sampling", "seed"),
    "generation_kwargs": ("sampling", _generation),
    "chat_template_kwargs": ("sampling", "chat_template_kwargs"),
    "max_concurrency": ("limits", "max_concurrency"),
    "timeout": ("limits", "timeout"),
    "deadline": ("limits", "deadline"),
    "query_per_second": ("limits", "request_rate"),
    "request_rate": ("limits", "request_rate"),
    "traffic_cfg": ("limits", _traffic),
    "use_timestamp": ("limits", "use_timestamp"),
    "stream": ("wire", "stream"),
    "max_tokens_field": ("wire", "max_tokens_field"),
    "logprobs_via": ("wire", "logprobs_via"),
    "tokenizer_path": ("loading", "tokenizer_path"),
    "gguf_file": ("loading", "gguf_file"),
    "model_kwargs": ("loading", "model_kwargs"),
    "tokenizer_kwargs": ("loading", "tokenizer_kwargs"),
    "trust_remote_code": ("loading", "trust_remote_code"),
    "batch_size": ("batching", "batch_size"),
    "prefix_cache_tokens": ("batching", "prefix_cache_tokens"),
}
"""Flat name → argument, and the field of its value or a function that gives several fields. Later rows win."""


def read_option(
    name: str, kind: type[Value], given: Value | Mapping[str, Any] | None, flat: Mapping[str, Any], **defaults: Any
) -> Value:
    """Return the value of an argument that is given as such, as a dict of its fields, or by flat names.

    Args:
        name: the argument, such as ``sampling``.
        kind: the type of its value.
        given: the argument; None if it is not given.
        flat: every flat name that is given, also those of other arguments. None counts as not given.
        defaults: fields that have another default where flat names are used.

    Raises:
        ConfigError: both forms are used, or a field is unknown or wrong.
    """
    own = {flat_name: field for flat_name, (argument, field) in FLAT_NAMES.items() if argument == name}
    used = [flat_name for flat_name in own if flat.get(flat_name) is not None]
    if given is not None and used:
        raise ConfigError(
            f"{' and '.join(used)} cannot be given beside {name}, which holds the same options",
            where=used[0],
            fix=f"write {_as_fields(name, used[0])}, or write no {name}",
        )
    if given is not None:
        return read_value(name, kind, given)
    fields = defaults
    for flat_name in used:
        field, value = own[flat_name], flat[flat_name]
        if isinstance(field, str):
            fields |= {field: value}
        else:
            several = field(value)
            _check_types(flat_name, kind, several)
            fields |= several
    return kind(**fields)


def read_value(name: str, kind: type[Value], given: Value | Mapping[str, Any]) -> Value:
    """Return a value that may be given as a dict of its fields.

    Raises:
        ConfigError: it is something else, or a field is unknown or wrong.
    """
    if isinstance(given, kind):
        return given
    if not isinstance(given, Mapping):
        raise ConfigError(f"{name} cannot be {given!r}", fix=f"write {name}=dict({kind.__struct_fields__[0]}=...)")
    for field in given:
        if field not in kind.__struct_fields__:
            fix = advice(str(field), kind.__struct_fields__)
            raise ConfigError(f"{name} has no field {field!r}", where=f"{name}.{field}", fix=fix)
    _check_types(name, kind, given)
    # Not what `convert` returns: temperature=1 would become 1.0, and change the key of every answer.
    return kind(**given)


def _check_types(name: str, kind: type[Struct], given: Mapping[str, Any]) -> None:
    try:
        msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at ")
        place = path.strip("`").replace("$", name, 1) or name
        field = next(iter(re.findall(r"\w+", path)), "")
        subject, value = (f"{field} of {name}", given[field]) if field in given else (name, dict(given))
        problem = f"{subject} cannot be {SECRETS.hide_in_value(value)!r}: {what[:1].lower()}{what[1:]}"
        raise ConfigError(problem, where=place, fix=_takes(kind, place.removeprefix(name))) from None


def _takes(kind: type[Struct], place: str) -> str:
    """Return the type of the field at a place such as ``.stop[0]``, in words; for a whole value, its fields."""
    hints = get_type_hints(kind)
    field = next(iter(re.findall(r"\w+", place)), "")
    return f"{field} takes {type_words(hints[field])}" if field in hints else f"its fields are {listed(hints)}"


def read_retry(given: int | Retry | Mapping[str, Any]) -> Retry:
    """Return when requests are retried; a number is that of the retries.

    Raises:
        ConfigError: as `read_value`.
    """
    if isinstance(given, int):
        check_at_least(0, retry=given)
        return Retry(given)
    return read_value("retry", Retry, given)


def refuse_unknown(part: str, flat: Mapping[str, Any], names: Any) -> None:
    """Refuse an argument that is no flat name.

    Args:
        part: class of the model.
        flat: the arguments.
        names: the TypedDict of the names that it takes.

    Raises:
        ConfigError: there is no such argument.
    """
    for name in flat:
        if name not in names.__annotations__:
            fix = key_advice(name, names.__annotations__)
            raise ConfigError(f"{part} has no argument {name!r}", where=name, fix=fix)


def as_flat(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a config with ``sampling`` in flat names, so that both forms can be compared."""
    sampling = arguments.get("sampling")
    if not isinstance(sampling, Mapping):
        return arguments
    names = {field: name for name, (argument, field) in FLAT_NAMES.items() if argument == "sampling"}
    flat = {names[field]: value for field, value in sampling.items() if field in names}
    options = {field: value for field, value in sampling.items() if field in ("temperature", "top_p")}
    rest = {name: value for name, value in arguments.items() if name != "sampling"}
    return {**rest, **flat, "generation_kwargs": {**options, **sampling.get("extra", {})}}


def _as_fields(name: str, flat_name: str) -> str:
    """How a flat name is written as a field."""
    field = FLAT_NAMES[flat_name][1]
    return f"{name}=dict({field}=...)" if isinstance(field, str) else f"the keys of {flat_name} as fields of {name}"


def checked_by(read: Callable[[Any], object]) -> AfterValidator:
    """Let the check of a config read a value, which stays as it is; None is not read."""

    def check(given: Any) -> Any:
        if given is not None:
            read(given)
        return given

    return AfterValidator(check)


def _fields_of(name: str, kind: type[Struct]) -> AfterValidator:
    return checked_by(partial(read_value, name, kind))


SamplingOption: TypeAlias = Annotated[Sampling | Mapping[str, Any] | None, _fields_of("sampling", Sampling)]
LimitsOption: TypeAlias = Annotated[Limits | Mapping[str, Any] | None, _fields_of("limits", Limits)]
RetryOption: TypeAlias = Annotated[int | Retry | Mapping[str, Any], checked_by(read_retry)]
WireOption: TypeAlias = Annotated[Wire | Mapping[str, Any] | None, _fields_of("wire", Wire)]
LoadingOption: TypeAlias = Annotated[Loading | Mapping[str, Any] | None, _fields_of("loading", Loading)]
BatchingOption: TypeAlias = Annotated[Batching | Mapping[str, Any] | None, _fields_of("batching", Batching)]


def check_body(sampling: Sampling, fields: Mapping[str, Any], model: str) -> None:
    """Refuse sampling options that the body of a request cannot hold, and options in ``body_fields``.

    Options count for an answer, and ``body_fields`` do not.

    Args:
        sampling: options of a model.
        fields: its ``body_fields``.
        model: its name, for the error.

    Raises:
        ConfigError: an option or a field has a name of its own in the config, or cannot be written as JSON, or a field
            is one of ``sampling``.
    """
    refuse_taken(EXTRA, sampling.extra, model)
    _check_json(EXTRA, asdict(sampling), model)
    refuse_taken("body_fields", fields, model)
    for name in fields:
        if name in sampling.extra or name in Sampling.__struct_fields__:
            fix = "keep it in generation_kwargs, and remove it here"
            raise ConfigError(f"body_fields must not hold {name!r}, an option of sampling", where=model, fix=fix)
    _check_json("body_fields", fields, model)


def refuse_taken(option: str, fields: Collection[str], model: str, taken: Mapping[str, str] = _TAKEN_OPTIONS) -> None:
    """Refuse further fields that have an option of their own.

    Args:
        option: that holds the fields.
        fields: their names.
        model: for the error.
        taken: name → what to use instead.

    Raises:
        ConfigError: there is one.
    """
    for name in fields:
        if name in taken:
            raise ConfigError(f"{option} must not hold {name!r}", where=model, fix=taken[name])


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
