"""Prompt locks: record the prompts of a config in a small file, and show how they have changed since."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.locks.diff import compare_sides, open_side, with_model
    from ais_prompt.locks.drift import Drift, RowMatch, compare_task, match_rows
    from ais_prompt.locks.drift_view import changes_title, drift_fields, group_title, print_drift
    from ais_prompt.locks.file import FORMAT, PromptLockFile, read_prompt_lock, write_prompt_lock
    from ais_prompt.locks.prompt_lock import find_drift, make_prompt_lock, part_digest, prompt_lock_path, template_parts
else:
    __getattr__, __dir__ = offered(__name__)
