"""RULER's 13 tasks at 512k tokens (524,288), prompt and answer together."""

from mmengine.config import read_base

with read_base():
    from ._tasks import RULER_TASKS, ruler_tasks

datasets = [dict(task, abbr=f"ruler-512k-{task['task']}", length=524288) for task in ruler_tasks]
summarizer = dict(
    summary_groups=[dict(name='ruler-512k', subsets=[f'ruler-512k-{task}' for task in RULER_TASKS])]
)
