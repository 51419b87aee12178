"""A model that continues text behind a server on this machine; vLLM, for one, can also tell how likely a text is."""

models = [
    dict(
        type='OpenAICompletionModel',
        abbr='local-completions',
        model='default',
        base_url='http://127.0.0.1:8000/v1',
        api_key=None,
        max_concurrency=16,
        max_out_len=512,
    )
]
