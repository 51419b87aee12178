"""The run folder: its place, its lock and its files."""

from ais_prompt.store.journal import Journal
from ais_prompt.store.layout import RunFolder, create_run_folder, safe_name
from ais_prompt.store.predictions import read_predictions, write_predictions
from ais_prompt.store.request_keys import RequestKeys
from ais_prompt.store.results import read_json, write_json_atomic
from ais_prompt.store.runs import find_run_folder, locate_run
from ais_prompt.store.writer_lock import hold_writer_lock

__all__ = [
    "Journal",
    "RequestKeys",
    "RunFolder",
    "create_run_folder",
    "find_run_folder",
    "hold_writer_lock",
    "locate_run",
    "read_json",
    "read_predictions",
    "safe_name",
    "write_json_atomic",
    "write_predictions",
]
