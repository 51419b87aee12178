"""PIQA by perplexity: each way is written after the goal."""

datasets = [
    dict(
        abbr='piqa-ppl',
        type='CatalogDataset',
        benchmark='piqa',
        reader_cfg=dict(input_columns=['goal', 'options'], output_column='answer', test_split='validation'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template={label: f'Question: {{goal}}\nAnswer: {{{label}}}' for label in 'AB'},
            ),
            inferencer=dict(type='PPLInferencer', labels=list('AB')),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
]
