"""WinoGrande by log-likelihood: the end of the sentence after the sentence with either word."""

datasets = [
    dict(
        abbr='winogrande-ll',
        type='CatalogDataset',
        benchmark='winogrande',
        reader_cfg=dict(input_columns=['sentence', 'options'], output_column='answer', test_split='validation'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template={label: f'{{start_{label}}}' for label in 'AB'},
            ),
            inferencer=dict(type='LLInferencer', labels=list('AB'), continuation_column='end'),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
]
