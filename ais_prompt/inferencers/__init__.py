"""Inferencers: which requests are sent for a sample, and what becomes its prediction.

Every inferencer can be imported from here; the module that defines it is loaded when its name is first used.
"""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.inferencers.base import (
        Conversation,
        DialogueInferencer,
        GeneratingInferencer,
        GoldUse,
        InferenceContext,
        Inferencer,
        KeepsShots,
        OffersTools,
        PerformsRequests,
        Preview,
        RepeatingInferencer,
    )
    from ais_prompt.inferencers.gen import GenInferencer, answer_length
    from ais_prompt.inferencers.likelihoods import (
        ChoicesInferencer,
        CLPInferencer,
        LLInferencer,
        PPLInferencer,
        PPLOnlyInferencer,
        label_fix,
        lowest,
        normalized,
    )
    from ais_prompt.inferencers.multi_turn import ChatInferencer, MultiTurnGenInferencer, dialogue_failure
    from ais_prompt.inferencers.running_conversation import (
        RAISED,
        RETRY_HINT,
        UNUSABLE_ROW,
        Recall,
        RunningConversation,
        ends_task,
        failure_of,
        without_secrets,
    )
    from ais_prompt.inferencers.tool_calls import MultiTurnToolCallInferencer, ToolCallInferencer, checked_tools
else:
    __getattr__, __dir__ = offered(__name__, "inferencers")
