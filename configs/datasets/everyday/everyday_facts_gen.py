"""General knowledge with four options, four examples, the letter read from the answer."""

PROMPT = '{question}\nA. {A}\nB. {B}\nC. {C}\nD. {D}'

datasets = [
    dict(
        abbr='everyday-facts',
        type='LocalDataset',
        path='data/everyday/facts',
        reader_cfg=dict(input_columns=['question', 'A', 'B', 'C', 'D'], output_column='answer'),
        infer_cfg=dict(
            ice_template=dict(
                type='PromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt=PROMPT),
                        dict(role='BOT', prompt='{answer}'),
                    ]
                ),
            ),
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    begin='</E>',
                    round=[
                        dict(role='HUMAN', prompt=PROMPT),
                        dict(role='BOT', prompt='{answer}'),
                    ],
                ),
                ice_token='</E>',
            ),
            retriever=dict(type='FixKRetriever', fix_id_list=[0, 1, 2, 3]),
            inferencer=dict(type='GenInferencer', max_out_len=16),
        ),
        eval_cfg=dict(
            evaluator=dict(type='AccEvaluator'),
            pred_postprocessor=dict(type='first_option_postprocess', options='ABCD'),
        ),
    )
]
