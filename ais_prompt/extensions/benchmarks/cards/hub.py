"""Fetch the files of a benchmark from the Hugging Face Hub, or from the mirror that ``HF_ENDPOINT`` names.

Files are data only: the Parquet files that the hub itself makes of every dataset, in the branch
``refs/convert/parquet`` (huggingface.co/docs/dataset-viewer/parquet). No code of a repository is downloaded or run.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from ais_prompt.config.cards import Card, data_root
from ais_prompt.errors import DataError
from ais_prompt.extensions.benchmarks.cards.sources import FoundFile, hub_patterns, match
from ais_prompt.utils.digest import file_digest
from ais_prompt.utils.hub import HUB, guard_hub
from ais_prompt.utils.packages import require
from ais_prompt.utils.progress import is_quiet
from ais_prompt.utils.text import listed

T = TypeVar("T")

CONVERTED: Final = "refs/convert/parquet"
"""The branch with Parquet files, one folder a configuration and split."""
OFFLINE: Final = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")


def fetch(card: Card, revision: str | None = None) -> tuple[str, list[FoundFile]]:
    """Download the files of a benchmark into a cache; what is there already is not downloaded again.

    Args:
        card: the benchmark.
        revision: the commit; None takes the newest of the branch of Parquet files.

    Returns:
        The commit, and the files.

    Raises:
        DataError: there is no connection or no such repository, its terms were not accepted, it has other files than
            the card says, or a file is not what the hub says it is.
        MissingExtra: `huggingface_hub` is not installed.
    """
    assert card.hub is not None
    hub = require("huggingface_hub", extra="hub", why="aisprompt data get")
    _refuse_offline(card)
    guard_hub()
    repo, endpoint = card.hub.repo, os.environ.get("HF_ENDPOINT") or HUB
    api = hub.HfApi(endpoint=endpoint)
    if revision is None:
        revision = str(_listed(card, lambda: api.dataset_info(repo, revision=CONVERTED)).sha)
    tree = _listed(card, lambda: list(api.list_repo_tree(repo, repo_type="dataset", revision=revision, recursive=True)))
    sizes = {entry.path: entry for entry in tree if hasattr(entry, "size")}
    matched = next(filter(None, (match(patterns, sizes) for patterns in hub_patterns(card.hub))), None)
    if matched is None:
        wanted = listed(hub_patterns(card.hub)[0].values())
        what = f"{repo} has no files {wanted}; it has {listed(sizes, 3) or 'none'}"
        raise DataError(what, where=_page(card), fix=f"bring the files yourself: {_from_command(card)}")
    found = []
    for name, split, subset in matched:
        path = _downloaded(card, lambda name=name: _download(hub, repo, name, str(revision), endpoint))  # type: ignore[misc]
        _check(path, sizes[name], card)
        found.append(FoundFile(path, name, split, subset))
    return revision, found


def _download(hub: Any, repo: str, name: str, revision: str, endpoint: str) -> Path:
    """Download a file with a progress bar; one that broke off is resumed."""
    bars = hub.utils
    was_disabled = bars.are_progress_bars_disabled()
    if is_quiet():
        bars.disable_progress_bars()
    try:
        where = {"repo_type": "dataset", "revision": revision, "endpoint": endpoint, "cache_dir": _cache()}
        return Path(hub.hf_hub_download(repo, name, **where))
    finally:
        if is_quiet() and not was_disabled:
            bars.enable_progress_bars()


def forget(card: Card) -> None:
    """Remove the downloaded files of a benchmark, once its rows are stored."""
    assert card.hub is not None
    shutil.rmtree(_cache() / f"datasets--{card.hub.repo.replace('/', '--')}", ignore_errors=True)


def _cache() -> Path:
    """Return the folder of files that are not stored as rows yet."""
    return data_root() / ".hub"


def _listed(card: Card, call: Callable[[], T]) -> T:
    """Return what the hub says of the files of a benchmark.

    Raises:
        DataError: the hub refuses, or cannot be reached.
    """
    fix = f"check the connection, name a mirror with HF_ENDPOINT, or {_from_command(card)}"
    return _asked(card, call, "the files cannot be listed", fix)


def _downloaded(card: Card, call: Callable[[], T]) -> T:
    """Return what a download returns. From version 2 on the library resumes a download itself, five times.

    Raises:
        DataError: the hub refuses, or the connection breaks each time.
    """
    fix = f"run it again: the download goes on where it broke off; or {_from_command(card)}"
    return _asked(card, call, "the download broke off", fix)


def _asked(card: Card, call: Callable[[], T], what_failed: str, fix_of_failure: str) -> T:
    errors = require("huggingface_hub.errors", extra="hub", why="aisprompt data get")
    try:
        return call()
    except errors.GatedRepoError:
        fix = f"accept its terms at {_page(card)}, and set HF_TOKEN to your token"
        what = f"{card.name} is gated: its publisher asks for consent"
        raise DataError(what, where=_page(card), fix=fix) from None
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError, errors.EntryNotFoundError) as error:
        fix = f"check HF_ENDPOINT, or bring the files yourself: {_from_command(card)}"
        raise DataError(f"the hub does not have it: {_first_line(error)}", where=_page(card), fix=fix) from None
    except (errors.HTTPError, OSError, RuntimeError) as error:
        # RuntimeError: what huggingface_hub raises for a file that is shorter than announced.
        raise DataError(f"{what_failed}: {_first_line(error)}", where=_page(card), fix=fix_of_failure) from error


def _check(path: Path, entry: Any, card: Card) -> None:
    """Compare a file with the size and SHA-256 that the hub lists.

    Raises:
        DataError: it differs. The file is removed, so that the next download brings it again.
    """
    digest = getattr(entry.lfs, "sha256", None)
    size = path.stat().st_size
    if size == entry.size and (digest is None or file_digest(path) == digest):
        return
    path.resolve().unlink()
    path.unlink(missing_ok=True)
    what = f"{entry.path} is not the file that the hub lists: {size:,} of {entry.size:,} bytes, or another SHA-256"
    raise DataError(what, where=_page(card), fix="run it again; the broken file was removed")


def _refuse_offline(card: Card) -> None:
    for name in OFFLINE:
        if os.environ.get(name, "").upper() in ("1", "ON", "YES", "TRUE"):
            fix = f"unset {name}, or bring the files: {_from_command(card)}"
            raise DataError(f"{card.name} cannot be downloaded: {name} is set", where=_page(card), fix=fix)


def _page(card: Card) -> str:
    assert card.hub is not None
    return f"{os.environ.get('HF_ENDPOINT') or HUB}/datasets/{card.hub.repo}"


def _from_command(card: Card) -> str:
    return f"aisprompt data get {card.name} --from FOLDER"


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
