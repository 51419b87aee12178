"""A chat model of OpenAI, or of any server that OPENAI_BASE_URL names; the key is read from OPENAI_API_KEY."""

models = [
    dict(
        type='OpenAIChatModel',
        abbr='openai-chat',
        model='gpt-4o-mini',
        api_key='OPENAI_API_KEY',
        max_concurrency=16,
        max_out_len=512,
    )
]
