"""``report.html`` in a real browser, used with mouse and keys."""

from __future__ import annotations

import csv
import io
import itertools
import json
import random
import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from ais_prompt.report import write_report
from ais_prompt.report.web import pages
from ais_prompt.scoring import percent
from ais_prompt.store import RunFolder
from tests.core.browser.conftest import open_report
from tools.chromium import Page

pytestmark = pytest.mark.browser

ALL = 2 * (300 + 7 + 20 + 12)
OPEN = "!document.querySelector('#sample').hidden && document.querySelector('#sample h3')"

LINES = ".matrix tbody:last-child"  # below the means


def state(page: Page, name: str) -> None:
    page.click(f"#states [data-state={name}]")


def tab(page: Page, name: str) -> None:
    page.click(f"#tab-{name}")


def found(page: Page) -> str:
    page.wait_for("document.querySelector('#found').checkVisibility()")
    return page.texts("#found")[0]


def column(page: Page, name: str) -> list[str]:
    """What the table shows in a column, from the top."""
    return page.texts(f"#rows .cell.{name}")


def unfold_scores(page: Page) -> None:
    """Unfold the chart of the scores, which stays so."""
    page.wait_for("document.querySelector('#panel-scores .folded-chart').checkVisibility()")
    if not page.value("document.querySelector('#panel-scores .folded-chart').open"):
        page.click("#panel-scores .folded-chart summary")
    page.wait_for("document.querySelector('#panel-scores .chart-plot')")


def opened(page: Page) -> str:
    """Dataset, model, row and id of the open sample."""
    page.wait_for(OPEN)
    return page.texts("#sample header p")[0]


def test_the_overview_shows_scores_intervals_and_states(page: Page) -> None:
    assert page.texts("h1") == ["mixed"]
    assert page.texts("#subtitle") == ["2026-01-31 12:00 · 2 models · 4 datasets · 678 samples"]
    tab(page, "scores")
    assert page.value(f"document.querySelectorAll('{LINES} .score')[1].title").split("\n") == [
        "27.3 % (95 %: 22.5–32.6)",
        "300 samples: 81 right, 210 wrong, 3 no answer, 3 cut, 3 failed",
        "27.0 % if all answers without a score were wrong, 30.0 % if all were right",
    ]
    needed = "repeated: a 95 % interval of ±1.0 points needs 12 answers to each question (now 4: ±1.6 points)"
    assert page.texts(".notes li") == [f"small/{needed}", f"large/{needed}"]
    tab(page, "run")
    facts = page.value("document.querySelector('#panel-run').textContent")
    assert "aisprompt run mixed.py" in facts
    assert "finished, 1,300 requests, 0.43 USD" in facts
    tab(page, "speed")
    assert page.texts("#panel-speed .matrix tbody tr") == ["sums – 1.1 s"]
    page.click("#panel-speed .chip", 8)
    assert page.texts("#panel-speed .matrix tbody tr") == ["sums – 300"]


def test_answers_without_a_score_are_named_unparsed_first_and_lead_to_their_samples(page: Page) -> None:
    page.value("Object.assign(data.scores[0], { finished: 0.75, bound_low: 0.5, bound_high: 0.625 })")
    tab(page, "scores")
    assert page.texts(".losses li") == [
        "6 no answer · small/sums 3 of 300 · large/sums 3 of 300",
        "8 cut · small/通用-chat 1 of 7 · large/通用-chat 1 of 7 · small/sums 3 of 300 (75.0 % without them) · 1 more",
        "6 failed · small/sums 3 of 300 · large/sums 3 of 300",
    ]
    title = page.value(f"document.querySelectorAll('{LINES} .score')[1].title")
    assert "75.0 % without cut answers" in title
    assert "50.0 % if all answers without a score were wrong, 62.5 % if all were right" in title
    assert "samples below the full score" in page.texts(".legend")[0], "what the red dot counts"
    page.click(".losses button", 1)
    assert found(page) == f"3 of {ALL}"
    assert set(column(page, "state")) == {"no answer"}
    tab(page, "scores")
    bounds = "67.0 % if all answers without a score were wrong, 70.0 % if all were right"
    assert page.texts(".losses li")[-1] == bounds, "only one task is shown"


def test_numbers_are_rounded_as_in_a_terminal(page: Page) -> None:
    scores = [wrong / answers for answers in (7, 16, 40, 160, 320) for wrong in range(-answers, answers + 1)]
    assert page.value(f"{scores}.map((score) => scored(score, true))") == [percent(score) for score in scores]
    numbers = [score * 100 for score in scores if score == 0 or abs(score) >= 0.01]
    assert page.value(f"{numbers}.map((number) => scored(number, false))") == [f"{number:.2f}" for number in numbers]


def test_states_models_and_data_sets_can_be_chosen(page: Page) -> None:
    assert found(page) == f"{ALL} samples"
    state(page, "failed")
    assert found(page) == f"6 of {ALL}"
    assert set(column(page, "state")) == {"failed"}
    state(page, "truncated")
    assert found(page) == f"14 of {ALL}"
    choose(page, "model", "small")
    assert found(page) == f"7 of {ALL}"
    choose(page, "dataset", "通用-chat")
    assert found(page) == f"1 of {ALL}"
    assert page.texts("[data-state=truncated]") == ["cut 1"]
    assert page.texts("#model summary") == ["small"]
    choose(page, "dataset", "sums")
    assert found(page) == f"7 of {ALL}"
    assert page.texts("#dataset summary") == ["2 of 4 datasets"]
    page.press("Escape")
    assert page.texts(".choice .options") == []
    assert parse_qs(page.value("location.hash.slice(1)"))["dataset"] == ["通用-chat", "sums"]


