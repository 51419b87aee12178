"""BoolQ by perplexity: yes and no are written as the answer."""

datasets = [
    dict(
        abbr='boolq-ppl',
        type='CatalogDataset',
        benchmark='boolq',
        reader_cfg=dict(input_columns=['passage', 'question'], output_column='answer', test_split='validation'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template={label: f'{{passage}}\nQuestion: {{question}}\nAnswer: {label}' for label in ['yes', 'no']},
            ),
            inferencer=dict(type='PPLInferencer', labels=['yes', 'no']),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
]
