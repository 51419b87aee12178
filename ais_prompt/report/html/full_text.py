"""Search prompts, answers and thoughts of all samples of an index, in a thread of its own."""

from __future__ import annotations

import json
import threading
from itertools import chain
from typing import Any

import numpy as np

from ais_prompt.errors import AisPromptError
from ais_prompt.report.html.index import Index
from ais_prompt.report.questions import question_text
from ais_prompt.store.disk import reading
from ais_prompt.store.predictions import read_prediction
from ais_prompt.types import Prediction


class FullText:
    """A search that goes on until every sample was looked at.

    Attributes:
        matches: for each sample, whether it has the text, as far as it was looked at.
        share: how many of the samples were, 0 to 1.
    """

    def __init__(self, index: Index, text: str) -> None:
        """Begin to search.

        Args:
            index: of the samples.
            text: in lower case. Of prompts, only the lines that differ from the previous sample's are searched.
        """
        self.matches = np.zeros(index.table.num_rows, dtype=bool)
        self.share = 0.0
        self._index = index
        self._text = text
        # As JSON has it in the file; a text with other escapes is found without this first look.
        self._needle = json.dumps(text, ensure_ascii=False)[1:-1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        folder, tasks = self._index.folder, self._index.overview["tasks"]
        ends = np.cumsum(np.bincount(self._index.tasks, minlength=len(tasks)))
        try:
            for task, end in zip(tasks, ends.tolist(), strict=True):
                self._search_task(folder.predictions(task["model"], task["dataset"]), end - task["samples"])
        except AisPromptError:  # the file was removed or changed: what was found stays
            pass
        self.share = 1.0

    def _search_task(self, path: Any, first: int) -> None:
        starts = self._index.table.column("start")
        with reading(path, "open the report again"), path.open("rb") as lines:
            for place, line in enumerate(lines, start=first):
                if place < len(self.matches) and self._needle in line.decode("utf-8", "replace").lower():
                    before = read_prediction(path, starts[place - 1].as_py()) if place > first else None
                    self.matches[place] = self._has(read_prediction(path, starts[place].as_py()), before)
                if place % 1000 == 0:
                    self.share = min(place / len(self.matches), 0.999)

    def _has(self, prediction: Prediction, before: Prediction | None) -> bool:
        texts = chain(
            [question_text(prediction, before), str(prediction.gold)],
            chain.from_iterable((answer.text, answer.reasoning) for answer in prediction.completions),
        )
        return any(self._text in text.lower() for text in texts)