def choose(page: Page, key: str, name: str) -> None:
    """Choose a model or dataset, or no longer, in its menu."""
    page.value(f"document.querySelector('#{key}').open = true")
    place = page.texts(f"#{key} label").index(name)
    page.click(f"#{key} label", place)


def test_filters_hold_for_every_tab(page: Page) -> None:
    choose(page, "model", "large")
    choose(page, "dataset", "sums")
    choose(page, "dataset", "choice")
    tab(page, "scores")
    assert page.texts("#panel-scores .matrix thead th") == ["Dataset", "large"]
    assert page.texts(f"#panel-scores {LINES} th") == ["sums", "choice"]
    assert page.texts("#panel-scores .folds summary") == ["sums"]
    tab(page, "answers")
    page.wait_for("document.querySelector('#panel-answers .chart-plot')")
    assert "通用-chat" not in page.value("document.querySelector('#panel-answers').textContent")
    assert "small" not in page.value("document.querySelector('#panel-answers').textContent")
    state(page, "failed")
    tab(page, "scores")
    assert page.texts(f"#panel-scores {LINES} th") == ["sums"]


def test_keys_work_after_a_click_on_a_chip(page: Page) -> None:
    state(page, "wrong")
    page.press("j")
    page.press("Enter")
    assert opened(page) == "sums · small · row 3 · s3"


def test_model_and_dataset_of_a_row_are_seen_beside_an_open_sample(page: Page) -> None:
    page.click("#rows .row", 1)
    opened(page)
    assert column(page, "model")[0] == "small"
    assert column(page, "dataset")[0] == "sums"


def test_hits_of_a_search_are_marked(page: Page, sample_run: RunFolder) -> None:
    open_report(page, sample_run.report, "query=3 * 6 is 18&sample=small/通用-chat/s2")
    opened(page)
    page.wait_for("[...CSS.highlights.get('found')].some((one) => sample.contains(one.startContainer))")
    assert page.value("[...CSS.highlights.get('found')].map(String)") == ["3 * 6 is 18"]
    open_report(page, sample_run.report, "query=TWICE 12 IS&model=large")
    page.click("#rows .row", 0)
    opened(page)
    page.wait_for("[...CSS.highlights.get('found')].map(String).includes('Twice 12 is')")


def test_scores_are_a_matrix_of_models_and_datasets(page: Page, sample_run: RunFolder) -> None:
    open_report(page, sample_run.report)
    assert page.texts(".matrix thead th") == ["Dataset", "large", "small"], "the best mean first"
    assert page.texts(f"{LINES} th") == ["sums", "通用-chat", "choice", "repeated"]
    assert page.texts(f"{LINES} tr:first-child td") == ["67.7 62.2–72.7 99", "27.3 22.5–32.6 219"]
    assert page.texts(".matrix .means tr") == ["all 68.8 56.8–78.8 28.6 18.9–40.8", "mean of 4 datasets 71.9 39.3"]
    assert page.value("document.querySelector('.matrix .means').nextElementSibling.matches('tbody:last-child')")
    best = "[...document.querySelectorAll('.matrix .best')].map((one) => one.cellIndex)"
    assert page.value(best) == [1, 1, 1, 1], "a tie has no best"
    heat = f"[...document.querySelectorAll('{LINES} td')].map((one) => +one.style.getPropertyValue('--heat'))"
    assert page.value(heat)[1] == 0
    assert max(page.value(heat)) == page.value(heat)[-2] == 1


def test_the_matrix_is_sorted_by_name_and_by_any_model(page: Page, sample_run: RunFolder) -> None:
    open_report(page, sample_run.report)
    unfold_scores(page)
    page.click(".matrix thead button", 2)
    assert page.texts(f"{LINES} th") == ["通用-chat", "repeated", "choice", "sums"]
    assert page.value("document.activeElement.dataset.focus") == "sort small"
    page.wait_for("document.querySelector('#panel-scores .chart-plot')")
    assert drawn(page, "#panel-scores .chart-plot .label:not(.value)") == ["通用-chat", "repeated", "choice", "sums"]
    page.press("Enter")
    assert page.texts(f"{LINES} th") == ["sums", "choice", "通用-chat", "repeated"]
    page.press("Enter")
    assert page.texts(f"{LINES} th") == ["sums", "通用-chat", "choice", "repeated"]
    page.click(".matrix thead button", 0)
    assert page.texts(f"{LINES} th") == ["choice", "repeated", "sums", "通用-chat"]


