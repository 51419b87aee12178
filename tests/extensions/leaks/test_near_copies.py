"""Questions that are another one with words changed are found, and questions of one template are not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.comparison import paired
from ais_prompt.extensions.leaks.near_copies import (
    LEAST_OVERLAP,
    LEAST_WORDS,
    MAX_COMPARED,
    find_near_copies,
    likeliest,
)
from ais_prompt.types import Prediction, Sample

VOCABULARY = [f"{a}{b}{c}" for a in "bcdfghjk" for b in "aeiou" for c in "lmnprst"]


def samples(texts: Sequence[str]) -> list[Sample]:
    return [Sample(str(index), index, {"q": text}) for index, text in enumerate(texts)]


def copies(questions: Sequence[str], rows: Sequence[str]) -> list[tuple[int, int]]:
    found = find_near_copies(samples(questions), samples(rows), ["q"], lambda _, __: True)
    return [(one.question, one.row) for one in likeliest(found)]


def repeats(questions: Sequence[str]) -> list[tuple[int, int]]:
    found = find_near_copies(samples(questions), None, ["q"], lambda question, row: row < question)
    return [(one.question, one.row) for one in likeliest(found)]


TOM = "Tom has 3 red apples and buys 4 green ones at the market on Sunday. How many apples does he have now?"


@pytest.mark.parametrize(
    ("other", "near"),
    [
        (TOM.upper().replace(".", " !"), True),
        (TOM.replace("Tom", "Anna").replace(" he ", " she "), True),
        (TOM.replace("Sunday", "Monday").replace("red", "big"), True),
        (TOM.replace("3", "5"), False),  # another number asks for another answer
        ("Add 3 and 4.", False),
    ],
)
def test_words_may_be_changed_but_not_numbers(other: str, near: bool) -> None:
    assert copies([TOM], [other]) == ([(0, 0)] if near else [])


def test_signs_are_no_punctuation() -> None:
    assert copies(["57-28=?"], ["57+28=?"]) == []
    assert copies(["57-28=?"], ["57 - 28 = "]) == [(0, 0)]


def test_short_questions_with_a_changed_word_are_other_questions() -> None:
    assert copies(["What is the capital of France?"], ["What is the capital of Spain?"]) == []


def test_what_a_template_writes_into_all_questions_weighs_nothing() -> None:
    texts = [f"Please tell us what the word {word} means in the old tongue of the people." for word in VOCABULARY]
    assert repeats(texts) == []
    assert repeats([*texts, texts[5]]) == [(len(texts), 5)]


def test_questions_about_one_passage_are_no_copies() -> None:
    random = Random(1)
    passage = " ".join(random.choices(VOCABULARY, k=80))
    asked = [" ".join(random.choices(VOCABULARY, k=12)) for _ in range(5)]
    rows = [Sample(str(index), index, {"passage": passage, "q": text}) for index, text in enumerate(asked)]
    assert find_near_copies(rows, None, ["passage", "q"], lambda question, row: row < question) == []


def test_every_copy_with_a_tenth_of_its_words_changed_is_found_among_many_rows() -> None:
    random = Random(2)
    rows = [random.choices(VOCABULARY, k=40) for _ in range(500)]
    changed = []
    for words in rows[:100]:
        copy = list(words)
        for place in random.sample(range(40), 4):
            copy[place] = random.choice(VOCABULARY)
        changed.append(" ".join(copy))
    others = [" ".join(random.choices(VOCABULARY, k=40)) for _ in range(100)]
    found = copies([*changed, *others], [" ".join(words) for words in rows])
    assert found == [(index, index) for index in range(100)]


def one_by_one(questions: Sequence[str], rows: Sequence[str]) -> set[tuple[int, int]]:
    """All near copies by the definition, without an index."""
    texts = [tuple(text.split()) for text in [*questions, *rows]]
    pairs = [set(pairwise(words)) if sum(map(str.isalpha, words)) >= LEAST_WORDS else set() for words in texts]
    rows_with = Counter(pair for own in pairs for pair in own)

    def weight(some: set[tuple[str, str]]) -> float:
        return sum(math.log((len(texts) + 1) / max(1, rows_with[pair] - 1)) for pair in some)

    def near(one: int, other: int) -> bool:
        fixed = [sorted(word for word in texts[place] if not word.isalpha()) for place in (one, other)]
        both, either = weight(pairs[one] & pairs[other]), weight(pairs[one] | pairs[other])
        return bool(fixed[0] == fixed[1] and pairs[one] and pairs[other] and both >= LEAST_OVERLAP * either)

    places = [(one, other) for one in range(len(questions)) for other in range(len(questions), len(texts))]
    same = {(one, other) for one, other in places if texts[one] and texts[one] == texts[other]}
    return {(one, other - len(questions)) for one, other in places if (one, other) in same or near(one, other)}


@given(st.data())
def test_the_index_loses_no_copy(data: st.DataObject) -> None:
    texts = st.lists(st.sampled_from(["bal", "bam", "ban", "bap", "1", "+"]), max_size=16).map(" ".join)
    rows = data.draw(st.lists(texts, min_size=1, max_size=MAX_COMPARED))
    questions = data.draw(st.lists(texts, min_size=1, max_size=3))
    near = one_by_one(questions, rows)
    found = copies(questions, rows)
    assert set(found) <= near
    assert {question for question, _ in found} == {question for question, _ in near}


@given(st.lists(st.text(max_size=20), max_size=6))
def test_any_text_is_its_own_copy_and_equal_texts_are_repeats(texts: list[str]) -> None:
    found = dict(repeats([*texts, *texts]))
    for index, text in enumerate(texts):
        if any(character.isalnum() for character in text):
            assert len(texts) + index in found


def test_other_images_make_other_questions() -> None:
    rows = [Sample(str(index), index, {"q": TOM, "image": {"bytes": bytes([index % 3])}}) for index in range(4)]
    [found] = find_near_copies(rows, None, ["q", "image"], lambda question, row: row < question)
    assert (found.question, found.row, found.same_words) == (3, 0, True)


def test_samples_of_two_logs_are_paired_as_near_copies() -> None:
    other = TOM.replace("Sunday", "Tuesday").replace("Tom", "Sam")
    before, after = (
        {name: Prediction(name, 0, text, "", None, ()) for name, text in side.items()}
        for side in ({"a": TOM, "b": "Add 5 and 4.", "c": "Why?"}, {"d": "How?", "e": "Add 5 and 4 .", "f": other})
    )
    found = paired(before, after, same_dataset=False)
    assert found.near == [("b", "e"), ("a", "f")]
    assert found.ways == {"near copy": 2}
