"""A scored run as exporters read it: its tasks, their scores, and their samples one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from ais_prompt.errors import DataError, StoreError
from ais_prompt.plan import stored_spec
from ais_prompt.store import BROKEN_FIX, RunFolder, read_details, read_predictions, read_run_file, read_scores
from ais_prompt.types import ChatMessage, Prediction, SampleScore, Score, TaskFacts, TaskSpec, prompt_to_json

_SCORE_AGAIN = "score the run again: aisprompt score RUN"


class StoredSample(Struct, frozen=True):
    """One sample of a task.

    Attributes:
        prediction: what was asked and answered.
        score: how the answer was scored; None if the task was not scored.
    """

    prediction: Prediction
    score: SampleScore | None

    @property
    def status(self) -> str:
        """One of the four states, or an empty text if the task was not scored."""
        if self.score is not None:
            return self.score.status
        return "failed" if self.prediction.failed else ""

    @property
    def failure(self) -> str:
        """``kind: message`` of the first failure; empty if there is none."""
        found = next((one.failure for one in self.prediction.completions if one.failure), None)
        return f"{found.kind}: {found.message}" if found else ""

    def messages(self) -> list[dict[str, Any]]:
        """Return the last prompt as messages in OpenAI form; a text is what the user says."""
        prompt: Any = self.prediction.origin_prompt
        while isinstance(prompt, tuple) and prompt and not isinstance(prompt[0], ChatMessage):
            prompt = prompt[-1]
        found = prompt_to_json((ChatMessage("user", prompt),) if isinstance(prompt, str) else prompt)
        assert isinstance(found, list)
        return found

    def question(self) -> str:
        """Return the texts of the last prompt as one text."""
        return "\n".join(text_of_content(message["content"]) for message in self.messages())


class StoredTask(Struct, frozen=True):
    """One model on one dataset, with its results.

    Attributes:
        spec: the task in the config of the run.
        facts: what ``run.json`` says of it.
        scores: the main one first; empty if it was not scored.
        folder: the run folder.
    """

    spec: TaskSpec
    facts: TaskFacts
    scores: tuple[Score, ...]
    folder: RunFolder

    @property
    def model(self) -> str:
        """The ``abbr`` of the model."""
        return self.spec.model.abbr

    @property
    def dataset(self) -> str:
        """The ``abbr`` of the dataset."""
        return self.spec.dataset.abbr

    @property
    def model_name(self) -> str:
        """The name of the model as its server or the hub knows it, else its ``abbr``."""
        args = self.spec.model.part.args
        return str(self.facts.model.get("model") or args.get("model") or args.get("path") or self.model)

    def samples(self) -> Iterator[StoredSample]:
        """Yield the samples in their order.

        Raises:
            StoreError, DataError: a file cannot be read, or is broken.
        """
        return read_samples(self.spec, self.folder)


class StoredResults(Struct, frozen=True):
    """A run folder that was opened for an export.

    Attributes:
        folder: the run folder.
        record: its ``run.json``.
        tasks: the tasks that have predictions, in order.
    """

    folder: RunFolder
    record: Mapping[str, Any]
    tasks: tuple[StoredTask, ...]

    @property
    def started(self) -> datetime:
        """When the run began."""
        return datetime.fromisoformat(self.record["sessions"][0]["started"])

    @property
    def ended(self) -> datetime:
        """When its last session ended; when it began, if no session did."""
        ends = [session["ended"] for session in self.record["sessions"] if session.get("ended")]
        return datetime.fromisoformat(ends[-1]) if ends else self.started

    @property
    def version(self) -> str:
        """The version of this program that made the run."""
        return str(self.record.get("versions", {}).get("ais-prompt", "unknown"))


def read_stored_results(folder: RunFolder) -> StoredResults:
    """Open a run folder for an export. Scores are read, predictions are not yet.

    Raises:
        ConfigError: its config has faults.
        StoreError: a file is missing or broken, or no task has predictions.
    """
    record = read_run_file(folder)
    spec = stored_spec(folder)
    facts = {name: TaskFacts.from_json(values) for name, values in record.get("tasks", {}).items()}
    tasks = []
    for task in spec.tasks:
        names = task.model.abbr, task.dataset.abbr
        if folder.predictions(*names).exists():
            results = folder.results(*names)
            scores = tuple(read_scores(results)) if results.exists() else ()
            tasks.append(StoredTask(task, facts.get(task.name, TaskFacts()), scores, folder))
    if not tasks or not record.get("sessions"):
        fix = f"finish the run: aisprompt run CONFIG -r {folder.root.name}"
        raise StoreError("the run has no predictions yet", where=str(folder.root), fix=fix)
    return StoredResults(folder, record, tuple(tasks))


def read_samples(task: TaskSpec, folder: RunFolder) -> Iterator[StoredSample]:
    """Yield the samples of a task in their order; none if it has no predictions.

    Raises:
        StoreError, DataError: a file cannot be read, or is broken.
    """
    names = task.model.abbr, task.dataset.abbr
    path, results = folder.predictions(*names), folder.results(*names)
    if not path.exists():
        return
    try:
        scores = {detail.sample_id: detail for detail in read_details(results)} if results.exists() else {}
    except StoreError as error:
        error.fix = _SCORE_AGAIN
        raise
    seen = set[str]()
    for prediction in read_predictions(path):
        if prediction.sample_id in seen:
            raise DataError(f"two predictions have the id {prediction.sample_id!r}", where=str(path), fix=BROKEN_FIX)
        seen.add(prediction.sample_id)
        yield StoredSample(prediction, scores.get(prediction.sample_id))


def text_of_content(content: Any) -> str:
    """Return the text of a message's content; of parts, their texts."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", f"[{part.get('type')}]")) for part in content)
