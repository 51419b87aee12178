"""Prompts of 1,024 tokens and answers of 128, for the performance of a server (-m perf)."""

datasets = [
    dict(
        abbr='synthetic',
        type='SyntheticDataset',
        requests=500,
        input_tokens=1024,
        output_tokens=128,
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(round=[dict(role='HUMAN', prompt='{question}')]),
            ),
            retriever=dict(type='ZeroRetriever'),
            inferencer=dict(type='GenInferencer'),
        ),
    )
]
