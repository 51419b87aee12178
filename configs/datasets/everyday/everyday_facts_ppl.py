"""General knowledge with four options, by perplexity: each option is written as the answer after four examples."""

LABELS = ['A', 'B', 'C', 'D']

datasets = [
    dict(
        abbr='everyday-facts-ppl',
        type='LocalDataset',
        path='data/everyday/facts',
        reader_cfg=dict(input_columns=['question', *LABELS], output_column='answer'),
        infer_cfg=dict(
            ice_template=dict(
                type='PromptTemplate',
                template={
                    label: dict(
                        round=[
                            dict(role='HUMAN', prompt='{question}'),
                            dict(role='BOT', prompt=f'{{{label}}}'),
                        ]
                    )
                    for label in LABELS
                },
            ),
            prompt_template=dict(
                type='PromptTemplate',
                template={
                    label: dict(
                        begin='</E>',
                        round=[
                            dict(role='HUMAN', prompt='{question}'),
                            dict(role='BOT', prompt=f'{{{label}}}'),
                        ],
                    )
                    for label in LABELS
                },
                ice_token='</E>',
            ),
            retriever=dict(type='FixKRetriever', fix_id_list=[0, 1, 2, 3]),
            inferencer=dict(type='PPLInferencer'),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
]
