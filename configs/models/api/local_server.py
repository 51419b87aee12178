"""A chat model behind a server on this machine, such as `transformers serve` or vLLM."""

models = [
    dict(
        type='OpenAIChatModel',
        abbr='local-server',
        model='default',
        base_url='http://127.0.0.1:8000/v1',
        api_key=None,
        max_concurrency=16,
        max_out_len=512,
    )
]
