"""The cache of answers across runs: a folder of journals, one for each model and dataset.

The keys are those of the journal of a run, so an answer is used only for the same model, prompt and settings.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ais_prompt.store.disk import writing
from ais_prompt.store.journal import Journal
from ais_prompt.store.layout import safe_name
from ais_prompt.store.writer_lock import try_file_lock
from ais_prompt.utils.digest import digest

logger = logging.getLogger(__name__)


@contextmanager
def open_cache(folder: Path | None, identity: Mapping[str, Any], name: str) -> Iterator[Journal | None]:
    """Open the cached answers of a model.

    Args:
        folder: of the cache; created if needed. None for no cache.
        identity: of the model.
        name: of what is asked, such as the dataset.

    Yields:
        A journal to read and to write; None without a folder, or if another run uses it, which is logged.

    Raises:
        StoreError: it cannot be read or written.
    """
    if folder is None:
        yield None
        return
    path = folder / f"{safe_name(name)}-{digest(identity, 12)}.jsonl"
    with ExitStack() as stack:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            is_ours = stack.enter_context(try_file_lock(path.with_suffix(".lock")))
        if not is_ours:
            logger.warning("another run uses the cache %s: this one goes without it", path)
            yield None
            return
        with Journal.open(path) as journal:
            yield journal
