"""RULER's 13 tasks at 256k tokens (262,144), prompt and answer together."""

from mmengine.config import read_base

with read_base():
    from ._tasks import RULER_TASKS, ruler_tasks

datasets = [dict(task, abbr=f"ruler-256k-{task['task']}", length=262144) for task in ruler_tasks]
summarizer = dict(
    summary_groups=[dict(name='ruler-256k', subsets=[f'ruler-256k-{task}' for task in RULER_TASKS])]
)
