"""The shipped demo model, continuing a text."""

models = [
    dict(
        type='HuggingFaceBaseModel',
        abbr='demo-base',
        path='data/demo_model',
        max_out_len=8,
        batch_size=32,
        stop_words=['\n'],
    )
]
