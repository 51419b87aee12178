"""Failures that end a task, or all tasks of a model, an address or a run; and what the user should know of a task.

`FailureWatch` gives up a model that cannot be used. The functions below it tell the errors of one task from those of
all. `TaskSession` counts what became of the samples of a task, and its `Signs` show that the server ignored what was
asked: such answers (ignored options, unread tool calls) are whole and scored; only all of them together show it.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, get_args

from ais_prompt.engine.conversations import NO_VALUE
from ais_prompt.engine.meters import Progress
from ais_prompt.errors import (
    AisPromptError,
    DataError,
    InternalError,
    ModelError,
    PartError,
    ReadError,
    Refusal,
    StoreError,
)
from ais_prompt.inferencers import RAISED, RETRY_HINT, UNUSABLE_ROW, OffersTools
from ais_prompt.models import unknown_opening
from ais_prompt.parts import exception_line, last_line_in
from ais_prompt.plan import Task
from ais_prompt.postprocess import ToolFormat, read_calls
from ais_prompt.store import system_error
from ais_prompt.types import Completion, Decoding, Failure, Prediction, Request, ServerFailure, prompt_to_json
from ais_prompt.utils import counted, digest

logger = logging.getLogger(__name__)

MAX_SAME_FAILURES: Final = 10
"""Failures of one kind, with no answer before them, after which a model is given up."""
MAX_REFUSALS: Final = 100
"""The same for requests that a model refuses: the cause may be the prompts of the first samples."""

UNREACHABLE: Final = "unreachable"
_OF_ONE_PROMPT: Final = {"too_long", "content_filter", "empty_prompt", "no_tokens"}
"""Kinds of failures that say nothing about other prompts."""
_OF_ONE_TASK: Final = {"long_choice", "cannot_score"}
"""Kinds of fatal failures whose cause is the dataset: the model may answer the questions of others."""
_REFUSALS: Final = {"http_400", "http_415", "http_422", "out_of_memory", "generation", "scoring"}
"""Kinds of failures whose cause is the prompt or the config; the message says which, in no common form."""


class FailureWatch:
    """Watches the completions of a task, and gives the model up when asking on makes no sense.

    Args:
        has_answered: whether the model has answered earlier requests of the task, so that it is known to be usable.
    """

    def __init__(self, *, has_answered: bool) -> None:
        self._has_answered = has_answered
        self._answered = False
        self._of_one_prompt = 0
        self._failures: list[str] = []
        self._last: Failure | None = None

    def check(self, completion: Completion) -> None:
        """Take the next completion into account.

        Raises:
            ModelError: every request would fail, or all have failed in the same way.
        """
        failure = completion.failure
        # Usable: whatever fails from now on is a matter of single samples, or of an outage.
        if failure is None:
            self._answered = True
            return
        # Says nothing about other prompts.
        if failure.kind in _OF_ONE_PROMPT:
            self._of_one_prompt += 1
            return
        self._failures.append(failure.kind)
        self._last = failure
        # Not there: it was tried again for a while already.
        if failure.kind == UNREACHABLE:
            self.conclude()
        # Unusable: a wrong key, no such model.
        if failure.fatal:
            what = f"every request would fail: {failure.kind}: {failure.message}"
            raise ModelError(what, where=failure.where, fix=RETRY_HINT, refusal=_refusal_of(failure))
        # In doubt: refused from the first request on, perhaps because of the prompts, of which others are tried first.
        if len(self._failures) >= (MAX_REFUSALS if _is_refusal(failure) else MAX_SAME_FAILURES):
            self.conclude()

    @property
    def in_doubt(self) -> bool:
        """Whether the model has answered nothing, and refused so much that prompts of other samples should be tried."""
        refused = self._last is not None and _is_refusal(self._last)
        return refused and not self._answered and len(self._failures) >= MAX_SAME_FAILURES

    def conclude(self) -> None:
        """Give the model up if it has failed in one way only, and never answered.

        Earlier answers speak for the model, and against the samples that are left; but not for a server that is down.
        Failures that belong to one prompt, such as an overlong prompt, say nothing about the model.

        Raises:
            ModelError: it is given up.
        """
        kinds, count = set(self._failures), len(self._failures)
        usable = self._answered or (self._has_answered and kinds != {UNREACHABLE})
        if self._last is not None and not usable and len(kinds) == 1:
            other = "other " if self._of_one_prompt else ""
            only = "first" if self._last.kind == UNREACHABLE else "only"  # others may be under way
            number = f"the {only} {other}request" if count == 1 else f"all {count} {other}requests so far"
            what = f"{number} failed: {self._last.kind}: {self._last.message}"
            raise ModelError(what, where=self._last.where, fix=RETRY_HINT, refusal=_refusal_of(self._last))


def is_of_model(failure: Failure) -> bool:
    """Return whether a failure that ended a task would end each task of its model: a wrong key, no such model."""
    return (failure.fatal and failure.kind not in _OF_ONE_TASK) or failure.kind == UNREACHABLE


def is_of_endpoint(failure: Failure) -> bool:
    """Return whether a failure says the same of all models that are asked at an address with one key."""
    return failure.kind in ("http_401", UNREACHABLE)


def _refusal_of(failure: Failure) -> Refusal | None:
    """Return what a server says to every request, or why it is not reached; None for other failures."""
    if not isinstance(failure, ServerFailure):
        return None
    if failure.kind == UNREACHABLE:
        return Refusal("", failure.words, failure.address, failure.hint)
    kind, _, status = failure.kind.partition("_")
    return Refusal(status, failure.words, failure.address, failure.hint) if kind == "http" and failure.fatal else None


def _is_refusal(failure: Failure) -> bool:
    return failure.kind in _REFUSALS or failure.kind.startswith("response_")


def ends_run(error: BaseException) -> bool:
    """Return whether an error ends all tasks: a full disk is full for every task."""
    return isinstance(error, StoreError) and not isinstance(error, ReadError)


def fault_of(action: Callable[[], None]) -> AisPromptError | None:
    """Do something for a job, and return the error that ends it; raise an error that ends all jobs."""
    try:
        action()
    except Exception as error:
        if ends_run(error):
            raise
        return error_of(error)
    return None


def error_of(error: BaseException) -> AisPromptError:
    """Return the error that a task ends with: the raised error, or an `InternalError` for an unforeseen exception."""
    if isinstance(error, AisPromptError):
        return error
    if refused := system_error(error):
        return refused
    logger.info("unforeseen", exc_info=error)
    return InternalError(
        f"unexpected {exception_line(error)}",
        where=last_line_in(error, lambda _: True),
        fix="this is a bug of aisprompt; logs/run.log has the traceback",
    )


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
        progress: shows the task and what the user should know; None before the task is shown, when only samples that
            are answered already are counted, none of which has failed.
    """

    def __init__(self, task: Task) -> None:
        self.samples = 0
        self.failed = 0
        self.shortened = 0
        self.redacted = 0
        self._gaps = 0
        self._of_kind: Counter[str] = Counter()  # samples that failed because a part raised, or the row cannot be asked
        self._first: dict[str, Failure] = {}  # of each of these two kinds
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
        self.shortened += prediction.shots_used < len(self._task.dataset.shot_ids[prediction.index])
        if self.progress is not None:
            self.progress.advance(failed=prediction.failed)

    def see(self, request: Request, completion: Completion) -> None:
        """Count an answer, and warn after the first generated answers if many are truncated."""
        assert self.progress is not None  # the task is shown
        self.progress.answered(completion)
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
        if raised := self._first.get(RAISED):
            error = PartError(raised.message, where=raised.where, fix=RETRY_HINT)
            if self._of_kind[RAISED] == self.samples:
                raise error
            what = f"{self._of_kind[RAISED]} of {self.samples} samples failed because a part raised; the first:"
            logger.warning("[%s] %s\n  %s", name, what, "\n  ".join(error.lines()))
        if (unusable := self._first.get(UNUSABLE_ROW)) and self._of_kind[UNUSABLE_ROW] == self.samples:
            raise DataError(unusable.message, where=unusable.where, fix=RETRY_HINT)
        if self.shortened:
            self._note(
                f"[{name}] {self.shortened} of {self.samples} prompts show fewer examples than retrieved, to keep to "
                f"max_seq_len={self._task.model.max_seq_len}; shots_used in the predictions says how many"
            )

    def _note(self, text: str) -> None:
        assert self.progress is not None  # the task is shown
        self.progress.note(text)

    def _note_failures(self, prediction: Prediction) -> None:
        """Name the first rows that cannot be asked, and count the samples for which a part raised."""
        failures = [completion.failure for completion in prediction.completions if completion.failure]
        if failures[0].kind in (NO_VALUE, UNUSABLE_ROW) and self._gaps < GAPS_NAMED:
            self._gaps += 1
            self._note(f"not asked: {failures[0].message}")
        unusable = failures[0] if failures[0].kind == UNUSABLE_ROW else None
        for failure in filter(None, (unusable, next((one for one in failures if one.kind == RAISED), None))):
            self._of_kind[failure.kind] += 1
            self._first.setdefault(failure.kind, failure)


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
        self._leaves_thoughts = getattr(task.model, "think_tags", ()) is None
        self._counts: Counter[str] = Counter()  # answers with an option, and those that show its sign
        self._written: dict[ToolFormat, int] = dict.fromkeys(get_args(ToolFormat), 0)
        self._openings: Counter[str] = Counter()
        self._stops: tuple[str, ...] = ()
        self._effort: Any = None  # of the last request that has one
        self._temperature = 0.0
        self._texts: dict[str, str] = {}  # prompt → its first answer
        self._measured: list[tuple[Request, int]] = []

    def see(self, request: Request, completion: Completion) -> None:
        """Look at one answer."""
        decoding = request.decoding
        if completion.failure is not None or not isinstance(decoding, Decoding):
            return
        counts, extra = self._counts, decoding.extra
        if self._reads_calls and extra.get("tools"):
            counts["tools"] += 1
            for written in () if completion.tool_calls else self._written_forms(completion.text):
                self._written[written] += 1
        self._see_thoughts(completion, decoding)
        if (effort := extra.get("reasoning_effort")) is not None:
            self._effort = effort
            counts["effort"] += 1
            counts["thoughts"] += bool(completion.reasoning or completion.usage.reasoning_tokens)
        if extra.get("tool_choice", "auto") not in ("auto", "none") and not completion.truncated:
            counts["must call"] += 1
            counts["no call"] += not (completion.tool_calls or self._written_forms(completion.text))
        form = extra.get("response_format")
        if isinstance(form, dict) and str(form.get("type")).startswith("json") and not completion.truncated:
            counts["format"] += 1
            try:
                json.loads(completion.text)
            except (ValueError, RecursionError):
                counts["no JSON"] += 1
        if decoding.temperature:
            self._see_repeat(request, completion, decoding.temperature)
        if completion.usage.prompt_tokens is not None and len(self._measured) < FEWEST:
            self._measured.append((request, completion.usage.prompt_tokens))

    def notes(self) -> Iterator[str]:
        """Yield what the user should know, a sentence each."""
        counts = self._counts
        for opening, count in self._openings.most_common(OPENINGS_NAMED):
            yield (
                f"{counted(count, 'answer')} with thoughts, scored with them: the text begins with {opening!r}; set "
                "think_tags=(opening, closing) of the model, or the parser of the server (None leaves thoughts in)"
            )
        if counts["stopped"]:
            yield (
                f"{counted(counts['stopped'], 'answer')} ended inside of a thought, probably at a stop text of "
                f"stopping_criteria {list(self._stops)}: this server applies stop texts to thoughts too. Leave "
                "stopping_criteria out, and let the postprocessor find the end of the answer"
            )
        form = max(self._written, key=self._written.__getitem__)
        if _is_sign(self._written[form], counts["tools"]):
            yield (
                f"{self._written[form]} of {counts['tools']} answers have tool calls in their text, which the server "
                f"did not read: set parser={form!r} in the inferencer, or the parser of the server"
            )
        if _is_sign(counts["no JSON"], counts["format"]):
            yield (
                f"{counts['no JSON']} of {counts['format']} complete answers are no JSON: the server ignores "
                "response_format; use a server that has it, or describe the form in the prompt"
            )
        # A server that has tool_choice lets no answer be without a call.
        if counts["no call"] > MOST_SHARE * counts["must call"]:
            yield (
                f"{counts['no call']} of {counts['must call']} answers call no tool, though tool_choice demands one: "
                "the server ignores tool_choice, or the tools; use a server that has them"
            )
        thinks = self._effort not in ("none", "minimal", "low", 0)  # with little effort a model may not think
        if counts["effort"] >= FEWEST and thinks and not counts["thoughts"]:
            yield (
                f"none of {counts['effort']} answers has thoughts, though reasoning_effort={self._effort!r}: the "
                "server may ignore it, or not show thoughts; see its documentation, and set chat_template_kwargs"
            )
        if self._effort in ("none", 0) and _is_sign(counts["thoughts"], counts["effort"]):
            yield (
                f"{counts['thoughts']} of {counts['effort']} answers have thoughts, though reasoning_effort="
                f"{self._effort!r}: the server ignores it; set chat_template_kwargs=dict(enable_thinking=False)"
            )
        if counts["repeats"] >= FEWEST and counts["equal"] == counts["repeats"]:
            yield (
                f"all {counts['repeats']} repeated answers equal the first answer to their prompt, at temperature "
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
            self._counts["stopped"] += 1
            self._stops = decoding.stop

    def _written_forms(self, text: str) -> list[ToolFormat]:
        return [form for form in self._written if read_calls(text, form)]

    def _see_repeat(self, request: Request, completion: Completion, temperature: float) -> None:
        key = digest({"prompt": prompt_to_json(request.prompt), "duplicate": request.duplicate})
        if key not in self._texts and len(self._texts) < MOST_KEPT:
            self._texts[key] = completion.text
        elif key in self._texts and len(completion.text) >= LONG:
            self._temperature = temperature
            self._counts["repeats"] += 1
            self._counts["equal"] += self._texts[key] == completion.text

    def _has_second_bos(self) -> bool:
        """Return whether the server counts exactly one token more for every prompt.

        The tokenizer is asked only where it is loaded already, to keep to ``max_seq_len``.
        """
        model = self._task.model
        if model.max_seq_len is None:
            return False
        try:
            own = [model.count_tokens(request.prompt) for request, _ in self._measured]
        except AisPromptError:
            return False
        pairs = list(zip(own, self._measured, strict=True))
        return len(pairs) == FEWEST and all(ours is not None and tokens == ours + 1 for ours, (_, tokens) in pairs)


def _is_sign(count: int, of: int) -> bool:
    return count >= FEWEST and count > MOST_SHARE * of
