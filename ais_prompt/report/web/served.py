"""The report of a run as a server answers it: the page, and its samples a screenful at a time."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qs

from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.preview import PromptView, kept_prompts, traced_views
from ais_prompt.report.web.index import Query, SampleIndex, find, find_questions
from ais_prompt.report.web.overview import overview
from ais_prompt.report.web.pages import REPORT_LIBRARIES, REPORT_SCRIPTS, page_pieces
from ais_prompt.report.web.prompt_page import chosen_part, prompts_part, sample_prompts_html
from ais_prompt.report.web.run_files import (
    asking_in_parts,
    further_data,
    has_scores,
    newest_scores,
    time_of_summary,
    time_of_tabs,
)
from ais_prompt.report.web.sample import SampleChunk
from ais_prompt.store import RunFolder, read_detail, read_prediction
from ais_prompt.types import Prediction, SampleScore

MOST_ROWS: Final = 500
"""Rows in one answer."""
MOST_QUESTIONS: Final = 100
"""Questions in one answer, each with the samples of several models."""


class ServedReport:
    """The report of a run. Its index is opened when it is needed, and again when the scores are newer."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._opening = threading.Lock()
        self._index: SampleIndex | None = None
        self._version = 0
        self._find = lru_cache(maxsize=16)(find)
        self._find_questions = lru_cache(maxsize=16)(find_questions)

    def page(self) -> str:
        """Return the page.

        Raises:
            StoreError: the run cannot be read.
        """
        data = {**self.overview(), "served": True}
        title = f"{data['name']} {data['time']}"
        prompts = chosen_part() + prompts_part(self.folder)
        frame = title, "report.html", REPORT_SCRIPTS, data, REPORT_LIBRARIES
        return "".join(page_pieces(*frame, connects=True, prompts=prompts))

    def overview(self) -> dict[str, Any]:
        """Return what the page shows before any sample; of a run without scores, what was run.

        Its ``version`` changes with the scores and further tabs, and with the number of samples that are indexed.

        Raises:
            StoreError: the run cannot be read.
        """
        measured = time_of_tabs(self.folder)
        if not has_scores(self.folder):
            return {**overview(self.folder, [], []), **further_data(self.folder), "version": f"{measured}-0"}
        names = {"name": self.folder.root.resolve().parent.name, "time": self.folder.root.resolve().name}
        index = self.index()
        # Before the overview: more samples than it says do no harm.
        version = f"{self._version + measured}-{index.size}"
        return {**index.overview, **names, **further_data(self.folder), "version": version}

    def index(self) -> SampleIndex:
        """Return the samples of the newest scores; those that are read so far.

        Raises:
            StoreError: there are none.
        """
        scores = newest_scores(self.folder)
        version = time_of_summary(scores)
        if not version:
            raise StoreError("the run has no scores yet", where=str(scores.root), fix="wait for answers")
        with self._opening:
            if self._index is None or version != self._version:
                self._index, self._version = SampleIndex(scores), version
            index = self._index
        return index.wait()

    def indexed(self) -> tuple[float, int]:
        """Return how much of the samples is indexed, 0 to 1, and how many samples the page can show."""
        return (self._index.share, self._index.wait().size) if self._index else (1.0, 0)

    def rows(self, query: str) -> dict[str, Any]:
        """Return the samples of a screenful, and how many there are.

        Args:
            query: of the address, for `Query.parse`; and ``from``, ``to``, and ``sample`` whose position is wanted.

        Raises:
            StoreError, ConfigError: the run or the query cannot be read.
        """
        index = self.index()
        found = self._find(index, Query.parse(query), index.size)
        values = {name: texts[0] for name, texts in parse_qs(query).items()}
        first, last = _number(values.get("from")), _number(values.get("to"))
        answer: dict[str, Any] = {"length": len(found.numbers), "states": found.states}
        answer["rows"] = [index.row(number) for number in found.numbers[first : min(last, first + MOST_ROWS)]]
        if name := values.get("sample"):
            statement = """
                SELECT number FROM tasks JOIN samples USING (task)
                WHERE id = substr(?, length(model || dataset) + 3) AND model || '/' || dataset || '/' || id = ?
                AND number < ?
            """
            answer |= {"named": None, "position": -1}
            for (number,) in index.select(statement, [name, name, index.size])[:1]:
                answer["named"] = index.row(number)
                answer["position"] = found.numbers.index(number) if number in found.numbers else -1
        return answer

    def questions(self, query: str) -> dict[str, Any]:
        """Return some questions with the samples of several models, and how many there are.

        Args:
            query: of the address, for `Query.parse`; and ``from``, ``to``, and the ``verdict`` that is wanted.

        Returns:
            The ``models`` side by side, ``length``, the number of questions of each verdict as ``verdicts``, and in
            ``rows`` a list of samples for each question.

        Raises:
            StoreError, ConfigError: the run or the query cannot be read.
        """
        index = self.index()
        values = {name: texts[0] for name, texts in parse_qs(query).items()}
        found = self._find_questions(index, Query.parse(query), index.size, values.get("verdict", ""))
        first, last = _number(values.get("from")), _number(values.get("to"))
        rows = []
        for number in found.numbers[first : min(last, first + MOST_QUESTIONS)]:
            row = index.row(number)
            samples = map(index.row, sorted([number, *_others(row, index)]))
            rows.append([one for one in samples if index.overview["tasks"][one["task"]]["model"] in found.models])
        return {"models": found.models, "length": len(found.numbers), "verdicts": found.verdicts, "rows": rows}

    def others(self, query: str) -> list[dict[str, Any]]:
        """Return the same sample under other models."""
        index = self.index()
        return [index.row(number) for number in _others(_row(query, index), index)]

    def sample(self, query: str) -> dict[str, Any]:
        """Return a sample, and the one that its prompt is compared with, as a chunk of the file has them.

        Raises:
            StoreError, DataError, ConfigError: they cannot be read.
        """
        index = self.index()
        row = _row(query, index)
        number = row["number"]
        near = [place for place in (number - 1, number + 1) if 0 <= place < index.size]
        beside = [other for other in map(index.row, near) if other["task"] == row["task"]][:1]
        prediction, detail = _stored(index, row)
        judged = index.judgements(row["task"], prediction.sample_id)
        dataset = index.overview["tasks"][row["task"]]["dataset"]
        chunk = SampleChunk(asking_in_parts(self.folder).get(dataset, {}) if judged else {})
        chunk.add(prediction, detail, judged)
        for one in beside:
            chunk.add(*_stored(index, one))
        is_first = any(other["number"] > number for other in beside)
        return {**chunk.to_json(), "is_first": is_first}

    def prompts(self, query: str) -> dict[str, str]:
        """Return the prompts of a sample with their origins, as HTML, of all models side by side.

        Raises:
            StoreError, DataError, ConfigError: they cannot be read.
        """
        index = self.index()
        row = _row(query, index)
        views: list[PromptView | None] = []
        for number in sorted([row["number"], *_others(row, index)]):
            other = index.row(number)
            task = index.overview["tasks"][other["task"]]
            names = task["model"], task["dataset"]
            views += traced_views(_stored(index, other)[0], *names, kept_prompts(self.folder, *names))
        dataset = index.overview["tasks"][row["task"]]["dataset"]
        return {"html": sample_prompts_html(views, self.folder, dataset, row["index"])}


