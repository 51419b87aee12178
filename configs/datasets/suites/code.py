"""A suite of programs in Python, tested in a sandbox; run it with --allow-code-execution."""

from mmengine.config import read_base

with read_base():
    from ..humaneval.humaneval_gen_chat import datasets as humaneval_datasets
    from ..humaneval_plus.humaneval_plus_gen import datasets as humaneval_plus_datasets
    from ..mbpp.mbpp_gen_3shot_chat import datasets as mbpp_datasets
    from ..mbpp_plus.mbpp_plus_gen import datasets as mbpp_plus_datasets

datasets = [*humaneval_datasets, *humaneval_plus_datasets, *mbpp_datasets, *mbpp_plus_datasets]
summarizer = dict(
    summary_groups=[dict(name='code', subsets=['humaneval-chat', 'humaneval-plus', 'mbpp-3shot-chat', 'mbpp-plus'])]
)
