"""RULER's 13 tasks at 64k tokens (65,536), prompt and answer together."""

from mmengine.config import read_base

with read_base():
    from ._tasks import RULER_TASKS, ruler_tasks

datasets = [dict(task, abbr=f"ruler-64k-{task['task']}", length=65536) for task in ruler_tasks]
summarizer = dict(
    summary_groups=[dict(name='ruler-64k', subsets=[f'ruler-64k-{task}' for task in RULER_TASKS])]
)
