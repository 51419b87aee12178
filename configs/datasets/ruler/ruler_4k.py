"""RULER's 13 tasks at 4k tokens (4,096), prompt and answer together."""

from mmengine.config import read_base

with read_base():
    from ._tasks import RULER_TASKS, ruler_tasks

datasets = [dict(task, abbr=f"ruler-4k-{task['task']}", length=4096) for task in ruler_tasks]
summarizer = dict(
    summary_groups=[dict(name='ruler-4k', subsets=[f'ruler-4k-{task}' for task in RULER_TASKS])]
)
