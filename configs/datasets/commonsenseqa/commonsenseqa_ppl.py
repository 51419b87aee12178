"""CommonsenseQA by perplexity: each choice is written as the answer."""

datasets = [
    dict(
        abbr='commonsenseqa-ppl',
        type='CatalogDataset',
        benchmark='commonsenseqa',
        reader_cfg=dict(input_columns=['question', 'options'], output_column='answer', test_split='validation'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template={label: f'Question: {{question}}\nAnswer: {{{label}}}' for label in 'ABCDE'},
            ),
            inferencer=dict(type='PPLInferencer', labels=list('ABCDE')),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
]
