"""A meta template of your own, with a system role; the shipped model does not know it, and gets fewer sums right."""

from mmengine.config import read_base

with read_base():
    from ..datasets.demo.demo_addition import datasets

datasets[0]['reader_cfg']['test_range'] = '[:20]'
datasets[0]['infer_cfg']['prompt_template']['template']['begin'] = [
    dict(role='SYSTEM', fallback_role='HUMAN', prompt='Sums and their results.'),
    '</E>',
]
models = [
    dict(
        type='HuggingFaceBaseModel',
        abbr='own-meta-template',
        path='data/demo_model',
        max_out_len=8,
        batch_size=20,
        stop_words=['\n'],
        meta_template=dict(
            begin='Listen.\n',
            round=[
                dict(role='HUMAN', begin='Question: ', end='\n'),
                dict(role='BOT', begin='Answer: ', end='\n', generate=True),
            ],
            end='No more sums.',
            reserved_roles=[dict(role='SYSTEM', begin='Note: ', end='\n')],
        ),
    )
]
