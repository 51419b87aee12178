"""DROP without examples, the answer behind "Answer:" compared in small letters without articles."""

PROMPT = (
    '{passage}\n\n{question}\n\n'
    'Think step by step. End with a line "Answer: X", where X is a name, date or number, without a sentence.'
)

datasets = [
    dict(
        abbr='drop',
        type='CatalogDataset',
        benchmark='drop',
        reader_cfg=dict(input_columns=['passage', 'question'], output_column='answers', test_split='validation'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt=PROMPT),
                        dict(role='BOT', prompt='{answers}'),
                    ]
                ),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=1024),
        ),
        eval_cfg=dict(
            evaluator=dict(type='FuzzyMatchEvaluator'),
            pred_postprocessor=dict(type='after_phrase_postprocess', phrase='Answer:'),
        ),
    )
]
