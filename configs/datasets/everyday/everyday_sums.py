"""Word problems with one or two steps, four examples, answers compared as numbers."""

datasets = [
    dict(
        abbr='everyday-sums',
        type='LocalDataset',
        path='data/everyday/sums',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            ice_template=dict(
                type='PromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt='{question}'),
                        dict(role='BOT', prompt='{answer}'),
                    ]
                ),
            ),
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    begin='</E>',
                    round=[
                        dict(role='HUMAN', prompt='{question}'),
                        dict(role='BOT', prompt='{answer}'),
                    ],
                ),
                ice_token='</E>',
            ),
            retriever=dict(type='FixKRetriever', fix_id_list=[0, 1, 2, 3]),
            inferencer=dict(type='GenInferencer', max_out_len=64),
        ),
        eval_cfg=dict(
            evaluator=dict(type='Gsm8kEvaluator'),
            pred_postprocessor=dict(type='gsm8k_postprocess'),
        ),
    )
]