def test_a_suite_is_folded_into_its_groups_and_a_failed_task_tells_its_cause(page: Page, sample_run: RunFolder) -> None:
    page.value(SUITE)
    page.value("showTab('scores')")
    assert page.texts(f"{LINES} th") == ["▸ mmlu 20", "▸ ceval 10", "last"]
    assert page.texts(".matrix .means th") == ["mean of 31 datasets"]
    assert page.texts(f"{LINES} tr")[0].split()[3:] == ["20.0", "20.0", "error", "error"]
    assert page.texts(".notes li") == ["60 tasks, m0/mmlu-0: 5 of 6 wrong answers contain the gold answer: try this"]
    size = "2 models · 31 datasets: mmlu-0, mmlu-1, mmlu-2, …"
    assert page.texts(".causes li") == [f"m2, m3 ModelError: HTTP 401, request 'mmlu-0' {size}"]
    assert page.value("document.querySelector('.notes').nextElementSibling.className") == "folded-chart"
    page.click(".matrix .fold-group", 0)
    assert len(page.texts(f"{LINES} th")) == 23
    assert page.value("document.activeElement.getAttribute('aria-expanded')") == "true"
    heights = "[...document.querySelectorAll('.matrix tbody:last-child tr')].map((one) => one.offsetHeight)"
    assert set(page.value(heights)) == {26}
    frame = "document.querySelector('.matrix-frame')"
    assert page.value(f"{frame}.scrollHeight === {frame}.clientHeight")
    page.click("#fold")
    page.click("#fold")
    assert page.texts(f"{LINES} th") == ["▸ mmlu 20", "▸ ceval 10", "last"]
    page.value("filters.dataset = new Set(['mmlu-3', 'mmlu-7']), drawShown()")
    assert page.texts(f"{LINES} th") == ["▸ mmlu 2"]
    assert page.value("document.querySelector('.matrix .group .score').title") == "mean of 2 of 2 datasets"
    page.value("setFilters({ dataset: [...parts[1].members, 'last'] })")
    assert page.value("location.hash") == "#tab=scores&dataset=last&group=ceval"
    page.value("filters.dataset.clear(), readAddress()")
    assert page.texts(f"{LINES} th") == ["▸ ceval 10", "last"]


SUITE = """
(() => {
  const count = (name, number) => [...Array(number).keys()].map((place) => `${name}-${place}`);
  const names = [...count("mmlu", 20), ...count("ceval", 10), "last"];
  const models = ["m0", "m1", "m2", "m3"];
  const line = (dataset, model, note) => {
    const failed = { dataset, model, metric: null, score: null, note: note.replace(/ $/, ` '${dataset}'`) };
    return model >= "m2" ? failed : { dataset, model, metric: "accuracy", score: 0.2, fraction: true, note: "" };
  };
  const lines = (names, note) => names.flatMap((dataset) => models.map((model) => line(dataset, model, note)));
  const groups = ["mmlu", "ceval"].map((name) => ({ name, members: names.filter((one) => one.startsWith(name)) }));
  const scores = [...lines(names, "error: ModelError: HTTP 401, request "), ...lines(["mmlu", "ceval"], "no average")];
  const tasks = lines(names, "").filter(({ score }) => score != null).map(({ dataset, model }) => {
    const doubt = dataset === "last" ? "" : "5 of 6 wrong answers contain the gold answer: try this";
    return { ...data.tasks[0], dataset, model, doubt, breakdowns: [] };
  });
  data = { ...data, scores, groups, tasks, precision: [], speeds: {} };
  parts = [];
  drawOverview();
  drawFilters();
})()
"""


def test_a_run_of_one_task_opens_with_its_score_and_what_went_wrong(page: Page, small_run: RunFolder) -> None:
    open_report(page, small_run.report)
    assert page.texts("#headline") == ["67.7 % 58.0–76.1"]
    assert column(page, "state")[:4] == ["wrong"] * 4
    page.value("table.select(99)")
    assert column(page, "state")[-1] == "right"
    drawn = "toggleStates(['unparsed', 'truncated', 'failed']), document.querySelectorAll('#rows .row').length"
    assert page.value(drawn) == 3, "at once, though the table was scrolled further down than it is long now"
    shown = dict(zip(column(page, "state"), column(page, "extracted"), strict=True))
    assert shown == {"failed": "timeout", "cut": "“Well, let us see. Twice”", "no answer": "“I would rather not say.”"}
    page.requests.clear()  # of the other file


def test_the_scores_of_several_models_are_beside_the_title_the_best_first(page: Page) -> None:
    assert page.texts("#headline") == ["mean of 4 datasets: large 71.9 % · small 39.3 %"]


PLACES = (
    "[...document.querySelectorAll('#tabs, #tabs button')].map((one) => JSON.stringify(one.getBoundingClientRect()))"
)


@pytest.mark.parametrize("more_models", [False, True])
def test_tabs_stay_where_they_are(page: Page, more_models: bool) -> None:
    page.resize(1400, 700)
    if more_models:
        page.value(SUITE)
    for scroll in (0, 40):
        page.value("showTab('scores')")
        page.value(f"scrollTo(0, {scroll})")
        before = page.value(PLACES)
        for place in range(len(page.texts("#tabs button"))):
            page.click("#tabs button", place)
            assert page.value(PLACES) == before


def test_a_question_mark_shows_the_keys_on_every_tab(page: Page) -> None:
    page.click("#rows .row", 1)
    opened(page)
    page.press("?")
    assert page.texts("#keys dd")[:2] == ["next, previous", "open"]
    page.press("j")
    page.press("Escape")
    assert page.texts("#keys dd") == []
    assert opened(page).startswith("sums · small · row 1"), "neither j nor Escape went to the sample"
    tab(page, "run")
    page.press("?")
    assert page.texts("#keys dd")
    page.press("?")
    assert page.texts("#keys dd") == []
    assert page.value("shownTab()") == "run"


