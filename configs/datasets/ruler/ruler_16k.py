"""RULER's 13 tasks at 16k tokens (16,384), prompt and answer together."""

from mmengine.config import read_base

with read_base():
    from ._tasks import RULER_TASKS, ruler_tasks

datasets = [dict(task, abbr=f"ruler-16k-{task['task']}", length=16384) for task in ruler_tasks]
summarizer = dict(
    summary_groups=[dict(name='ruler-16k', subsets=[f'ruler-16k-{task}' for task in RULER_TASKS])]
)
