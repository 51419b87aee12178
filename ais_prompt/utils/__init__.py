"""Helpers that several rooms need: texts, JSON, files, digests."""

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
    from ais_prompt.utils.hub import HUB, REMEMBERED_SECONDS, SLOW_SECONDS, guard_hub, lookup
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
    from ais_prompt.utils.message_parts import (
        CALL,
        FILE_NOTE,
        KINDS,
        RESULT,
        SYSTEM_FIX,
        TOOL_ROLE,
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
        prompt_texts,
        references,
        refuses_system,
        role_fix,
        shown_content,
        source_of,
        text_of_calls,
        with_call_parts,
    )
    from ais_prompt.utils.packages import (
        install_command,
        installed,
        program_digest,
        require,
        require_installed,
        versions,
    )
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
        LatePattern,
        advice,
        counted,
        escaped,
        is_missing,
        kind_of,
        late,
        listed,
        near_miss,
        nearest,
        one_line,
        printable,
        reviewable_json,
        shortened,
        without_middle,
    )
else:
    __getattr__, __dir__ = offered(__name__)