def test_a_long_menu_has_a_search_and_long_names_keep_their_ends(page: Page) -> None:
    assert page.value("document.querySelector('#dataset input[type=search]')") is None
    page.value(SUITE.replace("`${name}-${place}`", "`${name}-of_a_suite_with_a_very_long_name_indeed-${place}`"))
    page.value("showTab('scores'), foldAll(false), drawShown()")
    page.resize(500, 900)
    ends = """[...document.querySelectorAll('.matrix tbody .member th')].map((one) => {
        const [start, end] = one.firstChild.children;
        const [inner, outer] = [end.firstChild, one].map((each) => each.getBoundingClientRect().right);
        return start.scrollWidth > start.clientWidth && inner <= outer;
    })"""
    assert set(page.value(ends)) == {True}
    page.click("#dataset summary")
    page.wait_for("document.activeElement.matches('#dataset input')")
    page.type("INDEED-19")
    assert page.texts("#dataset label") == ["mmlu 20", "mmlu-of_a_suite_with_a_very_long_name_indeed-19"]
    page.click("#dataset label:not([hidden])", 1)
    assert page.value("[...filters.dataset]") == ["mmlu-of_a_suite_with_a_very_long_name_indeed-19"]


def test_the_whole_cell_of_the_matrix_is_a_button(page: Page) -> None:
    tab(page, "scores")
    box = page.value(f"document.querySelector('{LINES} td').getBoundingClientRect().toJSON()")
    at = {"x": box["x"] + 4, "y": box["y"] + 4, "button": "left", "clickCount": 1}
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, **at)
    assert found(page) == f"300 of {ALL}"


def test_a_click_in_the_matrix_shows_these_samples(page: Page) -> None:
    tab(page, "scores")
    page.click(f"{LINES} button.score", 1)
    assert found(page) == f"300 of {ALL}"
    open_scores(page)
    page.click(f"{LINES} th button", 2)
    assert found(page) == f"40 of {ALL}"
    open_scores(page)
    page.click(".matrix .miss button", 1)
    assert found(page) == f"219 of {ALL}"
    assert "right" not in column(page, "state")
    page.press("Enter")
    assert opened(page).startswith("sums · small")


def open_scores(page: Page) -> None:
    """Show all scores again."""
    page.value("setFilters({})")
    tab(page, "scores")


def test_one_key_shows_the_wrong_ones_and_all_again(page: Page) -> None:
    tab(page, "scores")
    page.click(".matrix button.score", 1)
    page.press("w")
    assert found(page) == f"219 of {ALL}"
    page.press("w")
    assert found(page) == f"300 of {ALL}"


def test_chips_count_what_the_search_finds(page: Page) -> None:
    page.click("#query")
    page.type("I would rather")
    page.wait_for(f"document.querySelector('#found').textContent === '6 of {ALL}'")
    assert page.texts("[data-state=unparsed]") == ["no answer 6"]
    assert page.texts("[data-state=right]") == ["right 0"]
    state(page, "wrong")
    assert found(page) == f"0 of {ALL}"
    assert page.texts("[data-state=unparsed]") == ["no answer 6"]


def test_an_open_sample_closes_when_the_filters_leave_it_out(page: Page) -> None:
    page.click("#rows .row", 0)
    assert opened(page) == "sums · small · row 0 · s0"
    state(page, "right")
    assert not page.value("document.querySelector('#sample').hidden")
    state(page, "right")
    state(page, "wrong")
    assert page.value("document.querySelector('#sample').hidden")


def test_keys_from_the_top_open_a_sample_that_can_be_seen(page: Page) -> None:
    page.resize(1400, 500)
    page.press("j")
    page.press("Enter")
    opened(page)
    box = page.value("document.querySelector('#sample h3').getBoundingClientRect().toJSON()")
    assert 0 <= box["top"] <= 480
    assert page.value("document.querySelector('.row[aria-selected=true]').getBoundingClientRect().top < innerHeight")


def test_tabs_are_used_with_keys(page: Page, sample_run: RunFolder) -> None:
    page.value("document.querySelector('#tab-samples').focus()")
    page.press("ArrowRight")
    assert page.value("document.activeElement.id") == "tab-models"
    assert page.value("document.querySelector('#panel-samples').hidden")
    for _ in range(3):
        page.press("ArrowLeft")
    assert page.value("document.activeElement.id") == "tab-run"
    assert page.value("decodeURIComponent(location.hash)") == "#tab=run"
    open_report(page, sample_run.report, "tab=speed")
    page.wait_for("document.querySelector('#panel-speed .matrix')?.checkVisibility()")
    page.press("j")
    assert page.value("document.querySelector('.row[aria-selected=true]').checkVisibility()")


def test_columns_sort_up_down_and_back(page: Page) -> None:
    state(page, "right")
    first = column(page, "length")
    page.click("#columns .length button")
    up = [int(text) for text in column(page, "length")]
    assert up == sorted(up)
    page.click("#columns .length button")
    down = [int(text) for text in column(page, "length")]
    assert down == sorted(down, reverse=True)
    assert down[0] > up[0]
    assert page.value("document.querySelector('#columns .length').getAttribute('aria-sort')") == "descending"
    page.click("#columns .length button")
    assert column(page, "length") == first


def test_search_goes_through_questions_answers_and_thoughts(page: Page) -> None:
    def search(text: str) -> str:
        page.value("document.querySelector('#query').value = ''")
        page.click("#query")
        page.type(text)
        page.wait_for(f"filters.query === {text!r} && !/searching/.test(document.querySelector('#found').textContent)")
        return found(page)

    assert search("137+137") == f"2 of {ALL}"
    assert search("I WOULD RATHER") == f"6 of {ALL}"
    assert search("3 * 6 is 18") == f"2 of {ALL}"
    assert search("那里有多少人") == f"2 of {ALL}"
    assert search("no such text anywhere") == f"0 of {ALL}"
    assert page.texts("#none") == ["No matching samples."]


