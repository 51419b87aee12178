"""HealthBench Hard: as `healthbench_gen`, with the questions that models of 2025 answered worst."""

from mmengine.config import read_base

with read_base():
    from .healthbench_gen import datasets

datasets = [
    {
        **datasets[0],
        'abbr': 'healthbench-hard',
        'reader_cfg': {**datasets[0]['reader_cfg'], 'test_split': 'hard'},
    }
]
