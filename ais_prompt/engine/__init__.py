"""Ask the models: send what is missing, keep every answer."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.engine.asked_rows import NO_VALUE, numbered, shown_gap
    from ais_prompt.engine.conversations import (
        LONGEST_NAME,
        RequestEstimate,
        columns_of,
        conversations_of,
        estimate,
        exceeded,
        stored_predictions,
    )
    from ais_prompt.engine.endpoint import Endpoint
    from ais_prompt.engine.engine import Engine, run_local
    from ais_prompt.engine.executions import execute
    from ais_prompt.engine.failures import FailureWatch, error_of
    from ais_prompt.engine.in_memory import WINDOW, ask_alone
    from ais_prompt.engine.infer import AskingOptions, Memory, ShardTask, TaskJob
    from ais_prompt.engine.job import Job
    from ais_prompt.engine.meters import QUOTA, SpeedMeter, Spending
    from ais_prompt.engine.signs import FEWEST, Signs
    from ais_prompt.engine.standstill import Standstill
    from ais_prompt.engine.task_session import OpenProgress, Progress, silent_progress
    from ais_prompt.engine.workers import ModelWorkers, gpus_of
else:
    __getattr__, __dir__ = offered(__name__)
