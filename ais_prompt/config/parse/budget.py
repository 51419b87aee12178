"""``price`` of a model and ``budget`` of a run: what answers cost, and how much may be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ais_prompt.config.parse.section import ConfigSection, Faults, shown
from ais_prompt.config.schema import BUDGET, PRICE
from ais_prompt.types import Budget, ModelSpec, Price


def parse_price(model: ConfigSection) -> Price | None:
    """Parse the ``price`` of a model; None if it has none, or after a fault."""
    section = _section(model, "price")
    if section is None:
        return None
    section.refuse_unknown(PRICE)
    sent, received = (_number(section, key, needed=True) for key in ("input", "output"))
    currency = section.get("currency", (str,), "a name such as 'USD'", "USD")
    per = section.get("per", (int,), "a number of tokens", 1_000_000)
    if per is not None and per < 1:
        section.fault("per", f"{section.at('per')} is {per}, not a number of tokens", "write 1_000_000")
    if sent is None or received is None or currency is None or per is None:
        return None
    return Price(sent, received, currency, per)


def parse_budget(top: ConfigSection) -> Budget:
    """Parse the ``budget`` of a config, which may be missing; note faults."""
    section = _section(top, "budget")
    if section is None:
        return Budget()
    section.refuse_unknown(BUDGET)
    counts = [section.get(key, (int, type(None)), "a number", None) for key in ("max_requests", "max_tokens_total")]
    for key, count in zip(("max_requests", "max_tokens_total"), counts, strict=True):
        if count is not None and count < 1:
            section.fault(key, f"{section.at(key)} is {count}, so nothing could be asked", "give a larger number")
    return Budget(counts[0], counts[1], _number(section, "max_cost"))


def check_cost(budget: Budget, models: Sequence[ModelSpec], faults: Faults) -> None:
    """Note why the cost of a run cannot be known, if it is limited.

    Args:
        budget: of the run.
        models: all that are asked, judges too.
        faults: of the config.
    """
    currencies = {model.price.currency for model in models if model.price}
    if len(currencies) > 1:
        what = f"there are prices in {' and '.join(sorted(currencies))}, which cannot be added up"
        faults.add(what, "models", "give all prices in one currency")
    if budget.max_cost is None:
        return
    for model in models:
        if model.price is None:
            what = f"max_cost needs the price of every model, and {model.abbr} has none"
            faults.add(what, model.where, "add price=dict(input=..., output=...); 0 if it costs nothing")


def _section(owner: ConfigSection, key: str) -> ConfigSection | None:
    values = owner.get(key, (Mapping, type(None)), "dict(...)", None)
    return None if values is None else ConfigSection.open(values, owner.at(key), owner.faults)


def _number(section: ConfigSection, key: str, *, needed: bool = False) -> float | None:
    """Return an amount; None if it is missing, or after a fault."""
    if key not in section.values and not needed:
        return None
    value: float | None = section.get(key, (int, float), "an amount")
    if value is not None and not 0 <= value < float("inf"):
        section.fault(key, f"{section.at(key)} is {shown(value)}, not an amount", "give a number from 0 on")
        return None
    return value
