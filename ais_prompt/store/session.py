"""How a session of a run that did not come to its end is noted."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ais_prompt.errors import Interrupted, StoreError
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.run_record import RunRecord

logger = logging.getLogger(__name__)


@contextmanager
def recorded(record: RunRecord, folder: RunFolder) -> Iterator[None]:
    """Note in the record if the body is interrupted or fails; its end is for the body to note.

    Raises:
        Interrupted: in place of Ctrl-C.
    """
    try:
        yield
    except KeyboardInterrupt:
        record.finish("interrupted")
        raise Interrupted(
            "stopped; every answer so far is kept",
            where=str(folder.root),
            fix=f"give the same command again with -r {folder.root.name}",
        ) from None
    except BaseException:
        logger.info("session broken off", exc_info=True)
        with suppress(StoreError):  # what is raised already says more
            record.finish("failed")
        raise
