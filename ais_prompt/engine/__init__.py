"""Ask the models: send what is missing, keep every answer."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.engine.conversations import (
        LONGEST_NAME,
        EarlierAnswers,
        Numbering,
        columns_of,
        conversations_of,
        stored_predictions,
    )
    from ais_prompt.engine.engine import Endpoint, Engine, run_local
    from ais_prompt.engine.failures import FEWEST, FailureWatch, Signs, error_of
    from ais_prompt.engine.job import AskingOptions, ShardTask, Standstill, TaskJob, asked_alike
    from ais_prompt.engine.memory import WINDOW, ask_in_memory
    from ais_prompt.engine.meters import (
        QUOTA,
        OpenProgress,
        Progress,
        RequestEstimate,
        SpeedMeter,
        Spending,
        estimate,
        exceeded,
        silent_progress,
    )
    from ais_prompt.engine.workers import ModelWorkers, gpus_of
else:
    __getattr__, __dir__ = offered(__name__)