def test_keys_walk_open_close_and_search(page: Page) -> None:
    page.press("j")
    page.press("j")
    page.press("Enter")
    assert opened(page) == "sums · small · row 1 · s1"
    page.press("j")
    page.wait_for("document.querySelector('#sample header p').innerText.includes('row 2')")
    page.press("k")
    page.wait_for("document.querySelector('#sample header p').innerText.includes('row 1')")
    page.press("Escape")
    assert page.value("document.querySelector('#sample').hidden")
    page.press("End")
    page.press("Enter")
    page.wait_for("document.querySelector('#sample header p').innerText === 'repeated · large · row 11 · s11'")
    page.press("Escape")
    page.press("/")
    assert page.value("document.activeElement.id") == "query"
    page.type("j")
    assert page.value("document.querySelector('#query').value") == "j"


def test_a_line_that_is_pressed_while_samples_come_in_is_opened(page: Page) -> None:
    box = page.value("document.querySelectorAll('#rows .row')[1].getBoundingClientRect().toJSON()")
    at = {"x": box["x"] + 9, "y": box["y"] + 9, "button": "left", "clickCount": 1}
    page.call("Input.dispatchMouseEvent", type="mousePressed", **at)
    page.value("table.draw()")  # as the live view does
    page.call("Input.dispatchMouseEvent", type="mouseReleased", **at)
    assert opened(page).startswith("sums · small · row 1")


def test_a_sample_shows_prompt_answer_gold_and_score(page: Page) -> None:
    page.click("#rows .row", 1)
    assert opened(page).startswith("sums · small · row 1")
    assert page.texts(".verdict td .text") == ["2", "2"]
    assert page.texts(".verdict .values") == ["accuracy 1"]
    page.click("#sample .prompt summary")
    assert "".join(page.texts("#sample .prompt .text")).count("Question: ") == 5
    assert page.texts("#sample .answer") == ["Twice 1 is 2."]
    assert page.texts("#sample .facts") == ["stopped by the model · 60 tokens in · 6 out · 300 ms"]


def test_labels_stand_side_by_side(page: Page, sample_run: RunFolder) -> None:
    open_report(page, sample_run.report, "sample=small/choice/s9")
    opened(page)
    assert page.texts(".labels tbody tr")[0].split() == ["A", "gold", "1.625", "15.25", "12"]
    assert page.texts(".labels .chosen th") == ["B chosen"]
    assert page.texts(".card h4") == ["A", "B"]


def test_turns_thoughts_and_media_are_shown(page: Page, sample_run: RunFolder) -> None:
    open_report(page, sample_run.report, "sample=small/通用-chat/s3")
    opened(page)
    assert page.texts("#sample h4") == ["Turn 1: prompt", "Turn 1: answer", "Turn 2: prompt", "Turn 2: answer"]
    assert page.texts(".blank") == ["··↵"]
    open_report(page, sample_run.report, "sample=small/通用-chat/s2")
    opened(page)
    page.click(".thinking summary")
    assert page.texts(".thinking .text") == ["Let me think. 3 * 6 is 18."]
    assert "2 attempts" in page.texts("#sample .facts")[0]
    open_report(page, sample_run.report, "sample=small/通用-chat/s1")
    opened(page)
    assert [text[:22].rstrip(".") for text in page.texts(".media")] == [
        "image, image/png, 72 b",
        "image: https://example",
    ]
    page.wait_for("document.querySelector('#sample figure img').naturalWidth === 1")
    assert page.value("document.querySelectorAll('#sample img').length") == 1
    open_report(page, sample_run.report, "sample=small/通用-chat/s4")
    opened(page)
    assert page.texts(".verdict .reason") == ["unclosed thought"]


def test_columns_of_the_data_filter_and_are_in_the_address(page: Page, sample_run: RunFolder) -> None:
    assert page.texts("#column-filters select") == ["All: level 0 1 2", "All: subject algebra 数论"]
    for name, value in (("level", "1"), ("subject", '"数论"')):
        choice = f"document.querySelector('[data-column={name}]')"
        page.value(f"{choice}.value = {value!r}")
        page.value(f"{choice}.dispatchEvent(new Event('change'))")
    assert found(page) == f"100 of {ALL}"
    address = page.value("location.hash.slice(1)")
    open_report(page, sample_run.report, address)
    assert found(page) == f"100 of {ALL}"
    page.click("#rows .row", 0)
    assert opened(page) == "sums · small · row 1 · s1"
    assert page.texts("#sample .values")[1] == "level 1 subject 数论 note unique 1"


@pytest.mark.parametrize("width", [420, 1400])
def test_no_text_of_a_chart_lies_on_another_and_no_table_is_cut(page: Page, width: int) -> None:
    page.resize(width, 900)
    longer = "Object.assign(one, { dataset: `demo-chat-${one.dataset}`, model: `demo-${one.model}` })"
    page.value(f"for (const one of [...data.tasks, ...data.scores]) {longer}; data = {{ ...data }}; drawOverview()")
    for name in ("answers", "scores"):
        tab(page, name)
        if name == "scores":
            unfold_scores(page)
        page.wait_for(f"document.querySelector('#panel-{name} .chart-plot')")
        assert page.value(TEXTS_ON_TEXTS.replace("PANEL", f"#panel-{name}")) == []
    assert page.value(
        "[...document.querySelectorAll('.measures .scroll')].every((one) => one.scrollWidth <= one.clientWidth)"
    )


