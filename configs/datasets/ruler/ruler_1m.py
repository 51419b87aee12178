"""RULER's 13 tasks at 1M tokens (1,048,576), prompt and answer together."""

from mmengine.config import read_base

with read_base():
    from ._tasks import RULER_TASKS, ruler_tasks

datasets = [dict(task, abbr=f"ruler-1m-{task['task']}", length=1048576) for task in ruler_tasks]
summarizer = dict(
    summary_groups=[dict(name='ruler-1m', subsets=[f'ruler-1m-{task}' for task in RULER_TASKS])]
)
