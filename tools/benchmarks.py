"""The page on benchmarks, docs/reference/benchmarks.md, from their cards; `tools.reference` writes it."""

from __future__ import annotations

from typing import Final

from ais_prompt.config import list_shipped
from ais_prompt.extensions.benchmarks.card import NOT_VERIFIED, Card, how_to_get, read_cards
from ais_prompt.extensions.benchmarks.entries import benchmarks_of, configs_of, how_asked, suites

ABOUT: Final = """\
# Benchmarks

Each benchmark here runs as shipped. `aisprompt data get NAME` brings its data
([data](../benchmark-data.md#catalogdataset)), `aisprompt run --datasets CONFIG` asks it, and `aisprompt describe NAME`
shows its card.

```text
aisprompt list datasets
aisprompt data get gsm8k mmlu
aisprompt run --url http://127.0.0.1:8000/v1 --datasets gsm8k mmlu
```

The name of a benchmark means its config `NAME_gen`, or else its only config: `gsm8k` is `gsm8k_gen`. Of `needle` and
`ruler`, name a config.

No data are shipped. The rows of `ruler` and `needle` are made when they are read
([RulerDataset](../benchmark-data.md#rulerdataset)).

Prompts are worded by us unless the form is a common one (`Question: …`, `Answer:`), so scores need not equal published
ones: compare models with the same config.

*Checked against* says what a config was compared with. "Not verified" means that the data could not be seen when the
card was written. The first `data get` writes a lock, which later ones keep to.

In the tables, ⏎ is a newline. *Extraction* is the postprocessor, or the inferencer where answers are not processed.
*Most tokens* is `max_out_len`.

## Suites

A suite is a config of several benchmarks with averages: `aisprompt run --datasets chat_core`. Get the data of each of
its benchmarks first.

| name | what it holds | benchmarks |
|---|---|---|
"""

ADD: Final = """\
## Add one

1. Write `configs/datasets/NAME/card.toml`; the cards there show the keys. If the publisher's columns are not what a
   template needs, name a function of `ais_prompt/extensions/benchmarks/cards/publisher_rows.py` as `rows`.
2. Write the configs beside it with `type='CatalogDataset'`: `NAME_gen.py`, and `NAME_ppl.py` if choices are compared by
   likelihood.
3. Write `tests/extensions/benchmarks/samples/NAME.json`: a few rows of your own in the publisher's form, answers, and
   the score that follows. The tests run every config on them.
4. If something published can be met, such as verdicts or the score of known answers, add a test that meets it, and name
   it as `checked`.
5. Run `python -m tools.reference`, which writes this page.

A card in `configs/datasets` of your working directory, or of a folder in `AISPROMPT_CONFIG_DIR`, works like a shipped
one.
"""


def page() -> str:
    """Return the page."""
    known = read_cards()
    lines = ABOUT.rstrip("\n").splitlines()
    lines += [f"| `{suite.name}` | {suite.summary} | {', '.join(benchmarks_of(suite))} |" for suite in suites()]
    lines += ["", "## All benchmarks", ""]
    lines += ["| name | tests | language | questions | licence |", "|---|---|---|---|---|"]
    lines += [
        f"| [`{name}`](#{name}) | {card.tests} | {card.language} | {card.size:,} | {card.licence} |"
        for name, card in known.items()
    ]
    for card in known.values():
        lines += ["", *_section(card)]
    return "\n".join([*lines, "", ADD])


def _section(card: Card) -> list[str]:
    lines = [f"### {card.name}", "", f"[{card.title}]({card.source}): {card.tests}.", ""]
    if card.note:
        lines += [f"{card.note[0].upper()}{card.note[1:]}.", ""]
    lines += [f"- data: {_data(card)}; columns {', '.join(f'`{column}`' for column in card.columns)}"]
    if card.form != NOT_VERIFIED:
        lines += [f"- repository and columns as in {card.form}"]
    lines += [f"- version: {card.version}", f"- checked against: {card.checked}", ""]
    lines += ["| config | prompt | extraction | metric | most tokens |", "|---|---|---|---|---|"]
    for config in configs_of(card, list_shipped("datasets")):
        asked = how_asked(config)
        prompt = asked.prompt.replace("\n", "⏎").replace("|", "\\|")
        longest = f"{asked.max_out_len:,}" if asked.max_out_len else ""
        extraction = f"`{asked.extraction or asked.inferencer}`"
        lines += [f"| `{asked.config}` | `` {prompt} `` | {extraction} | `{asked.metric}` | {longest} |"]
    return lines


def _data(card: Card) -> str:
    if card.made:
        return "made when they are read"
    if card.hub is None:
        return f"not on the hub: `{how_to_get(card)}`"
    return f"`{card.hub.repo}`" + ("" if card.hub.config == "default" else f", configuration `{card.hub.config}`")
