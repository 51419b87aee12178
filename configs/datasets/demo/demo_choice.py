"""Sums with four options by perplexity: each option is written as the answer, and the likeliest text wins."""

datasets = [
    dict(
        abbr='demo-choice',
        type='LocalDataset',
        path='data/demo/choice',
        reader_cfg=dict(input_columns=['question', 'A', 'B', 'C', 'D'], output_column='answer'),
        infer_cfg=dict(
            ice_template=dict(
                type='PromptTemplate',
                template={
                    label: f'Question: {{question}}\nAnswer: {{{label}}}'
                    for label in ['A', 'B', 'C', 'D']
                },
            ),
            prompt_template=dict(
                type='PromptTemplate',
                template={
                    label: f'</E>Question: {{question}}\nAnswer: {{{label}}}'
                    for label in ['A', 'B', 'C', 'D']
                },
                ice_token='</E>',
            ),
            retriever=dict(type='FixKRetriever', fix_id_list=[0, 1, 2, 3, 4]),
            inferencer=dict(type='PPLInferencer'),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
]
