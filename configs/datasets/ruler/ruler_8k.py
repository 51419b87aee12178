"""RULER's 13 tasks at 8k tokens (8,192), prompt and answer together."""

from mmengine.config import read_base

with read_base():
    from ._tasks import RULER_TASKS, ruler_tasks

datasets = [dict(task, abbr=f"ruler-8k-{task['task']}", length=8192) for task in ruler_tasks]
summarizer = dict(
    summary_groups=[dict(name='ruler-8k', subsets=[f'ruler-8k-{task}' for task in RULER_TASKS])]
)
