"""ARC-Easy by perplexity: each choice is written as the answer. Only questions with four choices."""

datasets = [
    dict(
        abbr='arc-easy-ppl',
        type='CatalogDataset',
        benchmark='arc_easy',
        only=dict(count=4),
        reader_cfg=dict(input_columns=['question', 'options'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template={label: f'Question: {{question}}\nAnswer: {{{label}}}' for label in 'ABCD'},
            ),
            inferencer=dict(type='PPLInferencer', labels=list('ABCD')),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
]
