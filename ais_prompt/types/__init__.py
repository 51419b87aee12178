"""Frozen values that travel through the program. No I/O, and no third-party package except msgspec."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.types.document import Document, Fault
    from ais_prompt.types.gate import COUNTS, Gate, Verdict, parse_gate
    from ais_prompt.types.key import NEEDED, Count, Key, Text, as_list, number_of_gpus, printable
    from ais_prompt.types.limits import Budget, Price
    from ais_prompt.types.logged import LoggedAnswer, LoggedTask, LogRule, PartConfig, Reducer
    from ais_prompt.types.reference_entry import REQUIRED, Argument, Entry
    from ais_prompt.types.request import (
        BATCH_TIER,
        ChatMessage,
        Completion,
        Content,
        Decoding,
        Execution,
        Failure,
        FinishReason,
        GeneratedToken,
        LeftFile,
        Likelihood,
        LikelihoodQuery,
        ModelCall,
        Prompt,
        Prompts,
        Request,
        ServerFailure,
        ToolCall,
        ToolRun,
        Usage,
        decoding_to_json,
        message_from_json,
        message_to_json,
        prompt_from_json,
        prompt_to_json,
        prompts_to_json,
        requests_of,
        total_usage,
    )
    from ais_prompt.types.result import Activity, AgentStep, Prediction, Sample, Speed, TaskFacts, Times, Used
    from ais_prompt.types.sample_draw import DRAW_EXAMPLES, DrawSpec, parse_draw
    from ais_prompt.types.score import (
        REFUSAL,
        STATUSES,
        Extraction,
        JudgeVerdict,
        OtherReading,
        Precision,
        Reading,
        SampleScore,
        Score,
        Sensitivity,
        Spread,
        Status,
        Stratum,
        lower_is_better,
    )
    from ais_prompt.types.shard import BEAT, SILENCE, Chunk, Partition, Partitioner, Portion, Shard, TaskSize
    from ais_prompt.types.spec import (
        AVERAGES,
        ELSEWHERE,
        LOG,
        ROLES_FIX,
        ControlSpec,
        DatasetSpec,
        EvalSpec,
        GroupKind,
        InferSpec,
        JudgeSpec,
        MetaTemplateSpec,
        ModelSpec,
        PartSpec,
        ReaderSpec,
        ReferenceAnswersSpec,
        RoleSpec,
        RunSpec,
        SummaryEntry,
        SummaryGroup,
        SummarySpec,
        TaskSpec,
        VariantColumns,
        VariantSpec,
        title_of,
    )
else:
    __getattr__, __dir__ = offered(__name__)
