"""HellaSwag by perplexity: each ending is written after the text."""

datasets = [
    dict(
        abbr='hellaswag-ppl',
        type='CatalogDataset',
        benchmark='hellaswag',
        reader_cfg=dict(input_columns=['context', 'options'], output_column='answer', test_split='validation'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template={label: f'{{context}} {{{label}}}' for label in 'ABCD'},
            ),
            inferencer=dict(type='PPLInferencer', labels=list('ABCD')),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
]
