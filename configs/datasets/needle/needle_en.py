"""A needle in a haystack in English: eleven depths from 0 to 100 % at six lengths from 4k to 128k tokens."""

from mmengine.config import read_base

with read_base():
    from ._depths import LENGTHS, needle

datasets = [
    dict(needle, abbr=f'needle-en-{name}', length=length, language='en') for name, length in LENGTHS.items()
]
summarizer = dict(summary_groups=[dict(name='needle-en', subsets=[f'needle-en-{name}' for name in LENGTHS])])
