"""The answers of a task: those of earlier sessions and runs, and each new one as soon as it is there."""

from __future__ import annotations

from ais_prompt.store.journal import Journal, JournalView
from ais_prompt.store.request_keys import FormerKeys, RequestKeys
from ais_prompt.types import Completion, Request


class Memory:
    """Finds answers by their requests.

    Args:
        journal: of the task; every answer gets into it, so that the run folder is complete by itself.
        key_of: makes the keys of the model's answers.
        cache: answers of other runs, which new ones are added to; None without one.
        former_keys: makes the keys of earlier versions; None if neither journal nor cache has any.
        of_shards: what other shards of the run have answered; it stays in their journals.

    Attributes:
        from_cache: how many answers were taken out of the cache.
    """

    def __init__(
        self,
        journal: Journal,
        key_of: RequestKeys,
        cache: Journal | None = None,
        former_keys: FormerKeys | None = None,
        of_shards: JournalView | None = None,
    ) -> None:
        self.from_cache = 0
        self._journal = journal
        self._cache = cache
        self._key_of = key_of
        self._former_keys = former_keys
        self._of_shards = of_shards
        # No request is made twice in one run, so what was empty at its beginning need not be looked up.
        self.has_answers = any(found is not None and len(found) > 0 for found in (journal, cache, of_shards))

    def recall(self, request: Request) -> Completion | None:
        """What was answered before; None if nothing was.

        Raises:
            StoreError: a journal cannot be read or written.
        """
        if not self.has_answers:
            return None
        key = self._key_of(request)
        answer = self._find(self._journal, key, request)
        if answer is None and self._of_shards is not None:
            answer = self._of_shards.answer(key)
        if answer is None and self._cache is not None and (answer := self._find(self._cache, key, request)) is not None:
            self._journal.append(key, request, answer, findable=True)
            self.from_cache += 1
        return answer

    def _find(self, answers: Journal, key: str, request: Request) -> Completion | None:
        """An answer of this version, or one of an earlier version, which is then written under its new key."""
        answer = answers.get(key)
        if answer is None and self._former_keys is not None and answers.has_former_keys:
            adopted = (answers.adopt(former, key, request) for former in self._former_keys(request))
            answer = next((found for found in adopted if found is not None), None)
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
