"""Templates with any data: nothing that a row holds can change more than its own place."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.prompts import LanguageModelFormat, PromptBuilder, PromptList, PromptTemplate
from ais_prompt.types import Sample

NO_BRACES = st.characters(exclude_characters="{}", exclude_categories=["Cs"])
NAMES = st.text(NO_BRACES, min_size=1, max_size=8)
LITERALS = st.text(NO_BRACES, max_size=12).filter(lambda text: "</E>" not in text)
# Values that look like template text are what the peers stumble over.
TRICKY = st.sampled_from(["{q}", "{a}", "say {q} {a}", "{{a}}", "</E>", "{", "}", "{q", "\\1", "{}", ""])
VALUES = st.one_of(
    TRICKY,
    st.text(max_size=20),
    st.integers() | st.floats() | st.booleans() | st.none() | st.lists(st.integers(), max_size=2),
)
ROWS = st.dictionaries(NAMES, VALUES, min_size=1, max_size=5) | st.fixed_dictionaries({"q": TRICKY, "a": TRICKY})


@st.composite
def templates(draw: st.DrawFn, names: list[str]) -> list[tuple[str, str]]:
    """Pieces of a template: (what is written in it, the column that is filled in there or "")."""
    piece = LITERALS.map(lambda text: (text, "")) | st.sampled_from(names).map(lambda name: (f"{{{name}}}", name))
    return draw(st.lists(piece, max_size=8))


def sample(fields: dict[str, Any], gold: str | None = None, name: str = "0") -> Sample:
    return Sample(name, 0, fields, fields.get(gold) if gold else None)


def generation(template: Any, fields: dict[str, Any], gold: str | None, mask: str = "") -> str | PromptList:
    builder = PromptBuilder(None, PromptTemplate(template), output_column=gold, mask=mask, shots_expected=False)
    return builder.generation(sample(fields, gold), [])


@given(st.data(), ROWS, st.text(max_size=5))
def test_a_value_appears_as_it_is_and_the_gold_only_as_the_mask(data: st.DataObject, row: Any, mask: str) -> None:
    pieces = data.draw(templates(list(row)))
    gold = data.draw(st.sampled_from([None, *row]))
    written = "".join(
        mask if column and column == gold else str(row[column]) if column else text for text, column in pieces
    )
    template = "".join(text for text, _ in pieces)

    assert generation(template, row, gold, mask) == written
    assert generation({"round": [{"role": "HUMAN", "prompt": template}]}, row, gold, mask) == [
        {"role": "HUMAN", "prompt": written}
    ]
    assert PromptList([template]).format(**{**row, **({gold: mask} if gold else {})}) == [written]


@given(st.data(), ROWS, st.text(max_size=40))
def test_filling_does_not_depend_on_the_order_of_columns(data: st.DataObject, row: Any, text: str) -> None:
    template = text + "".join(piece for piece, _ in data.draw(templates(list(row))))
    shuffled = list(row.items())
    random.Random(data.draw(st.integers())).shuffle(shuffled)
    assert PromptTemplate(template).render(row) == PromptTemplate(template).render(dict(shuffled))


@given(st.data(), ROWS, VALUES, VALUES)
def test_the_gold_never_changes_a_generation_prompt(data: st.DataObject, row: Any, one: Any, other: Any) -> None:
    gold = data.draw(st.sampled_from(list(row)))
    text = "".join(piece for piece, _ in data.draw(templates(list(row))))
    turns = [{"role": "HUMAN", "prompt": text}, {"role": "BOT", "prompt": f"{{{gold}}}"}]
    for template in (text, {"round": turns}, {"X": text, "Y": text}):
        assert generation(template, {**row, gold: one}, gold) == generation(template, {**row, gold: other}, gold)


@given(st.data(), ROWS, ROWS)
def test_examples_are_never_filled_from_the_question(data: st.DataObject, shot: Any, row: Any) -> None:
    """An example is in the prompt as it is on its own, with its braces."""
    text = "".join(piece for piece, _ in data.draw(templates(sorted({*shot, *row}))))
    ice = PromptTemplate(text)
    builder = PromptBuilder(ice, PromptTemplate("<</E>>", ice_token="</E>"), output_column=None, ice_eos_token="")
    assert builder.generation(sample(row), [sample(shot, name="1")]) == f"<{ice.render(shot)}>"


@given(st.data(), ROWS)
def test_strings_dialogues_and_label_tables_agree(data: st.DataObject, row: Any) -> None:
    texts = ["".join(piece for piece, _ in data.draw(templates(list(row)))) for _ in range(2)]
    dialogue = {"begin": texts[0], "round": [{"role": "HUMAN", "prompt": texts[1]}]}
    first, second = (PromptTemplate(text).render(row) for text in texts)

    assert PromptTemplate({"A": "no", "X": texts[0]}).render(row, label="X") == first
    filled = PromptTemplate(dialogue).render(row)
    assert filled == [first, {"role": "HUMAN", "prompt": second}]
    assert PromptTemplate({"A": "no", "X": dialogue}).render(row, label="X") == filled
    if first and second:
        assert LanguageModelFormat(None).render(filled, "gen") == f"{first}\n{second}"
