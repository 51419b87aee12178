"""The work of each verb, for the command line and Python alike."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.verbs.api import Config, ConfigOptions, load_config, planned
    from ais_prompt.verbs.check import Audit, check_source, remarks, trials
    from ais_prompt.verbs.documents import (
        BenchmarkEntry,
        FoundConfig,
        Named,
        ProviderEntry,
        document_of,
        faults,
        task_ends,
    )
    from ais_prompt.verbs.open_run import export, public_errors
    from ais_prompt.verbs.run import (
        RunResult,
        asked,
        check_retry,
        find_or_make,
        model_addresses,
        open_foreign,
        open_run_folder,
        run_source,
        started_parts,
        with_found_models,
    )
    from ais_prompt.verbs.run_document import RunDocument, TaskEstimate, task_estimates
    from ais_prompt.verbs.run_session import FailureLimit, Session
else:
    __getattr__, __dir__ = offered(__name__)