def _stored(index: SampleIndex, row: dict[str, Any]) -> tuple[Prediction, SampleScore | None]:
    task = index.overview["tasks"][row["task"]]
    names = task["model"], task["dataset"]
    prediction = read_prediction(index.folder.predictions(*names), row["start"])
    known = row["detail_start"] >= 0
    detail = read_detail(index.folder.results(*names), row["detail_start"]) if known else None
    return prediction, detail if detail and detail.sample_id == prediction.sample_id else None


def _row(query: str, index: SampleIndex) -> dict[str, Any]:
    """Return the sample whose ``number`` an address has."""
    number = _number(next(iter(parse_qs(query).get("number", ())), None))
    if number >= index.size:
        raise ConfigError(f"there is no sample {number}", fix="open the report again")
    return index.row(number)


def _others(row: dict[str, Any], index: SampleIndex) -> list[int]:
    """Return the numbers of the same sample under other models."""
    dataset = index.overview["tasks"][row["task"]]["dataset"]
    statement = "SELECT number FROM samples JOIN tasks USING (task) WHERE id = ? AND dataset = ? AND number < ?"
    found = index.select(f"{statement} ORDER BY number", [row["id"], dataset, index.size])
    return [number for (number,) in found if number != row["number"]]


def _number(text: str | None) -> int:
    with suppress(TypeError, ValueError):
        return max(int(text or 0), 0)
    return 0