TEXTS_ON_TEXTS = """
[...document.querySelectorAll('PANEL .chart-plot')].flatMap((plot) => {
  const all = plot.getBoundingClientRect();
  const boxes = [...plot.querySelectorAll('.label')].map((one) => [one.textContent, one.getBoundingClientRect()]);
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
  const isHidden = ([, box], place) => boxes.slice(place + 1).some(([, other]) => meet(box, other));
  return boxes.filter((one, place) => one[1].right > all.right + 1 || isHidden(one, place)).map(([text]) => text);
})
"""


def test_scores_by_column_lead_to_their_samples(page: Page) -> None:
    tab(page, "scores")
    regions = "[...document.querySelectorAll('.measures [role=region]')]"
    titles = page.value(f"{regions}.map((one) => one.getAttribute('aria-label'))")
    assert titles[:4] == ["sums: level", "sums: subject", "sums: shots", "sums: length of the answer"]
    assert page.texts(".heat tbody tr")[0] == "0 27 68"
    assert page.value("document.querySelector('.heat td').title") == "27.3 % (95 %: 19.5–36.8), 99 samples"
    page.click(".heat .score", 0)
    assert found(page) == f"100 of {ALL}"


def test_a_judge_is_shown_with_prompt_and_reply(page: Page, sample_run: RunFolder) -> None:
    open_report(page, sample_run.report, "sample=small/通用-chat/s2")
    opened(page)
    page.click(".judgement summary")
    assert "Is 18 right? Say [[A]] or [[B]]." in page.texts(".judgement .prompt")[0]
    assert page.texts(".judgement .answer") == ["exact text It is right. [[A]]"]


def test_calls_of_tools_are_shown(page: Page, sample_run: RunFolder) -> None:
    open_report(page, sample_run.report, "sample=small/通用-chat/s5")
    opened(page)
    assert page.texts(".tool-call") == ['calls weather { "city": "Paris" }']


def test_markdown_and_formulas_are_drawn_and_the_exact_text_is_a_key_away(page: Page, sample_run: RunFolder) -> None:
    open_report(page, sample_run.report, "sample=small/通用-chat/s6")
    opened(page)
    answer = "#sample .answer .rendered"
    assert page.texts(f"{answer} .heading") == ["Solution"]
    assert page.texts(f"{answer} strong") == ["area"]
    assert page.texts(f"{answer} td") == ["disk", "𝜋 𝑟 2"]
    assert page.texts(f"{answer} pre") == ["print(1 < 2)"]
    assert page.texts(f"{answer} li") == ["see (https://example.org/x)", "<b>bold</b>"]
    assert "it costs $5 or $6:" in page.texts(f"{answer} p")[1]
    assert page.value(f"document.querySelectorAll('{answer} math').length") == 5
    assert page.value(f"document.querySelectorAll('{answer} mfrac').length") == 2
    assert page.value(f"document.querySelectorAll('{answer} mtable mtr').length") == 2
    assert page.value("document.querySelectorAll('#sample a').length") == 0
    assert page.texts("#sample .prompt .text") == ["What is $\\frac{1}{2}$?"]
    page.press("r")
    assert page.texts("#sample .answer .text")[0].startswith("# Solution The **area** is \\(\\frac{a}{b}\\)")
    assert page.texts(answer) == []
    page.click("#sample .answer .either-button")
    assert page.texts(f"{answer} strong") == ["area"]


def test_two_models_are_side_by_side_with_changed_words(page: Page, sample_run: RunFolder) -> None:
    open_report(page, sample_run.report, "model=small&sample=small/sums/s3")
    opened(page)
    assert page.texts(".beside button") == ["large"]
    page.click(".beside button")
    page.wait_for("document.querySelector('.two')")
    assert page.texts(".two h4") == ["small wrong, extracted 7", "large right, extracted 6"]
    assert page.texts(".two .answer") == ["Twice 3 is 7.", "Twice 3 is 6."]
    assert page.texts(".two mark.changed") == ["7", "6"]
    page.press("j")
    page.wait_for("document.querySelector('#sample header p').innerText.includes('row 4')")
    assert page.texts(".two .answer") == ["Twice 4 is 9.", "Twice 4 is 8."]
    address = page.value("decodeURIComponent(location.hash)")
    assert address == "#model=small&sample=small/sums/s4&beside=large"
    open_report(page, sample_run.report, "sample=small/sums/s50&beside=large")
    page.wait_for("document.querySelector('.two')")
    assert page.texts(".two .answer") == ["timeout: no answer within 60 s"] * 2
    page.click(".beside button")
    page.wait_for("!document.querySelector('.two')")


@pytest.mark.parametrize("seed", range(3))
def test_changed_words_give_back_both_texts(page: Page, seed: int) -> None:
    source = random.Random(seed)
    for _ in range(40):
        texts = ["".join(source.choice("a b 中文 \n.1 é\u202e") for _ in range(source.randrange(30))) for _ in range(2)]
        parts = page.value(f"changedWords({json.dumps(texts[0])}, {json.dumps(texts[1])})")
        assert ["".join(text for text, _ in side) for side in parts] == texts
        same = ["".join(text for text, changed in side if not changed) for side in parts]
        assert same[0] == same[1]
    words = ["x" + str(number) for number in range(4000)]
    different = page.value(f"changedWords({json.dumps(' '.join(words))}, {json.dumps(' '.join(reversed(words)))})")
    assert different[0] == [[" ".join(words), True]]


