"""The shipped demo model, asked in chat with its tokenizer's own chat template."""

models = [
    dict(
        type='HuggingFaceChatModel',
        abbr='demo-chat',
        path='data/demo_model',
        max_out_len=8,
        batch_size=32,
    )
]
