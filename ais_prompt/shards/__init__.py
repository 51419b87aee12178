"""A run on several machines: divide it into shards, start and follow them, merge what they answered.

Runners start shards, and partitioners divide the tasks among them. All of them can be imported from here.
"""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.shards.local_shards import LocalRunner
    from ais_prompt.shards.merge import agreement, collect, forget_partial, journals_of, merge_journals, open_partial
    from ais_prompt.shards.partition import (
        distribute,
        held_tasks,
        open_runner,
        prepare_partition,
        shard_tasks,
        share_of,
        work_of,
    )
    from ais_prompt.shards.runner import Runner, ShardWork, run_shards
    from ais_prompt.shards.shard_folders import (
        EVERYTHING,
        HeldTasks,
        is_asked,
        is_merged,
        join_shards,
        latest_shards,
        list_shard_folders,
        open_shard,
        parse_shard,
        read_held,
        shared_run_folder,
    )
    from ais_prompt.shards.shared_servers import leave_config, serve
else:
    __getattr__, __dir__ = offered(__name__, "partitioners", "runners")
