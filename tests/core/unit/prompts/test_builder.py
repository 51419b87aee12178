from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import PromptError
from ais_prompt.prompts import EXAMPLES_KEPT, PromptBuilder, PromptList, PromptTemplate
from ais_prompt.types import Sample

ROUND = [{"role": "HUMAN", "prompt": "{q}"}, {"role": "BOT", "prompt": "{a}"}]


def row(q: str, a: Any) -> Sample:
    return Sample(q, 0, {"q": q, "a": a}, a)


SKY, SEA, COAL = row("sky?", "blue"), row("sea?", "green"), row("coal?", "black")


def builder(ice: Any, prompt: Any, **options: Any) -> PromptBuilder:
    templates = [None if args is None else PromptTemplate(**args) for args in (ice, prompt)]
    return PromptBuilder(*templates, **{"output_column": "a", **options})


def test_the_gold_is_masked_but_not_in_examples_and_labels() -> None:
    prompts = builder({"template": "{q} {a}"}, {"template": "</E>{q} {a}", "ice_token": "</E>"}, mask="<ANS>")
    assert prompts.generation(COAL, [SKY]) == "sky? blue\ncoal? <ANS>"
    assert prompts.labelled(COAL, [SKY], "x") == "sky? blue\ncoal? black"
    assert COAL.fields["a"] == "black"


def test_a_gold_that_the_row_does_not_have_vanishes_too() -> None:
    assert builder(None, {"template": "{q} {label}"}, output_column="label").generation(SKY, []) == "sky? "


def test_without_an_output_column_nothing_is_masked() -> None:
    assert builder(None, {"template": "{q} {a}"}, output_column=None).generation(SKY, []) == "sky? blue"


@pytest.mark.parametrize(
    ("shots", "joined"),
    [([], "##"), ([SKY], "sky? blue##"), ([SKY, SEA, SKY], "sky? blue&sea? green&sky? blue##")],
)
def test_text_examples_are_joined(shots: list[Sample], joined: str) -> None:
    prompts = builder(
        {"template": "{q} {a}"},
        {"template": "</E>{q}", "ice_token": "</E>"},
        ice_separator="&",
        ice_eos_token="##",
    )
    assert prompts.examples(shots) == joined


def test_dialogue_examples_are_joined_without_texts_but_with_an_empty_end() -> None:
    prompts = builder(
        {"template": {"round": ROUND}}, {"template": {"begin": "</E>", "round": ROUND}, "ice_token": "</E>"}
    )
    sky, sea = ({"role": "HUMAN", "prompt": q} for q in ("sky?", "sea?"))
    blue, green = ({"role": "BOT", "prompt": a} for a in ("blue", "green"))
    assert prompts.examples([SKY, SEA]) == [sky, blue, sea, green, ""]
    assert prompts.examples([]) == ""


def test_a_label_table_of_dialogues_keeps_the_separators() -> None:
    table = {"blue": {"round": ROUND}, "green": {"round": ROUND}}
    prompts = builder({"template": table}, {"template": {"begin": "</E>", "round": ROUND}, "ice_token": "</E>"})
    assert [item for item in prompts.examples([SKY, SEA]) if isinstance(item, str)] == ["\n", "\n", "\n"]


def test_the_separator_token_of_the_prompt_is_deleted_from_examples() -> None:
    prompts = builder({"template": "{q}<S>{a}"}, {"template": "</E>{q}<S>{a}", "ice_token": "</E>", "sep_token": "<S>"})
    assert prompts.generation(COAL, [SKY]) == "sky?blue\ncoal?"


def test_one_template_for_both() -> None:
    prompts = builder({"template": {"begin": "Colours:</E>", "round": ROUND}, "ice_token": "</E>"}, None)
    assert [item for item in prompts.generation(COAL, [SKY]) if isinstance(item, str)] == ["Colours:", ""]


def test_an_ice_template_alone_serves_without_token_if_there_are_no_shots_by_design() -> None:
    assert builder({"template": "{q} {a}"}, None, shots_expected=False).generation(SKY, []) == "sky? "
    with pytest.raises(PromptError, match="has no ice_token"):
        builder({"template": "{q} {a}"}, None)


def test_templates_that_would_lose_the_examples_are_refused() -> None:
    with pytest.raises(PromptError, match="neither"):
        builder(None, None)
    with pytest.raises(PromptError, match="prompt_template has no ice_token"):
        builder({"template": "{q}"}, {"template": "{q}"}, shots_expected=False)
    with pytest.raises(PromptError, match="there is no ice_template"):
        builder(None, {"template": "</E>{q}", "ice_token": "</E>"}).generation(SKY, [SEA])


def test_labels_come_from_a_table_or_from_the_golds_in_order() -> None:
    table = {"template": {"Z": "</E>z", "A": "</E>a"}, "ice_token": "</E>"}
    plain = {"template": "</E>{q}", "ice_token": "</E>"}
    rows = [row("1", "no"), row("2", "yes"), row("3", "no")]
    assert builder(None, table).labels(rows) == ("Z", "A")
    assert builder(table, plain).labels(rows) == ("Z", "A")
    assert builder(None, plain).labels(rows) == ("no", "yes")
    assert builder(None, {"template": {"round": ROUND}}).labels(rows) == ("no", "yes")
    without_token = {"template": {"no": "z", "yes": "a"}}
    assert builder(without_token, plain).labels(reversed(rows)) == ("no", "yes")


@pytest.mark.parametrize(
    ("rows", "options", "what"),
    [
        ([], {}, "labels are not known"),
        ([SKY], {"output_column": None}, "labels are not known"),
        ([row("1", ["no"])], {}, "lists or mappings, which cannot be labels"),
    ],
)
def test_labels_that_nobody_knows(rows: list[Sample], options: dict[str, Any], what: str) -> None:
    with pytest.raises(PromptError, match=what):
        builder(None, {"template": "{q}"}, **options).labels(rows)


def test_more_different_shots_than_are_remembered() -> None:
    prompts = builder({"template": "{q}"}, {"template": "</E>", "ice_token": "</E>"}, ice_eos_token="")
    assert all(prompts.examples([row(str(number), "")]) == str(number) for number in [*range(EXAMPLES_KEPT + 1), 0])


def test_what_depends_on_the_shots_alone_is_one_object_for_all_rows() -> None:
    dialogue = {"begin": ["Answer.", "</E>"], "round": ROUND}
    prompts = builder({"template": {"round": ROUND}}, {"template": dialogue, "ice_token": "</E>"})
    first, again, other = (prompts.generation(*asked) for asked in ((COAL, [SKY]), (SEA, [SKY]), (COAL, [SEA])))
    assert isinstance(first, PromptList)
    assert isinstance(again, PromptList)
    assert first.pieces[0] is again.pieces[0]
    assert first.pieces[1] is not again.pieces[1]
    assert other[1] == {"role": "HUMAN", "prompt": "sea?"}


@pytest.mark.parametrize("template", ["{q}", {"round": ROUND}, {0: "{q}", 1: "{q}"}])
def test_an_ice_token_without_a_place_matters_only_where_examples_are_expected(template: Any) -> None:
    prompt = {"template": template, "ice_token": "</E>"}
    assert "sky?" in str(builder(None, prompt, shots_expected=False).generation(SKY, []))
    assert "sky?" in str(builder({"template": "{a}"}, prompt, shots_expected=False).generation(SKY, []))
    with pytest.raises(PromptError, match="the examples would be lost"):
        builder({"template": "{a}"}, prompt)
