"""A role template of your own: the class lies beside the config, and is named by its dotted path; the shipped model."""

from mmengine.config import read_base

with read_base():
    from ..datasets.demo.demo_addition import datasets

datasets[0]['reader_cfg']['test_range'] = '[:20]'
models = [
    dict(
        type='HuggingFaceBaseModel',
        abbr='own-role-template',
        path='data/demo_model',
        max_out_len=8,
        batch_size=20,
        stop_words=['\n'],
        prompt_template='sums_template.SumsTemplate',
    )
]
