"""``price='auto'`` of a model: what its tokens cost, from the table of the package ``genai-prices``.

The package (MIT licence) has the published prices of providers in its files; nothing is looked up on the network. Its
version says of which day they are. The ``price`` that is found is written into the config of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Final

from ais_prompt.catalog import PROVIDERS
from ais_prompt.config import Note
from ais_prompt.errors import MissingExtra

PACKAGE: Final = "genai-prices"
_FIELDS: Final = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached_input": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "reasoning": "output_reasoning_mtok",
}
"""Field of `Price` → that of the package, in USD for a million tokens."""
_ADDRESSES: Final = {"AnthropicModel": PROVIDERS["anthropic"].base_url}
"""Class of a model → its address, where the config has none; for all others it is that of OpenAI."""
_FIX: Final = "write price=dict(input=..., output=...), in USD for a million tokens"


def with_price(notes: list[Note], model: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Return a model of a config with its price in place of ``'auto'``; without any if the price is not known.

    Args:
        notes: takes a note on each price that is not known.
        model: of a config.
        where: its config path.

    Raises:
        MissingExtra: the package is not installed.
    """
    if model.get("price") != "auto":
        return model
    if find_spec("genai_prices") is None:
        what = f"price='auto' needs the package {PACKAGE}, which is not installed"
        raise MissingExtra(what, where=f"{where}.price", fix="pip install 'ais-prompt[prices]', or " + _FIX)
    name, address = str(model.get("model", "")), _address(model)
    if (found := known_price(name, address)) is None:
        what = f"{PACKAGE} {version(PACKAGE)} has no price of {name!r} at {address}: its cost is not known"
        notes.append(Note(what, f"{where}.price", _FIX))
        return {key: value for key, value in model.items() if key != "price"}
    return {**model, "price": found}


@cache
def known_price(name: str, address: str) -> dict[str, Any] | None:
    """Return the price of a model, as a config has it; None if it is not known.

    A price that grows with the length of the prompt counts as that of short prompts.

    Args:
        name: of the model.
        address: of its server.
    """
    plain, batch = _prices(name, address, {}), _prices(name, address, {"processing": "batch"})
    if plain is None or not {"input", "output"} <= plain.keys():
        return None
    found: dict[str, Any] = {**plain, "source": f"{PACKAGE} {version(PACKAGE)}"}
    if batch is not None and batch != plain:
        # The discount is the same for all tokens of a model; should it not be, the smaller discount counts.
        found["batch"] = max(batch[field] / plain[field] for field in ("input", "output") if plain[field])
    return found


def _prices(name: str, address: str, context: Mapping[str, str]) -> dict[str, float] | None:
    from genai_prices import Usage, calc_price

    try:
        found = calc_price(
            Usage(input_tokens=1, output_tokens=1), name, provider_api_url=address, price_context=dict(context)
        )
    except LookupError:
        return None
    values = {field: getattr(found.model_price, theirs, None) for field, theirs in _FIELDS.items()}
    # A price in tiers has a base, that of short prompts.
    plain = {field: getattr(value, "base", value) for field, value in values.items()}
    return {field: float(value) for field, value in plain.items() if isinstance(value, Decimal)}


def _address(model: Mapping[str, Any]) -> str:
    provider, address = str(model.get("provider")), model.get("base_url")
    if not address and provider in PROVIDERS:
        return PROVIDERS[provider].base_url
    if isinstance(address, list | tuple):
        address = address[0] if address else None
    kind = model.get("type")
    kind = kind if isinstance(kind, str) else getattr(kind, "__name__", "")
    return str(address or _ADDRESSES.get(kind.rpartition(".")[2], PROVIDERS["openai"].base_url))
