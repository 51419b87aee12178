"""Parts that users bring: called with a check of what they return, and what is meant by names from other programs."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.parts.guarded import (
        GuardedPart,
        KeptChecks,
        RunsPrograms,
        awaiting,
        calling,
        ends_program,
        exception_line,
        guarded_call,
        members,
        part_class,
        part_error,
        refuse_other_kind,
        type_words,
    )
    from ais_prompt.parts.places import (
        defined_at,
        last_line_in,
        place,
        users_line,
    )
    from ais_prompt.parts.synonyms import (
        PYTHON,
        ROLES,
        key_advice,
        key_meaning,
        part_meant,
    )
else:
    __getattr__, __dir__ = offered(__name__)
