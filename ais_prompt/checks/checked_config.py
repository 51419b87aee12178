"""Read a config and check it: `checked` returns a plan without faults, `open_stored` that of a stored run."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeAlias

from ais_prompt.checks.check import check_plan
from ais_prompt.checks.faults import check_scoring
from ais_prompt.checks.prompt_warning import PromptWarning, translation_notes
from ais_prompt.config import Options
from ais_prompt.errors import ConfigFaults
from ais_prompt.plan import Plan, read_spec
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.store import RunFolder, locate_run
from ais_prompt.types import RunSpec

TasksOf: TypeAlias = Callable[[RunSpec], Collection[str] | None]
"""Returns the names of the tasks of a config to check and to plan; None for all."""


def checked(
    options: Options, *, thorough: bool = False, tasks_of: TasksOf = lambda _: None
) -> tuple[Plan, list[PromptWarning]]:
    """Load, parse and check a config.

    Args:
        options: where it comes from.
        thorough: as in `check_plan`.
        tasks_of: which tasks are checked and planned.

    Returns:
        The plan of the config, and the warnings of its prompts and of the user's own postprocessors.

    Raises:
        ConfigFaults: everything that is wrong, each with its config path, file and line.
    """
    plan, warnings, place = checked_with_places(options, thorough=thorough, tasks_of=tasks_of)
    readers = (dataset.spec.eval.pred_postprocessor for dataset in plan.scorings)
    # A thorough check shows the phrasings of all datasets.
    if not thorough and any(reader and reader.type not in POSTPROCESSORS.shipped for reader in readers):
        from ais_prompt.checks.extraction import reader_warnings

        warnings += reader_warnings(plan, place)
    return plan, warnings


def checked_with_places(
    options: Options, *, thorough: bool = False, tasks_of: TasksOf = lambda _: None
) -> tuple[Plan, list[PromptWarning], Callable[[str], str]]:
    """Do the same as `checked`; also return what adds ``file:line`` to a config path."""
    config = read_spec(options)
    plan, tasks = Plan(config.spec), tasks_of(config.spec)
    if tasks is not None:
        plan = plan.only(tasks)
    found = check_plan(plan, config.loaded.place, thorough=thorough)
    if found.faults:
        raise ConfigFaults(found.faults)
    notes = translation_notes(config.notes, config.loaded.place)
    return plan, [*notes, *found.warnings], config.loaded.place


def checked_for_scoring(options: Options) -> Plan:
    """Load and parse a config, and check what scoring needs: neither models nor data must exist.

    Raises:
        ConfigFaults: everything that is wrong, each with its config path, file and line.
    """
    config = read_spec(options)
    plan = Plan(config.spec)
    if faults := check_scoring(plan, config.loaded.place):
        raise ConfigFaults(faults)
    return plan


def open_stored(run: str, options: Options) -> tuple[Plan, RunFolder]:
    """Return the plan and folder of a stored run, to be scored again.

    Args:
        run: its path, or its name below the work dir.
        options: the config to score with; the run's own if it names none.

    Raises:
        ConfigError: there is no such run, the config has faults, or this user did not make the run and its scoring
            needs what only the user may allow.
    """
    from ais_prompt.plan import with_stored_config

    if options.config is not None:
        plan = checked_for_scoring(options)
        return plan, locate_run(plan.spec.work_dir, run)
    options, folder = with_stored_config(run, options)
    return checked_for_scoring(options), folder
