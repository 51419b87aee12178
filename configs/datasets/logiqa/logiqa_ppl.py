"""LogiQA by perplexity: each choice is written as the answer."""

datasets = [
    dict(
        abbr='logiqa-ppl',
        type='CatalogDataset',
        benchmark='logiqa',
        reader_cfg=dict(input_columns=['context', 'question', 'options'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template={label: f'{{context}}\nQuestion: {{question}}\nAnswer: {{{label}}}' for label in 'ABCD'},
            ),
            inferencer=dict(type='PPLInferencer', labels=list('ABCD')),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
]
