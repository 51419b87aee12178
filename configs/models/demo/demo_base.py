"""The shipped demo model, continuing a text; its meta template says how a dialogue becomes one."""

models = [
    dict(
        type='HuggingFaceBaseModel',
        abbr='demo-base',
        path='data/demo_model',
        meta_template=dict(
            round=[
                dict(role='HUMAN', begin='Question: ', end='\n'),
                dict(role='BOT', begin='Answer: ', end='\n', generate=True),
            ]
        ),
        max_out_len=8,
        batch_size=32,
        stop_words=['\n'],
    )
]
