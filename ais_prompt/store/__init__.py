"""The run folder: its place, its lock and its files."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.store.answer_cache import AnswerCache, open_cache
    from ais_prompt.store.disk import reading, replacing, system_error, writing
    from ais_prompt.store.journal import Journal, JournalView
    from ais_prompt.store.layout import (
        SESSION_NAME,
        RunFolder,
        create_run_folder,
        hold_writer_lock,
        refuse_links,
        safe_name,
        try_file_lock,
    )
    from ais_prompt.store.log_format import ImportedLog, ImportedTask, Log, LogFormat
    from ais_prompt.store.predictions import (
        ASK_FIRST,
        BROKEN_FIX,
        NO_ANSWERS,
        PredictionSorter,
        prediction_sorter,
        read_prediction,
        read_predictions,
        stored_lines,
        write_predictions,
    )
    from ais_prompt.store.request_keys import FormerKeys, RequestKeys
    from ais_prompt.store.results import (
        Results,
        RunFile,
        check_scored,
        check_shape,
        detail_places,
        read_battles,
        read_detail,
        read_details,
        read_head,
        read_json,
        read_questions,
        read_results,
        read_scores,
        write_json_atomic,
        write_results,
    )
    from ais_prompt.store.run_record import RunRecord, RunStatus, addresses_of, done_tasks, recorded, write_config
    from ais_prompt.store.runs import (
        SCHEMA_VERSION,
        all_runs,
        config_changes,
        find_run_folder,
        in_order,
        is_made_here,
        is_own,
        locate_run,
        read_run_file,
        runs_called,
    )
else:
    __getattr__, __dir__ = offered(__name__)
