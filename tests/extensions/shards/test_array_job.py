"""`--shard auto/8` takes its number from the array job of a scheduler."""

from __future__ import annotations

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.shards.shard_folders import parse_shard
from ais_prompt.types import Shard


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_STEP": "2"}, Shard(2, 4)),
        ({"JOB_COMPLETION_INDEX": "3"}, Shard(3, 4)),
    ],
)
def test_the_number_is_that_of_the_job(environment: dict[str, str], expected: Shard) -> None:
    assert parse_shard("auto/4", environment) == expected


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, "there is no array job"),
        ({"SLURM_ARRAY_TASK_ID": "2"}, "there is no shard 2 of 2"),
        ({"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_MIN": "5"}, "there is no shard -4 of 2"),
        ({"JOB_COMPLETION_INDEX": "x"}, "is not a number"),
    ],
)
def test_a_number_that_cannot_be(environment: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_shard("auto/2", environment)
