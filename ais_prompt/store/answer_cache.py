"""The cache of answers across runs: a folder of journals with the same keys, a journal for each model and dataset.

An answer is used only for the same model, prompt and settings. Tasks of this process share a journal while they run;
other processes go without it meanwhile.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from ais_prompt.store.disk import writing
from ais_prompt.store.journal import Journal
from ais_prompt.store.layout import safe_name, try_file_lock
from ais_prompt.types import Completion, Request
from ais_prompt.utils import digest

logger = logging.getLogger(__name__)


class _SharedJournal(Struct, eq=False):
    """A journal that is open for several tasks."""

    journal: Journal
    files: ExitStack
    tasks: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class AnswerCache:
    """What a task finds in the cache. It may be used by any thread.

    Args:
        journals: that of the task, to which new answers are added; then those of tasks that may ask the same.

    Attributes:
        has_former_keys: whether the journal of the task had answers of an earlier version when it was opened.
    """

    def __init__(self, journals: Sequence[_SharedJournal]) -> None:
        self._own, self._others = journals[0], journals[1:]
        self.has_former_keys = self._own.journal.has_former_keys

    def __len__(self) -> int:
        """Return the number of answers in the journal of the task, and in the others."""
        count = 0
        for shared in (self._own, *self._others):
            with shared.lock:
                count += len(shared.journal)
        return count

    def get(self, key: str, request: Request) -> Completion | None:
        """As `Journal.get`. The answer to another task is kept in the journal of this task, too."""
        with self._own.lock:
            found = self._own.journal.get(key)
        for shared in self._others:
            if found is None:
                with shared.lock:
                    found = shared.journal.get(key)
                if found is not None:
                    self.append(key, request, found)
        return found

    def adopt(self, former: str, key: str, request: Request) -> Completion | None:
        """As `Journal.adopt`."""
        with self._own.lock:
            return self._own.journal.adopt(former, key, request)

    def append(self, key: str, request: Request, completion: Completion) -> None:
        """As `Journal.append`; other tasks find the answer at once."""
        with self._own.lock:
            self._own.journal.append(key, request, completion, findable=True)


@contextmanager
def open_cache(
    folder: Path | None, identity: Mapping[str, Any], name: str, others: Sequence[str] = ()
) -> Iterator[AnswerCache | None]:
    """Open the cached answers of a model.

    Args:
        folder: of the cache; created if needed. None for no cache.
        identity: of the model.
        name: of the dataset, or of another source of requests.
        others: names of tasks of the run that may ask the same.

    Yields:
        The answers, to read and to write; None without a folder, or if another run uses them, which is logged.

    Raises:
        StoreError: a file cannot be read or written.
    """
    if folder is None:
        yield None
        return
    with ExitStack() as opened:
        paths = [folder / f"{safe_name(one)}-{digest(identity, 12)}.jsonl" for one in (name, *others)]
        found = [opened.enter_context(_shared(path.absolute())) for path in paths]
        if found[0] is None:
            logger.warning("another run uses the cache %s: this one goes without it", paths[0])
            yield None
        else:
            yield AnswerCache([shared for shared in found if shared is not None])


@contextmanager
def _shared(path: Path) -> Iterator[_SharedJournal | None]:
    """Open a journal, or share it with the tasks of this process that use it; None if another process uses it."""
    with _OPENING:
        shared = _SHARED.get(path)
        if shared is None and (shared := _opened(path)) is not None:
            _SHARED[path] = shared
        if shared is not None:
            shared.tasks += 1
    try:
        yield shared
    finally:
        if shared is not None:
            with _OPENING:
                shared.tasks -= 1
                if not shared.tasks:
                    del _SHARED[path]
                    shared.files.close()


def _opened(path: Path) -> _SharedJournal | None:
    with ExitStack() as files:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if not files.enter_context(try_file_lock(path.with_suffix(".lock"))):
                return None
        journal = files.enter_context(Journal.open(path))
        return _SharedJournal(journal, files.pop_all())


_OPENING: Final = threading.Lock()
_SHARED: Final[dict[Path, _SharedJournal]] = {}
"""File of a cache → its journal, as long as a task of this process uses it."""
