"""Helpers that several rooms need: texts, JSON, files, digests, the log, the terminal, processes."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.utils.digests import (
        Occurrences,
        RowIndex,
        canonical,
        digest,
        digest_of_list,
        file_digest,
        row_key,
        text_digest,
    )
    from ais_prompt.utils.files import (
        check_regular,
        data_root,
        last_lines,
        open_in_folder,
        open_regular,
        read_regular,
        split_sheet,
    )
    from ais_prompt.utils.guard import (
        GuardedPart,
        KeptChecks,
        awaiting,
        calling,
        ends_program,
        exception_line,
        guarded_call,
        part_class,
        part_error,
        refuse_other_kind,
    )
    from ais_prompt.utils.hub import HUB, MAX_PAGES, REMEMBERED_SECONDS, SLOW_SECONDS, guard_hub, lookup
    from ais_prompt.utils.json import (
        DECODER,
        MOST_LEVELS,
        check_values,
        checked_levels,
        decode,
        decode_own,
        encode,
        encode_finite,
        encode_plain,
        leaves,
        most_values,
        parse_text,
        parse_written,
        part_types,
        read_objects,
        texts,
        with_leaves,
        with_texts,
    )
    from ais_prompt.utils.late_pattern import LatePattern, late
    from ais_prompt.utils.log import FACT, NOTE, ONCE, ROOT, SILENCE, Alike, OnceFilter, logging_to, silence
    from ais_prompt.utils.message_parts import (
        CALL,
        FILE_NOTE,
        KINDS,
        RESULT,
        SYSTEM_FIX,
        TOOL_ROLE,
        MediaFile,
        arguments_of,
        call_messages,
        check_part,
        describe_call,
        describe_part,
        has_scheme,
        is_url,
        local_file,
        media_path,
        noted_files,
        openai_json,
        part_bytes,
        parts_of,
        references,
        refuses_system,
        role_fix,
        source_of,
        text_of_calls,
    )
    from ais_prompt.utils.packages import (
        install_command,
        installed,
        program_digest,
        require,
        require_installed,
        versions,
    )
    from ais_prompt.utils.places import defined_at, last_line_in, place, users_line
    from ais_prompt.utils.plugins import (
        EXTENSIONS,
        find_plugins,
        installed_entry,
        installed_extensions,
        load_plugins,
        plugin_configs,
    )
    from ais_prompt.utils.processes import Worker, WorkerDied, hidden, serve
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
    from ais_prompt.utils.protocols import members, type_words
    from ais_prompt.utils.steady_output import STDERR_PATIENCE, SteadyFile, open_standard_descriptors, standard_stream
    from ais_prompt.utils.synonyms import PYTHON, ROLES, key_advice, key_meaning, part_meant
    from ais_prompt.utils.tables import Cell, Column, fits, fitted, print_heading, print_table
    from ais_prompt.utils.temporary import (
        IN_MEMORY,
        PIECE,
        Spill,
        Spilled,
        remove_leftovers,
        temporary_file,
        temporary_folder,
    )
    from ais_prompt.utils.text import (
        NARROWEST,
        VARIES,
        WIDEST_TERMINAL,
        Held,
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
    from ais_prompt.utils.threads import (
        Termination,
        call_in_loop,
        in_thread,
        interruption,
        run_coroutine,
        terminable,
        wakeable,
    )
    from ais_prompt.utils.watchdog import GRACE_SECONDS, module_command, module_environment, watched
else:
    __getattr__, __dir__ = offered(__name__)
