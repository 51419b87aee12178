"""Prompts are grouped by equal difference; those whose old text is unknown are a group of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.extensions.evidence.locks.drift import compare_task
from ais_prompt.extensions.evidence.locks.drift_view import group_title
from ais_prompt.preview import TaskPrompts, compact_digest

QUESTIONS = [f"{n} + {n}?" for n in range(20)]


def task(prompts: Mapping[str, Sequence[str]], kept: Sequence[str] | None = None) -> TaskPrompts:
    """Make prompts by sample id; only the kept ones are known in full."""
    digests = {sample: tuple(map(compact_digest, texts)) for sample, texts in prompts.items()}
    texts = {sample: texts for sample, texts in prompts.items() if kept is None or sample in kept}
    return TaskPrompts("m", "d", {}, digests, texts, sum(len(text) for of in prompts.values() for text in of))


def asked(template: str) -> dict[str, list[str]]:
    return {f"id{n}": [template.replace("Q", question)] for n, question in enumerate(QUESTIONS)}


def found(before: TaskPrompts, after: TaskPrompts) -> dict[str, list[int]]:
    """Return title → rows."""
    return {
        group_title(group): [prompt.row for prompt in group.prompts] for group in compare_task(before, after).groups
    }


UNKNOWN = "changed; the lock has only their digests"


def test_prompts_with_the_same_difference_are_one_group() -> None:
    assert found(task(asked("Q\nA:")), task(asked("Q\nAnswer:"))) == {"`A` → `Answer`": list(range(20))}


def test_a_new_template_around_the_question_is_one_group() -> None:
    before, after = task(asked("Q\nA:")), task(asked("Please answer this question in a few words: Q Thanks!\nA:"))
    assert list(found(before, after).values()) == [list(range(20))]


def test_of_a_prompt_without_its_old_text_only_the_change_is_known() -> None:
    before, after = asked("Q\nA:"), asked("Q\nAnswer:")
    groups = found(task(before, kept=["id0", "id3"]), task(after))
    assert groups == {UNKNOWN: [row for row in range(20) if row not in (0, 3)], "`A` → `Answer`": [0, 3]}
    assert found(task(before, kept=[]), task(after)) == {UNKNOWN: list(range(20))}


def test_a_prompt_that_changed_otherwise_as_well_is_not_in_the_group() -> None:
    before, after = asked("Q\nA:"), asked("Q\nAnswer:")
    after["id7"] = ["7 + 7!\nAnswer:"]
    groups = found(task(before), task(after))
    assert groups.pop("`A` → `Answer`") == [row for row in range(20) if row != 7]
    assert list(groups.values()) == [[7]]


def test_many_prompts_with_a_difference_of_their_own_are_one_group() -> None:
    after = {sample: [f"{n * 7} apples\nA:"] for n, sample in enumerate(asked("Q"))}
    assert found(task(asked("Q\nA:")), task(after)) == {"changed, each in another way": list(range(20))}


def test_every_way_has_its_group() -> None:
    before, after = asked("Q\nA:"), asked("Q\nA:")
    for n in range(20):
        after[f"id{n}"] = [f"{QUESTIONS[n]}\nAnswer:" if n % 2 else f"Please: {QUESTIONS[n]}\nA:"]
    groups = found(task(before), task(after))
    assert groups["`A` → `Answer`"] == list(range(1, 20, 2))
    assert groups["`Please: ` added at the beginning"] == list(range(0, 20, 2))


def test_only_the_prompts_of_a_sample_that_changed_are_counted() -> None:
    before = {f"id{n}": [f"{n}: yes", f"{n}: no"] for n in range(5)}
    after = {f"id{n}": [f"{n}: yes", f"{n}: nope"] for n in range(5)}
    assert found(task(before), task(after)) == {"`no` → `nope`": list(range(5))}


def test_prompts_that_came_are_changes() -> None:
    before, after = {"id": ["a", "b"]}, {"id": ["a", "b", "c"]}
    drift = compare_task(task(before), task(after))
    assert drift.changed == 1
    assert compare_task(task(after), task(before)).changed == 1


WORDS = st.text("ab \n:", max_size=12)


@given(st.lists(st.tuples(WORDS, WORDS), max_size=8), st.sets(st.integers(0, 7)))
def test_every_changed_prompt_is_counted_once_and_with_its_own_text(
    pairs: list[tuple[str, str]], kept: set[int]
) -> None:
    before = {f"id{n}": [old] for n, (old, _) in enumerate(pairs)}
    after = {f"id{n}": [new] for n, (_, new) in enumerate(pairs)}
    drift = compare_task(task(before, kept=[f"id{n}" for n in kept]), task(after))
    rows = sorted(prompt.row for group in drift.groups for prompt in group.prompts)
    assert rows == [n for n, (old, new) in enumerate(pairs) if old != new]
    for group in drift.groups:
        for prompt in group.prompts:
            assert prompt.before in (None, pairs[prompt.row][0])
            assert (prompt.before is None) == (group.reason == "unknown")
