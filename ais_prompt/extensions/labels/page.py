"""The page on which a person labels the answers of a run, without knowing whose they are or what a judge said."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.extensions.labels.command import DRAWN
from ais_prompt.extensions.labels.label_files import Label, labels_file, people_of, read_label_file, write_label_file
from ais_prompt.extensions.labels.labelled import AnswerToLabel, choose_answers, people_agree, tasks_to_label
from ais_prompt.report import label_language, page_pieces, text_of_message
from ais_prompt.store import RunFolder

PAGE: Final = "label"
ASSETS: Final = Path(__file__).parent / "assets"
SCRIPTS: Final = ("dom.js", "words.js", "text.js", ASSETS / "label.js")
_OPTIONS: Final = ("name", "task", "draw", "disagreed")


def pages(root: Path, options: Mapping[str, Any]) -> dict[str, LabelPage]:
    """Return the page for labels of a run, if ``--label`` is given.

    Raises:
        ConfigError: another option of labels is given without it, or there is no such task or answer.
        StoreError: the run cannot be read, or no labels can be written.
    """
    given = [name for name in _OPTIONS if options.get(name)]
    if not options.get("label"):
        if given:
            raise ConfigError(
                f"--{given[0]} is about labels", where=f"--{given[0]}", fix="add --label, or leave it out"
            )
        return {}
    folder, name = RunFolder(root), str(options.get("name") or "me")
    tasks = tasks_to_label(folder, options.get("task"))
    number = int(options.get("draw") or DRAWN)
    answers = choose_answers(tasks, number, name, disagreed=bool(options.get("disagreed")))
    return {PAGE: LabelPage(folder, name, answers)}


class LabelPage:
    """What `aisprompt view --label` serves. Labels are saved at once; two pages of a person may be open.

    Args:
        folder: of the run.
        name: of the person.
        answers: in the order in which they are shown.

    Raises:
        StoreError: no labels can be written into the run folder.
    """

    def __init__(self, folder: RunFolder, name: str, answers: Sequence[AnswerToLabel]) -> None:
        self._folder = folder
        self._name = name
        self._answers = answers
        self._saving = threading.Lock()
        for path in {self._file(answer) for answer in answers}:
            try:
                write_label_file(path, read_label_file(path))  # says now whether labels can be saved
            except StoreError as error:
                error.what = f"labels cannot be saved in this run folder: {error.what}"
                error.fix = "copy the run folder to a place where you can write, and label there"
                raise

    def html(self) -> str:
        """Return the page."""
        words = json.loads((ASSETS / "zh.json").read_text("utf-8")) if label_language() == "zh" else {}
        data = {"name": self._name, "total": len(self._answers), "words": words}
        return "".join(page_pieces("Labels", ASSETS / "label.html", SCRIPTS, data, connects=True))

    def answer(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return the answer with a ``number``, and without one the labels so far.

        Raises:
            ConfigError: there is no such number.
            StoreError: the labels cannot be read.
        """
        if "number" not in values:
            return self._state()
        shown = self._at(values["number"]).sample
        gold = shown.prediction.gold if shown.score is None else shown.score.gold
        return {
            "question": [
                {"role": str(message["role"]), "text": text_of_message(message)} for message in shown.messages()
            ],
            "gold": None if gold is None else _text(gold),
            "answer": _text(shown.prediction.prediction),
        }

    def take(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Save the ``label`` of the answer with a ``number``, with its ``comment``; null takes a label back.

        Raises:
            ConfigError: there is no such number or label.
            StoreError: it cannot be saved.
        """
        answer = self._at(values.get("number"))
        label, comment = values.get("label"), values.get("comment")
        if not (label is None or isinstance(label, bool)):
            raise ConfigError(f"{label!r:.40} is no label", fix="send true, false or null")
        path, sample = self._file(answer), answer.sample.prediction.sample_id
        with self._saving:
            labels = read_label_file(path)
            labels.pop(sample, None)
            if label is not None:
                labels[sample] = Label(sample, label, str(comment or "").strip(), answer.selection)
            write_label_file(path, labels)
        return self._state()

    def _state(self) -> dict[str, Any]:
        files = {path: read_label_file(path) for path in {self._file(answer) for answer in self._answers}}
        own = [files[self._file(answer)].get(answer.sample.prediction.sample_id) for answer in self._answers]
        return {
            "labels": [None if one is None else one.label for one in own],
            "comments": ["" if one is None else one.comment for one in own],
            "agreement": self._agreement(),
        }

    def _agreement(self) -> dict[str, Any] | None:
        """Return how far people agree on all tasks together; None if no answer has two labels."""
        people: dict[str, dict[str, Label]] = {}
        for names in dict.fromkeys((answer.task.model, answer.task.dataset) for answer in self._answers):
            for person, labels in people_of(self._folder, *names).items():
                keyed = {f"{names} {sample}": one for sample, one in labels.items()}
                people.setdefault(person, {}).update(keyed)
        found = people_agree(people)
        return None if found is None else {"answers": found.answers, "equal": found.equal, "alpha": found.alpha}

    def _at(self, number: Any) -> AnswerToLabel:
        text = str(number)
        if not text.isdecimal() or int(text) >= len(self._answers):
            raise ConfigError(f"there is no answer {text:.20}", fix="open the page again")
        return self._answers[int(text)]

    def _file(self, answer: AnswerToLabel) -> Path:
        return labels_file(self._folder, answer.task.model, answer.task.dataset, self._name)


def _text(value: Any) -> str:
    """Return a text as it is; several as paragraphs; other values as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return "\n\n".join(map(_text, value))
    return json.dumps(value, ensure_ascii=False, default=str)
