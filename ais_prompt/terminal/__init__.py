"""What a person sees while a command runs: the log, bars of progress, tables; output that waits for a slow reader."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.terminal.columns import (
        Cell,
        Column,
        fits,
        fitted,
        print_heading,
        print_table,
    )
    from ais_prompt.terminal.log import (
        FACT,
        NOTE,
        ONCE,
        ROOT,
        SILENCE,
        Alike,
        OnceFilter,
        logging_to,
        silence,
    )
    from ais_prompt.terminal.progress import (
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
    from ais_prompt.terminal.steady_output import (
        STDERR_PATIENCE,
        SteadyFile,
        open_standard_descriptors,
        standard_stream,
    )
else:
    __getattr__, __dir__ = offered(__name__)
