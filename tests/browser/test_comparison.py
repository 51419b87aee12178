"""The page of ``aisprompt compare --html``, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt.report.comparison import comparison_json
from ais_prompt.report.html.comparison import comparison_page
from ais_prompt.tasks.comparison import Change, Comparison, Flip, Share
from ais_prompt.types import Message, Prediction
from tools.chromium import Page

CHAT = (Message("system", "Be brief."), Message("user", "1 + 1?"))
PROMPTS = {"text": "Question: 1 + 1?", "chat": CHAT, "conversation": (CHAT, (*CHAT, Message("assistant", "2")))}


def flip(before: object, after: object) -> Flip:
    old = Prediction("s1", 1, before, "3", "2", ())  # type: ignore[arg-type]
    new = Prediction("s1", 1, after, "2", "2", ())  # type: ignore[arg-type]
    return Flip("s1", 1, 0.0, 1.0, before == after, (old, new), ("3", None))


@pytest.mark.parametrize("kind", PROMPTS)
@pytest.mark.parametrize("same", [True, False])
def test_every_part_of_the_page_is_text(chromium: Page, tmp_path: Path, kind: str, same: bool) -> None:
    after = PROMPTS[kind] if same else "Another prompt"
    one = Comparison(
        dataset="小学数学应用题目",
        model="demo → other",
        metric="accuracy",
        fraction=True,
        before=0.5,
        after=0.75,
        interval=(0.01, 0.49),
        common=4,
        units=4,
        reported=0.25,
        only_before=1,
        only_after=2,
        failed_before=1,
        failed_after=1,
        differences=(0.0, 0.0, 0.0, 1.0),
        p=0.04,
        p_adjusted=0.04,
        shares=(Share("prompts", 0.25, 1),),
        changes=(Change("model", "demo", "other"),),
        flips=(flip(PROMPTS[kind], after),),
    )
    file = tmp_path / "page.html"
    file.write_bytes(comparison_page("a", "b", comparison_json([one], ["a note"])))
    chromium.complaints.clear()
    chromium.open(file.as_uri())
    chromium.wait_for("document.querySelector('.flip')")
    chromium.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    text = chromium.value("document.body.textContent")
    assert "[object" not in text
    assert text.count("1 + 1?") >= 1
    assert ("Another prompt" in text) == (not same)
    assert chromium.texts(".flip h4")[-2:] == ['before, read as "3"', "after, read as null"]
    assert not chromium.complaints
