"""What the user should know of a task: what became of its samples, and signs that its server ignored what was asked.

Answers that show signs (ignored options, unread tool calls) are whole and scored; only all of them together show it.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, get_args

from ais_prompt.engine.asked_rows import NO_VALUE
from ais_prompt.engine.meters import Progress
from ais_prompt.errors import AisPromptError, DataError, PartError
from ais_prompt.inferencers import RAISED, RETRY_HINT, UNUSABLE_ROW, OffersTools
from ais_prompt.models import unknown_opening
from ais_prompt.plan import Task
from ais_prompt.postprocess import ToolFormat, read_calls
from ais_prompt.types import Completion, Decoding, Failure, Prediction, Request, prompt_to_json
from ais_prompt.utils import counted, digest

logger = logging.getLogger(__name__)

GAPS_NAMED: Final = 5
"""Most rows that cannot be asked that are named while a task runs; the predictions name all."""
PILOT: Final = 20
MOST_CUT: Final = 0.05
"""Of the first so many answers, the share of truncated ones from which on the task warns."""
_LONG_TASK: Final = 10 * PILOT
"""Samples of a task from which on that warning comes in time."""


class TaskSession:
    """Counts the samples of a task that are over.

    Attributes:
        samples: how many are over.
        failed, shortened: samples without an answer, and with fewer examples than were retrieved.
        redacted: samples whose answers repeat a secret.
        raised, first_raised: samples that failed because a part raised, and the failure of the first.
        unusable, first_unusable: samples that failed because their rows cannot be asked, and the failure of the first.
        progress: shows what the user should know; None before the task is shown, when no sample has failed.
    """

    def __init__(self, task: Task) -> None:
        self.samples = 0
        self.failed = 0
        self.shortened = 0
        self.redacted = 0
        self.raised = 0
        self.first_raised: Failure | None = None
        self.unusable = 0
        self.first_unusable: Failure | None = None
        self._gaps = 0
        self._seen = 0
        self._cut = 0
        self._task = task
        self.progress: Progress | None = None
        self._signs = Signs(task)

    def add(self, prediction: Prediction) -> None:
        """Count a sample that is over."""
        self.samples += 1
        if prediction.failed:
            self.failed += 1
            self._note_failures(prediction)
        self.redacted += any(completion.redacted for completion in prediction.completions)
        self.shortened += prediction.shots_used < self._task.shots_retrieved(prediction.index)

    def see(self, request: Request, completion: Completion) -> None:
        """Count a generated answer, and warn after the first answers if many are truncated."""
        self._signs.see(request, completion)
        if completion.failure is not None or not isinstance(request.decoding, Decoding) or self._seen == PILOT:
            return
        self._seen += 1
        self._cut += completion.truncated
        if self._seen < PILOT or self._cut <= MOST_CUT * PILOT:
            return
        if (self._task.dataset.size or _LONG_TASK) >= _LONG_TASK:  # the end of a short task says so too
            self._note(
                f"[{self._task.name}] {self._cut} of the first {PILOT} answers were cut at "
                f"max_out_len={request.decoding.max_out_len}; set a larger max_out_len, or ask the truncated ones "
                "again after the run: -r --retry-truncated max_out_len=N"
            )

    def tell_end(self) -> None:
        """Tell the user about a task whose last conversation is over.

        Raises:
            PartError: a part raised for every sample.
            DataError: no row can be asked.
        """
        name = self._task.name
        if self.redacted:
            self._note(
                f"[{name}] the answers to {self.redacted} samples repeat a secret; it is stored and scored as ***, and "
                "`redacted` in the predictions says where"
            )
        for note in self._signs.notes():
            self._note(f"[{name}] {note}")
        self._tell_raised()
        if self.first_unusable and self.unusable == self.samples:
            raise DataError(self.first_unusable.message, where=self.first_unusable.where, fix=RETRY_HINT)
        if self.shortened:
            self._note(
                f"[{name}] {self.shortened} of {self.samples} prompts show fewer examples than retrieved, to keep to "
                f"max_seq_len={self._task.model.max_seq_len}; shots_used in the predictions says how many"
            )

    def _note(self, text: str) -> None:
        assert self.progress is not None  # the task is shown
        self.progress.note(text)

    def _tell_raised(self) -> None:
        """Warn of samples that failed because a part raised.

        Raises:
            PartError: all of them did.
        """
        if self.first_raised is None:
            return
        error = PartError(self.first_raised.message, where=self.first_raised.where, fix=RETRY_HINT)
        if self.raised == self.samples:
            raise error
        what = f"{self.raised} of {self.samples} samples failed because a part raised; the first:"
        logger.warning("[%s] %s\n  %s", self._task.name, what, "\n  ".join(error.lines()))

    def _note_failures(self, prediction: Prediction) -> None:
        """Name the first rows that cannot be asked, and count the samples for which a part raised."""
        failures = [completion.failure for completion in prediction.completions if completion.failure]
        if failures[0].kind in (NO_VALUE, UNUSABLE_ROW) and self._gaps < GAPS_NAMED:
            self._gaps += 1
            self._note(f"not asked: {failures[0].message}")
        if failures[0].kind == UNUSABLE_ROW:
            self.unusable += 1
            self.first_unusable = self.first_unusable or failures[0]
        if raised := next((failure for failure in failures if failure.kind == RAISED), None):
            self.raised += 1
            self.first_raised = self.first_raised or raised


FEWEST: Final = 5
"""Answers that must show a sign."""
MOST_SHARE: Final = 0.5
"""The share of the answers that must show it."""
OPENINGS_NAMED: Final = 3
"""Most tags of thoughts that are named."""
LONG: Final = 20
"""Characters of an answer that is not the same by chance at a temperature."""
MOST_KEPT: Final = 100
"""Prompts whose repeats are compared, at most."""


class Signs:
    """Looks at the generated answers of a task.

    Args:
        task: the task.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        inferencer = task.dataset.inferencer
        self._reads_calls = isinstance(inferencer, OffersTools) and inferencer.parser is None
        self._with_tools = 0
        self._written: dict[ToolFormat, int] = dict.fromkeys(get_args(ToolFormat), 0)
        self._with_format = 0
        self._no_json = 0
        self._must_call = 0
        self._no_call = 0
        self._temperature = 0.0
        self._texts: dict[str, str] = {}  # prompt → its first answer
        self._repeats = 0
        self._equal = 0
        self._counted: list[tuple[Request, int]] = []
        self._leaves_thoughts = getattr(task.model, "think_tags", ()) is None
        self._openings: Counter[str] = Counter()
        self._effort: Any = None  # of the last request that has one
        self._with_effort = 0
        self._thoughts = 0
        self._stopped = 0
        self._stops: tuple[str, ...] = ()

    def see(self, request: Request, completion: Completion) -> None:
        """Look at one answer."""
        decoding = request.decoding
        if completion.failure is not None or not isinstance(decoding, Decoding):
            return
        if self._reads_calls and decoding.extra.get("tools"):
            self._see_calls(completion)
        self._see_thoughts(completion, decoding)
        if (effort := decoding.extra.get("reasoning_effort")) is not None:
            self._effort = effort
            self._with_effort += 1
            self._thoughts += bool(completion.reasoning or completion.usage.reasoning_tokens)
        if decoding.extra.get("tool_choice", "auto") not in ("auto", "none") and not completion.truncated:
            self._must_call += 1
            self._no_call += not (completion.tool_calls or self._written_forms(completion.text))
        form = decoding.extra.get("response_format")
        if isinstance(form, dict) and str(form.get("type")).startswith("json") and not completion.truncated:
            self._with_format += 1
            self._no_json += not _is_json(completion.text)
        if decoding.temperature:
            self._see_repeat(request, completion, decoding.temperature)
        if completion.usage.prompt_tokens is not None and len(self._counted) < FEWEST:
            self._counted.append((request, completion.usage.prompt_tokens))

    def notes(self) -> Iterator[str]:
        """Yield what the user should know, a sentence each."""
        for opening, count in self._openings.most_common(OPENINGS_NAMED):
            yield (
                f"{counted(count, 'answer')} with thoughts, scored with them: the text begins with {opening!r}; set "
                "think_tags=(opening, closing) of the model, or the parser of the server (None leaves thoughts in)"
            )
        if self._stopped:
            yield (
                f"{counted(self._stopped, 'answer')} ended inside of a thought, probably at a stop text of "
                f"stopping_criteria {list(self._stops)}: this server applies stop texts to thoughts too. Leave "
                "stopping_criteria out, and let the postprocessor find the end of the answer"
            )
        form = max(self._written, key=self._written.__getitem__)
        if _is_sign(self._written[form], self._with_tools):
            yield (
                f"{self._written[form]} of {self._with_tools} answers have tool calls in their text, which the server "
                f"did not read: set parser={form!r} in the inferencer, or the parser of the server"
            )
        if _is_sign(self._no_json, self._with_format):
            yield (
                f"{self._no_json} of {self._with_format} complete answers are no JSON: the server ignores "
                "response_format; use a server that has it, or describe the form in the prompt"
            )
        if self._no_call > MOST_SHARE * self._must_call:  # a server that has it lets no answer be without a call
            yield (
                f"{self._no_call} of {self._must_call} answers call no tool, though tool_choice demands one: the "
                "server ignores tool_choice, or the tools; use a server that has them"
            )
        thinks = self._effort not in ("none", "minimal", "low", 0)  # with little effort a model may not think
        if self._with_effort >= FEWEST and thinks and not self._thoughts:
            yield (
                f"none of {self._with_effort} answers has thoughts, though reasoning_effort={self._effort!r}: the "
                "server may ignore it, or not show thoughts; see its documentation, and set chat_template_kwargs"
            )
        if self._effort in ("none", 0) and _is_sign(self._thoughts, self._with_effort):
            yield (
                f"{self._thoughts} of {self._with_effort} answers have thoughts, though reasoning_effort="
                f"{self._effort!r}: the server ignores it; set chat_template_kwargs=dict(enable_thinking=False)"
            )
        if self._repeats >= FEWEST and self._equal == self._repeats:
            yield (
                f"all {self._repeats} repeated answers equal the first answer to their prompt, at temperature "
                f"{self._temperature:g}: the server may ignore the temperature, or cache answers"
            )
        if self._has_second_bos():
            yield (
                "the server counts one token more than the tokenizer for each prompt: it may put a second BOS in "
                "front; compare with `aisprompt view-prompt --tokens`"
            )

    def _see_thoughts(self, completion: Completion, decoding: Decoding) -> None:
        if not self._leaves_thoughts and (opening := unknown_opening(completion.text)):
            self._openings[opening] += 1
        # Where the server separates thoughts, it does not say whether they ended.
        is_open = completion.unclosed or bool(completion.reasoning and not (completion.text or completion.tool_calls))
        if is_open and decoding.stop and completion.finish_reason == "stop":
            self._stopped += 1
            self._stops = decoding.stop

    def _see_calls(self, completion: Completion) -> None:
        self._with_tools += 1
        for form in () if completion.tool_calls else self._written_forms(completion.text):
            self._written[form] += 1

    def _written_forms(self, text: str) -> list[ToolFormat]:
        return [form for form in self._written if read_calls(text, form)]

    def _see_repeat(self, request: Request, completion: Completion, temperature: float) -> None:
        key = digest({"prompt": prompt_to_json(request.prompt), "duplicate": request.duplicate})
        if key not in self._texts and len(self._texts) < MOST_KEPT:
            self._texts[key] = completion.text
        elif key in self._texts and len(completion.text) >= LONG:
            self._temperature = temperature
            self._repeats += 1
            self._equal += self._texts[key] == completion.text

    def _has_second_bos(self) -> bool:
        """Return whether the server counts exactly one token more for every prompt.

        The tokenizer is asked only where it is loaded already, to keep to ``max_seq_len``.
        """
        model = self._task.model
        if model.max_seq_len is None:
            return False
        try:
            own = [model.count_tokens(request.prompt) for request, _ in self._counted]
        except AisPromptError:
            return False
        pairs = list(zip(own, self._counted, strict=True))
        return len(pairs) == FEWEST and all(ours is not None and tokens == ours + 1 for ours, (_, tokens) in pairs)


def _is_sign(count: int, of: int) -> bool:
    return count >= FEWEST and count > MOST_SHARE * of


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