def test_each_answer_to_a_question_has_its_verdict(page: Page, sample_run: RunFolder) -> None:
    open_report(page, sample_run.report, "sample=small/repeated/s1")
    opened(page)
    assert page.texts(".verdict tbody tr")[3].split() == ["4", "2", "1", "scored", "0"]
    assert page.texts("#sample h4") == ["Prompt", *(f"Answer {number}" for number in range(1, 5))]


def test_a_failure_is_told_in_words(page: Page, sample_run: RunFolder) -> None:
    open_report(page, sample_run.report, "sample=small/sums/s50")
    opened(page)
    assert page.texts(".failure") == ["timeout no answer within 60 s"]
    assert page.texts(".verdict .reason") == ["timeout"]


def test_hostile_text_is_text(page: Page, sample_run: RunFolder) -> None:
    open_report(page, sample_run.report, "sample=small/通用-chat/s0")
    opened(page)
    shown = page.texts("#sample .answer")[0]
    assert shown.startswith("</script><script>window.hacked=1</script><img src=x onerror='window.hacked=1'>")
    for name in ("U+202E", "U+0000", "U+D800"):
        assert name in shown
    tab(page, "run")
    page.click("#panel-run details:last-child summary")
    assert "window.hacked=1" in page.texts(".config")[0]
    assert page.value("window.hacked") is None
    assert page.value("document.querySelectorAll('main img').length") == 0


def test_the_policy_forbids_scripts_and_requests(page: Page) -> None:
    page.value("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))")
    assert page.value("window.ran") is None
    assert page.value("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')") == "refused"
    page.value("0")
    assert all("Content Security Policy" in complaint for complaint in page.complaints)
    page.complaints.clear()
    page.requests.clear()


def test_the_address_says_what_is_shown(page: Page, sample_run: RunFolder) -> None:
    state(page, "wrong")
    page.click("#rows .row", 0)
    opened(page)
    address = page.value("decodeURIComponent(location.hash)")
    assert address == "#state=wrong&sample=small/sums/s3"
    open_report(page, sample_run.report, "state=unparsed&model=large&query=rather&sample=large/sums/s170")
    assert opened(page) == "sums · large · row 170 · s170"
    page.wait_for(f"document.querySelector('#found').textContent === '3 of {ALL}'")


def test_only_lines_that_can_be_seen_are_elements(page: Page) -> None:
    assert page.value("document.querySelectorAll('#rows .row').length") < 60
    page.value("document.querySelector('#grid').scrollTop = 300 * 36")
    page.wait_for("[...document.querySelectorAll('#rows .row')].some((row) => row.id === 'row-300')")


def test_colours_follow_the_system_until_they_are_chosen(page: Page, sample_run: RunFolder) -> None:
    dark = "getComputedStyle(document.body).backgroundColor"
    light_paper = page.value(dark)
    page.resize(1400, 900, "dark")
    dark_paper = page.value(dark)
    assert dark_paper != light_paper
    page.click("#theme")
    assert page.value(dark) == light_paper
    page.click("#theme")
    assert page.value(dark) == dark_paper


def test_nothing_is_wider_than_the_window(page: Page) -> None:
    for width in (360, 400, 700, 900, 1200, 1600):
        page.resize(width, 800)
        assert page.value("document.documentElement.scrollWidth <= innerWidth"), width


def test_what_was_read_is_marked_and_its_rule_named(page: Page) -> None:
    state(page, "right")
    page.value("document.querySelector('#rows [role=row], #rows .row').click()")
    opened(page)
    assert page.texts("#sample mark.read") == page.texts("#sample .verdict td:first-child .text")[:1]
    assert "the last number" in page.texts("#sample .rule")[0]


def drawn(page: Page, selector: str) -> list[str]:
    texts: list[str] = page.value(f"[...document.querySelectorAll('{selector}')].map((one) => one.textContent)")
    return texts


