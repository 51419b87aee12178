"""From a config to built parts, and every check before the first request."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.plan.bind import accepts, argument_faults
    from ais_prompt.plan.build import (
        Postprocessor,
        build_chat_format,
        build_context,
        build_evaluator,
        build_inferencer,
        build_model,
        build_part,
        build_partitioner,
        build_postprocessor,
        build_prompts,
        build_retriever,
        build_runner,
        build_templates,
        chat_format_of,
        knows_stop_tokens,
        media_roots_of,
        read_dataset,
    )
    from ais_prompt.plan.data_file import DataFile, Description, describe_file, describe_rows
    from ais_prompt.plan.gold_kinds import KINDS, GoldKind, Golds
    from ais_prompt.plan.named_config import (
        STAND_IN,
        ReadConfig,
        completed_urls,
        local_model,
        named_model,
        read_spec,
        served_model,
    )
    from ais_prompt.plan.plan import (
        Plan,
        PlannedDataset,
        PlannedModel,
        Task,
        built_once,
        check_cluster,
        cluster_of,
        fitting_shots,
        record_of,
    )
    from ais_prompt.plan.runner import Runner, ShardWork
    from ais_prompt.plan.stored_run import (
        stored_spec,
        unusable_parts,
        with_model,
        with_stored_config,
        without_permissions,
    )
else:
    __getattr__, __dir__ = offered(__name__, "partitioners", "runners")
