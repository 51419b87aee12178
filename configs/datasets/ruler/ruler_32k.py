"""RULER's 13 tasks at 32k tokens (32,768), prompt and answer together."""

from mmengine.config import read_base

with read_base():
    from ._tasks import RULER_TASKS, ruler_tasks

datasets = [dict(task, abbr=f"ruler-32k-{task['task']}", length=32768) for task in ruler_tasks]
summarizer = dict(
    summary_groups=[dict(name='ruler-32k', subsets=[f'ruler-32k-{task}' for task in RULER_TASKS])]
)
