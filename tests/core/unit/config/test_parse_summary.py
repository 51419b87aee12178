"""``summarizer``: entries and groups, and every fault with its place."""

from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.config import ConfigSection, Faults, SummarizerKeys, parse_summary
from ais_prompt.errors import ConfigFaults
from ais_prompt.types import SummaryEntry, SummaryGroup, SummarySpec

ABBRS = ["biology", "physics", "gsm8k"]


def parsed(**summarizer: Any) -> SummarySpec:
    faults = Faults(lambda where: where)
    keys = ConfigSection(summarizer, "summarizer", faults).read(SummarizerKeys)
    assert keys is not None
    spec = parse_summary(keys, ABBRS, faults)
    faults.raise_any()
    return spec


def group(**changes: Any) -> dict[str, Any]:
    return {"name": "science", "subsets": ["biology", "physics"], **changes}


def test_a_summarizer_as_in_opencompass() -> None:
    spec = parsed(
        type="SubjectiveSummarizer",
        dataset_abbrs=["--------- exams ---------", "science", ["gsm8k", "accuracy"]],
        summary_groups=[
            {"name": "mmlu", "subsets": ["mmlu-law", "mmlu-history"]},
            group(weights={"biology": 1, "physics": 2.5}),
            {"name": "all", "subsets": ["science", ("gsm8k", "accuracy")], "weights": "n"},
            group(name="rated", weights="@rated"),
        ],
    )
    where = "summarizer.summary_groups"
    assert spec.entries == (SummaryEntry("science"), SummaryEntry("gsm8k", "accuracy"))
    entries = (SummaryEntry("biology"), SummaryEntry("physics"))
    assert spec.groups == (
        SummaryGroup("science", entries, {"biology": 1.0, "physics": 2.5}, f"{where}[1]"),
        SummaryGroup("all", (SummaryEntry("science"), SummaryEntry("gsm8k", "accuracy")), "n", f"{where}[2]"),
        SummaryGroup("rated", entries, "@rated", f"{where}[3]"),
    )


def test_a_config_without_one() -> None:
    assert parsed() == SummarySpec()


FIRST = "summarizer.summary_groups[0]"


@pytest.mark.parametrize(
    ("summarizer", "where", "said"),
    [
        ({"summary_groups": [group(subsets=["biology", "chemistry"])]}, f"{FIRST}.subsets[1]", "'chemistry'"),
        ({"summary_groups": [group(subsets=["biolgy"])]}, f"{FIRST}.subsets[0]", "did you mean 'biology'?"),
        ({"summary_groups": [group(subsets=["biology", 3])]}, f"{FIRST}.subsets[1]", "contains 3 (int)"),
        ({"summary_groups": [group(name="gsm8k")]}, f"{FIRST}.name", "two rows"),
        ({"summary_groups": [group(nme="x")]}, f"{FIRST}.nme", "did you mean 'name'?"),
        ({"summary_groups": [group(weights={"biology": 1})]}, f"{FIRST}.weights", "biology, physics"),
        ({"summary_groups": [group(weights={"biology": 1, "physics": -1})]}, f"{FIRST}.weights", "from 0"),
        ({"summary_groups": [group(weights={"biology": 0, "physics": 0})]}, f"{FIRST}.weights", "not all can be 0"),
        ({"summary_groups": [group(weights="size")]}, f"{FIRST}.weights", "from 0"),
        ({"summary_groups": ["science"]}, FIRST, "not a dict"),
        ({"summary_groups": "science"}, "summarizer.summary_groups", "a list"),
        ({"dataset_abbrs": ["gsm8k", "gms8k"]}, "summarizer.dataset_abbrs[1]", "did you mean 'gsm8k'?"),
        ({"dataset_abbr": []}, "summarizer.dataset_abbr", "did you mean 'dataset_abbrs'?"),
    ],
)
def test_a_fault_has_its_place(summarizer: dict[str, Any], where: str, said: str) -> None:
    with pytest.raises(ConfigFaults) as caught:
        parsed(**summarizer)
    assert where in [fault.where for fault in caught.value.faults]
    assert said in "\n".join(caught.value.lines())
