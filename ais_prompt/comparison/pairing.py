"""Pair the samples of two runs, which may know the same question by different ids.

Ids of logs of different tools are believed only where the questions agree. Else samples are paired by the question,
then by options and gold, then as near copies. Questions are compared without what all prompts of a log share, such as
instructions and examples.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.comparison.scored_task import ScoredTask
from ais_prompt.errors import AisPromptError
from ais_prompt.plan import read_dataset
from ais_prompt.steps import first_answer
from ais_prompt.types import ChatMessage, DatasetSpec, Prediction
from ais_prompt.utils import canonical

AGREEING: Final = 0.95
"""Share of equal ids whose questions must agree, for ids to be believed."""

LEAST_PAIRED: Final = 0.8
"""Share of the smaller log that must be paired, for a difference to be divided."""

MOST_COMPARED: Final = 5_000
"""Most samples on each side among which near copies are looked for."""


def with_common_names(before: ScoredTask, after: ScoredTask) -> tuple[ScoredTask, ScoredTask]:
    """Return the runs with equal ids for equal questions, as far as that is known.

    Ids are digests of the input columns. If the runs have none in common, because they name other columns, samples are
    paired by their whole rows, or else by the input columns that both name, with the values in the data. That needs the
    data; without them the runs are returned as they are. Samples of logs are paired as `paired` does.

    Raises:
        StoreError, DataError: predictions are missing or broken.
    """
    if before.is_log or after.is_log:
        found = paired(before.predictions, after.predictions, same_dataset=before.dataset == after.dataset)
        return replace(before, names=found.names_of(before.predictions)), after
    if before.knows_only_rows != after.knows_only_rows:
        return replace(before, by_row=True), replace(after, by_row=True)
    if before.predictions.keys() & after.predictions.keys():
        return before, after
    rows = replace(before, by_row=True), replace(after, by_row=True)
    if rows[0].predictions.keys() & rows[1].predictions.keys():
        return rows
    names = _names_in(before.spec.dataset, after.spec.dataset)
    return replace(before, names=names), after


def _names_in(before: DatasetSpec, after: DatasetSpec) -> dict[str, str]:
    """Return id in the first run → id in the second."""
    columns = [name for name in after.reader.input_columns if name in before.reader.input_columns]
    if not columns:
        return {}
    try:
        ids = dict(_keys(after, columns))
        return {name: ids[key] for key, name in _keys(before, columns) if key in ids}
    except AisPromptError:
        return {}


def _keys(dataset: DatasetSpec, columns: Sequence[str]) -> Iterator[tuple[tuple[str, int], str]]:
    """Yield the values of each row in these columns, with the number of equal rows before it, and the id of the row."""
    seen: Counter[str] = Counter()
    for sample in read_dataset(dataset).test:
        key = canonical([sample.fields.get(column) for column in columns])
        yield (key, seen[key]), sample.id
        seen[key] += 1


class Pairing(Struct, frozen=True):
    """Which sample of a run is which of another.

    Attributes:
        names: id in the first run → id in the second.
        ways: how pairs were found → their number.
        near: the ids of each pair of near copies.
        before, after: number of samples.
        ambiguous: pairs of questions that occur several times, which are paired in order.
    """

    names: Mapping[str, str]
    ways: Mapping[str, int]
    near: Sequence[tuple[str, str]]
    before: int
    after: int
    ambiguous: int = 0

    @property
    def share(self) -> float:
        """Share of the smaller run that is paired."""
        return len(self.names) / max(min(self.before, self.after), 1)

    def names_of(self, ids: Iterable[str]) -> dict[str, str]:
        """Return a name for each id of the first run: that of its pair, or one that the second run does not have."""
        return {name: self.names.get(name, f"{name} (not paired)") for name in ids}


def why_undivided(share: float) -> str:
    """Return why a difference is not divided if this share of the smaller log is paired; empty if it is divided."""
    if share >= LEAST_PAIRED:
        return ""
    return f"only {100 * share:.0f} % of the samples are paired, so the difference is not divided"


def paired(before: Mapping[str, Prediction], after: Mapping[str, Prediction], *, same_dataset: bool) -> Pairing:
    """Pair the samples of two tasks.

    Args:
        before, after: sample id → prediction.
        same_dataset: whether both name the same dataset; else equal ids mean nothing.
    """
    sides = before, after
    first, second = (_questions(side) for side in sides)
    both = [name for name in sides[0] if name in sides[1]]
    agreeing = sum(first[name] == second[name] for name in both)
    if same_dataset and both and agreeing >= AGREEING * len(both):
        return Pairing({name: name for name in both}, {"id": len(both)}, (), len(before), len(after))
    bare = _without_shared(first), _without_shared(second)
    names: dict[str, str] = {}
    ambiguous = _pair(names, sides, lambda name, side: (first, second)[side][name])
    ambiguous += _pair(names, sides, lambda name, side: bare[side][name])
    ways = {"question": len(names)}
    _pair(names, sides, lambda name, side: _options(sides[side][name]))
    ways["options and gold"] = len(names) - ways["question"]
    near = _near_copies(names, sides, bare)
    names.update(near)
    ways["near copy"] = len(near)
    found = {way: count for way, count in ways.items() if count}
    return Pairing(names, found, near, len(before), len(after), ambiguous)


def _pair(
    names: dict[str, str],
    sides: tuple[Mapping[str, Prediction], Mapping[str, Prediction]],
    key_of: Callable[[str, int], Hashable],
) -> int:
    """Pair samples with equal keys that have no pair yet, equal ones in order; return how many were equal to others."""
    taken = set(names.values())
    places: defaultdict[Hashable, deque[str]] = defaultdict(deque)
    for name in sides[1]:
        if name not in taken and (key := key_of(name, 1)):
            places[key].append(name)
    sizes = {key: len(found) for key, found in places.items()}
    ambiguous = 0
    for name in sides[0]:
        if name not in names and (key := key_of(name, 0)) and places.get(key):
            ambiguous += sizes[key] > 1
            names[name] = places[key].popleft()
    return ambiguous


def _near_copies(
    names: Mapping[str, str],
    sides: tuple[Mapping[str, Prediction], Mapping[str, Prediction]],
    questions: tuple[Mapping[str, str], Mapping[str, str]],
) -> list[tuple[str, str]]:
    """Return pairs of near copies among the samples without a pair; each sample is in one pair."""
    taken = set(names.values())
    left = [name for name in sides[0] if name not in names and questions[0][name]]
    right = [name for name in sides[1] if name not in taken and questions[1][name]]
    if not left or not right or max(len(left), len(right)) > MOST_COMPARED:
        return []
    texts = [[questions[side][name] for name in found] for side, found in enumerate((left, right))]
    pairs: dict[str, str] = {}
    for one, other in first_answer("near_copies", *texts) or ():
        if right[other] not in pairs.values():
            pairs[left[one]] = right[other]
    return list(pairs.items())


def _questions(predictions: Mapping[str, Prediction]) -> dict[str, str]:
    """Return sample id → its question, or its prompt, in a form that is equal for equal questions."""
    return {
        name: _normal(str(one.columns.get("question") or _last_text(one.origin_prompt)))
        for name, one in predictions.items()
    }


def _without_shared(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts without the lines that most of them have, and without the start and end that all have."""
    if len(set(texts.values())) < 2:
        return dict(texts)
    lines = Counter(line for text in texts.values() for line in set(text.split("\n")))
    shared = {line for line, count in lines.items() if count > len(texts) / 2}
    bare = {name: "\n".join(line for line in text.split("\n") if line not in shared) for name, text in texts.items()}
    start = _common_start(list(bare.values()))
    end = _common_start([text[start:][::-1] for text in bare.values()])
    return {name: " ".join(text[start : len(text) - end].split()) for name, text in bare.items()}


def _common_start(texts: Sequence[str]) -> int:
    """Return how many characters all texts begin with."""
    first, last = min(texts), max(texts)
    return next((n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))


def _normal(text: str) -> str:
    lines = unicodedata.normalize("NFKC", text).casefold().split("\n")
    return "\n".join(line for part in lines if (line := " ".join(part.split())))


def _last_text(prompt: Any) -> str:
    """Return the text of the last message of a user, or of the whole prompt if it is a text."""
    while isinstance(prompt, tuple) and prompt and not isinstance(prompt[-1], ChatMessage):
        prompt = prompt[-1]
    if isinstance(prompt, str):
        return prompt
    return next((str(one.content) for one in reversed(prompt) if one.role == "user"), "")


def _options(prediction: Prediction) -> Hashable:
    """Return the options in any order with the text of the gold; empty without options."""
    choices = list(map(_normal, str(prediction.columns.get("choices") or "").split("\n")))
    if len(choices) < 2:
        return ()
    gold = str(prediction.gold)
    place = ord(gold) - ord("A") if len(gold) == 1 else -1
    return tuple(sorted(choices)), choices[place] if 0 <= place < len(choices) else _normal(gold)
