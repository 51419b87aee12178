"""Take over what a judge said in a run of OpenCompass or AISBench, so that it is not asked again.

A reply belongs to the question with the same prompt. It becomes an answer in the journal of the judge, where scoring
finds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ais_prompt.engine import conversations_of
from ais_prompt.extensions.peers.old_run import OldRun
from ais_prompt.judges import JudgeQuestions
from ais_prompt.plan import Task
from ais_prompt.scoring import answers_to_judge
from ais_prompt.store import Journal, RequestKeys, RunFolder
from ais_prompt.types import Completion, Prompt


def keep_verdicts(task: Task, old: OldRun, names: tuple[str, str], folder: RunFolder) -> Iterator[str]:
    """Write the replies that lie in a run into the journals of the judges of a task.

    Args:
        task: whose predictions are in the folder already.
        old: the run.
        names: of the model and the dataset there.
        folder: the new run folder.

    Yields:
        A remark for each judge that has replies there.

    Raises:
        AisPromptError: the judge or its prompt cannot be made, or a file cannot be read.
    """
    for judge in task.dataset.judges:
        replies = {_known(prompt): reply for prompt, reply in old.verdicts(*names, judge.spec.abbr)}
        if not replies:
            continue
        judging = Task(judge, JudgeQuestions(task, lambda judged: answers_to_judge(judged, folder)))
        key_of = RequestKeys(judge.model.identity())
        path = folder.judge(task.spec.model.abbr).journal(judge.spec.abbr, task.spec.dataset.abbr)
        asked = kept = 0
        with Journal.open(path) as journal:
            for conversation in conversations_of(judging, lambda _: None, judging.data.test):
                for request in conversation.open_requests():
                    asked += 1
                    reply = replies.get(_known(request.prompt))
                    if reply is not None:
                        kept += 1
                        journal.append(key_of(request), request, Completion(reply, "unknown"))
        yield f"{judge.spec.abbr}: {kept} of {asked} questions are answered in the run, and are not asked again"


def _known(prompt: Prompt | Any) -> str:
    """Return the text of a prompt in one form for both programs: without roles and blanks."""
    return re.sub(r"\s+", "", "".join(_texts(prompt)))


def _texts(prompt: Any) -> Iterator[str]:
    if isinstance(prompt, str):
        yield prompt
    elif isinstance(prompt, Mapping):
        yield from _texts(prompt.get("content", prompt.get("prompt")) or "")
    elif isinstance(prompt, list | tuple):
        for one in prompt:
            yield from _texts(one)
    elif prompt is not None:
        yield from _texts(getattr(prompt, "content", ""))
