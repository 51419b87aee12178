"""The answers of a task: those of earlier sessions and runs, and each new one as soon as it is there."""

from __future__ import annotations

from ais_prompt.models.base import Model
from ais_prompt.store.journal import Journal
from ais_prompt.store.request_keys import RequestKeys
from ais_prompt.types import Completion, Request


class Memory:
    """Finds answers by their requests.

    Args:
        journal: of the task; every answer gets into it, so that the run folder is complete by itself.
        model: whose answers they are.
        cache: answers of other runs, which new ones are added to; None without one.

    Attributes:
        from_cache: how many answers were taken out of the cache.
    """

    def __init__(self, journal: Journal, model: Model, cache: Journal | None = None) -> None:
        self.from_cache = 0
        self._journal = journal
        self._cache = cache
        self._key_of = RequestKeys(model.identity())
        # No request is made twice in one run, so what was empty at its beginning need not be looked up.
        self.has_answers = len(journal) > 0 or (cache is not None and len(cache) > 0)

    def recall(self, request: Request) -> Completion | None:
        """What was answered before; None if nothing was.

        Raises:
            StoreError: a journal cannot be read or written.
        """
        if not self.has_answers:
            return None
        key = self._key_of(request)
        answer = self._journal.get(key)
        if answer is None and self._cache is not None and (answer := self._cache.get(key)) is not None:
            self._journal.append(key, request, answer, findable=True)
            self.from_cache += 1
        return answer

    def record(self, request: Request, completion: Completion) -> None:
        """Write an answer or a failure down.

        Raises:
            StoreError: it cannot be written.
        """
        key = self._key_of(request)
        self._journal.append(key, request, completion)
        if self._cache is not None and completion.failure is None:
            self._cache.append(key, request, completion)
