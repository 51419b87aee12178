"""None"""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.utils.arithmetic import evaluate
    from ais_prompt.utils.digests import canonical, digest, digest_of_list, file_digest, text_digest
    from ais_prompt.utils.equal_rows import Occurrences, RowIndex, row_key
    from ais_prompt.utils.files import (
        check_regular,
        data_root,
        last_lines,
        open_in_folder,
        open_regular,
        read_regular,
        split_sheet,
    )
    from ais_prompt.utils.folders import CONFIG_FOLDERS, SearchFolders, give_folders, given_folders
    from ais_prompt.utils.gpus import GPU_VARIABLE, GpuPool, visible_gpus
    from ais_prompt.utils.guard import (
        awaiting,
        calling,
        ends_program,
        exception_line,
        guarded,
        guarded_call,
        part_error,
        refuse_other_kind,
    )
    from ais_prompt.utils.held import Held
    from ais_prompt.utils.hub import HUB, MAX_PAGES, REMEMBERED_SECONDS, SLOW_SECONDS, guard_hub, lookup
    from ais_prompt.utils.jsonl import (
        DECODER,
        MOST_LEVELS,
        check_values,
        checked_levels,
        decode,
        decode_own,
        encode,
        encode_finite,
        encode_plain,
        most_values,
        parse_text,
        parse_written,
        read_objects,
    )
    from ais_prompt.utils.log import NOTE, ONCE, ROOT, SILENCE, Alike, OnceFilter, logging_to, silence
    from ais_prompt.utils.media import (
        FILE_NOTE,
        KINDS,
        MediaFile,
        check_part,
        describe_part,
        has_scheme,
        is_url,
        local_file,
        media_path,
        noted_files,
        part_bytes,
        references,
        source_of,
    )
    from ais_prompt.utils.messages import (
        CALL,
        RESULT,
        SYSTEM_FIX,
        TOOL_ROLE,
        arguments_of,
        call_messages,
        describe_call,
        openai_json,
        parts_of,
        refuses_system,
        role_fix,
        text_of_calls,
    )
    from ais_prompt.utils.nested import leaves, part_types, texts, with_leaves, with_texts
    from ais_prompt.utils.numerals import DIGITS, plain_digits
    from ais_prompt.utils.packages import install_command, installed, require, require_installed, versions
    from ais_prompt.utils.places import defined_at, last_line_in, place, users_line
    from ais_prompt.utils.plugins import (
        EXTENSIONS,
        find_plugins,
        installed_entry,
        installed_extensions,
        load_plugins,
        plugin_configs,
    )
    from ais_prompt.utils.progress import (
        NORMAL,
        QUIET,
        Advance,
        Facts,
        close_bars,
        in_notebook,
        is_quiet,
        shown_on,
        tracked,
        tracking,
        verbosity,
        waiting,
    )
    from ais_prompt.utils.protocols import KeptChecks, members, type_words
    from ais_prompt.utils.secrets import (
        HIDDEN,
        SECRET_VARIABLE,
        SECRETS,
        SHORTEST,
        VARIABLE,
        SecretRegistry,
        hide_in_url,
        hide_in_urls,
        secrets_in_url,
        secrets_in_urls,
    )
    from ais_prompt.utils.signals import Termination, interruption, terminable, wakeable
    from ais_prompt.utils.spill import IN_MEMORY, PIECE, Spill, Spilled
    from ais_prompt.utils.steady_output import STDERR_PATIENCE, SteadyFile, open_standard_descriptors, standard_stream
    from ais_prompt.utils.synonyms import PYTHON, ROLES, key_advice, part_meant
    from ais_prompt.utils.tables import Cell, Column, fits, fitted, print_heading, print_table
    from ais_prompt.utils.temporary import remove_leftovers, temporary_file, temporary_folder
    from ais_prompt.utils.text import (
        NARROWEST,
        VARIES,
        WIDEST_TERMINAL,
        advice,
        counted,
        escaped,
        is_missing,
        kind_of,
        listed,
        near_miss,
        one_line,
        printable,
        reviewable_json,
    )
    from ais_prompt.utils.threads import call_in_loop, in_thread, run_coroutine
    from ais_prompt.utils.watchdog import GRACE_SECONDS, module_command, module_environment, watched
    from ais_prompt.utils.whole_words import contains
    from ais_prompt.utils.worker import Worker, WorkerDied, hidden, serve
else:
    __getattr__, __dir__ = offered(__name__)
