"""RULER's 13 tasks at 128k tokens (131,072), prompt and answer together."""

from mmengine.config import read_base

with read_base():
    from ._tasks import RULER_TASKS, ruler_tasks

datasets = [dict(task, abbr=f"ruler-128k-{task['task']}", length=131072) for task in ruler_tasks]
summarizer = dict(
    summary_groups=[dict(name='ruler-128k', subsets=[f'ruler-128k-{task}' for task in RULER_TASKS])]
)
