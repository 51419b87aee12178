"""A needle in a haystack in Chinese: eleven depths from 0 to 100 % at six lengths from 4k to 128k tokens."""

from mmengine.config import read_base

with read_base():
    from ._depths import LENGTHS, needle

datasets = [
    dict(needle, abbr=f'needle-zh-{name}', length=length, language='zh') for name, length in LENGTHS.items()
]
summarizer = dict(summary_groups=[dict(name='needle-zh', subsets=[f'needle-zh-{name}' for name in LENGTHS])])
