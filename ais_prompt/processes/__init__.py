"""Other processes and threads: a worker that answers calls, a guard that ends what was started, interruption."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.processes.child import (
        Worker,
        WorkerDied,
        hidden,
        serve,
    )
    from ais_prompt.processes.threads import (
        Termination,
        call_in_loop,
        in_thread,
        interruption,
        run_coroutine,
        terminable,
        wakeable,
    )
    from ais_prompt.processes.watchdog import (
        GRACE_SECONDS,
        module_command,
        module_environment,
        watched,
    )
else:
    __getattr__, __dir__ = offered(__name__)