def test_charts_have_round_ticks_at_every_width(page: Page) -> None:
    for width in (420, 1400):
        page.resize(width, 900)
        tab(page, "scores")
        unfold_scores(page)
        assert drawn(page, "#panel-scores .chart-plot .tick") == ["20 %", "40 %", "60 %", "80 %", "100 %"]
        assert drawn(page, "#panel-scores .chart-plot .label")[:4] == ["small", "large", "sums", "27.3–67.7 %"]
        tab(page, "answers")
        page.wait_for("document.querySelector('#panel-answers .chart-plot .tick')")
        ticks = page.value(
            "[...document.querySelectorAll('#panel-answers .chart')].map((one) => "
            "[...one.querySelectorAll('.tick')].map((tick) => tick.textContent))"
        )
        assert ticks[0] == ["0", "5", "10", "15", "20"]
        assert ticks[1] == ["2", "5", "10", "20", "50", "100", "200"]
        assert ticks[2] == ["0 s", "500 ms", "1 s", "1.5 s", "2 s"]
        assert page.value("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("seed", range(3))
def test_ticks_are_round_and_within_the_range(page: Page, seed: int) -> None:
    source = random.Random(seed)
    for _ in range(50):
        low = source.uniform(-5, 5) * 10 ** source.randrange(-3, 4)
        high = low + abs(source.gauss(0, 1)) * 10 ** source.randrange(-3, 4) + 1e-3
        ticks = page.value(f"ticks([{low}, {high}])")
        assert 1 <= len(ticks) <= 6
        assert all(low - 1e-6 <= tick <= high + 1e-6 for tick in ticks)
        steps = [b - a for a, b in itertools.pairwise(ticks)]
        assert all(f"{step:.3e}"[:5] in ("1.000", "2.000", "5.000") for step in steps)


def saved(page: Page, selector: str) -> list[str]:
    """Click on what saves a file; its name and its beginning."""
    page.value("void (saveFile = async (name, blob) => { window.saved = [name, await blob.text()]; })")
    page.value("delete window.saved")
    page.click(selector)
    page.wait_for("window.saved")
    found: list[str] = page.value("window.saved")
    return found


def test_a_chart_is_saved_with_its_colours(page: Page) -> None:
    tab(page, "scores")
    unfold_scores(page)
    name, text = saved(page, ".saves button")
    assert name == "mixed-Scores-with-95-intervals.svg"
    assert text.startswith("<svg ")
    assert 'xmlns="http://www.w3.org/2000/svg"' in text
    assert "var(" not in text
    assert "27.3–67.7 %" in text
    name, text = saved(page, ".saves button:last-child")
    assert name.endswith(".png")
    assert text[1:4] == "PNG"
    page.requests.clear()


def test_the_samples_that_are_shown_are_saved(page: Page) -> None:
    tab(page, "scores")
    page.click(".matrix .miss button", 1)
    name, text = saved(page, "#save-csv")
    assert name == "mixed-samples.csv"
    lines = list(csv.DictReader(io.StringIO(text)))
    assert len(lines) == 219
    assert (lines[0]["model"], lines[0]["id"], lines[0]["state"], lines[0]["column level"]) == (
        "small",
        "s3",
        "wrong",
        "0",
    )
    name, text = saved(page, "#save-json")
    assert [line["id"] for line in json.loads(text)] == [line["id"] for line in lines]
    assert page.value("csvOf([{ a: '=1+1', b: 'x,\"y\"\\n', c: -1 }])") == 'a,b,c\r\n\'=1+1,"x,""y""\n",-1\r\n'


def test_labels_are_chinese_and_texts_of_data_are_not(page: Page, chinese_report: Path) -> None:
    open_report(page, chinese_report, "tab=samples")
    assert page.texts("#tabs button") == ["得分", "样本", "模型并排", "分布", "速度", "运行与配置"]
    assert page.texts("#states [data-state=wrong]") == ["错误 324"]
    assert page.texts("#found") == ["678 个样本"]
    assert page.texts("#columns .gold") == ["标准答案"]
    tab(page, "scores")
    assert page.texts(".matrix .means th") == ["all", "4 数据集的平均"]
    page.requests.clear()


OTHER_WORDS = set("max_out_len latex json csv svg png esc enter aisprompt view-prompt min".split())
"""Names that are the same in Chinese."""
VISIBLE_WORDS = """
(() => {
  const texts = [document.title];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.parentElement.closest('script, style, noscript')) texts.push(node.data);
  }
  for (const node of document.querySelectorAll('body *')) {
    for (const name of ['title', 'aria-label', 'placeholder', 'alt']) texts.push(node.getAttribute(name) ?? '');
  }
  return texts.join(' ');
})()
"""


@pytest.mark.parametrize(
    "address",
    [
        *("", "tab=scores", "tab=answers", "tab=speed", "tab=run", "query=no such text", "state=wrong"),
        *(f"sample=small/{name}" for name in ("sums/s50", "sums/s60", "sums/s1", "choice/s9", "repeated/s1")),
        *(f"sample=small/通用-chat/s{number}" for number in range(7)),
        "sample=small/sums/s3&beside=large",
    ],
)
def test_no_english_word_is_left_that_does_not_come_from_the_data(
    chromium: Page, sample_run: RunFolder, chinese_report: Path, address: str
) -> None:
    files_of_run = [path.read_text("utf-8") for path in sample_run.root.rglob("*.json*")]
    data = words_of(
        " ".join(
            [
                *(text.replace("\\n", " ") for text in files_of_run),
                sample_run.config_file.read_text("utf-8"),
                str(sample_run.root),
            ]
        )
    )
    chromium.resize(1400, 900)
    open_report(chromium, chinese_report, address)
    if "sample" in address:
        chromium.wait_for("document.querySelector('#sample h3')?.checkVisibility()")
    data |= words_of(chromium.value("data.precision.join(' ')"))  # a message, as those in the terminal
    left = words_of(chromium.value(VISIBLE_WORDS)) - data - OTHER_WORDS
    assert not left, " ".join(sorted(left))


def words_of(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Za-z][A-Za-z_-]{2,}", text)}


def test_a_run_of_too_many_samples_says_who_shows_them(
    chromium: Page, sample_run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder(tmp_path / sample_run.root.parent.name / sample_run.root.name)
    shutil.copytree(sample_run.root, folder.root)
    monkeypatch.setattr(pages, "MOST_BYTES", 1000)
    monkeypatch.setenv("AISPROMPT_LANG", "en")
    write_report(folder)
    chromium.complaints.clear()
    open_report(chromium, folder.report, "tab=samples")
    assert chromium.texts("#live") == [
        f"The {ALL} samples are too many for one file; aisprompt view shows them. Scores and charts are of all."
    ]
    for name in ("scores", "models", "answers", "run"):
        tab(chromium, name)
        assert chromium.texts(f"#panel-{name}") != [""]
    assert not chromium.complaints
