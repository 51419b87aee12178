"""MRCR: the last question of each conversation, scored as its publisher does."""

datasets = [
    dict(
        abbr=f'mrcr-{needles}-needles',
        type='CatalogDataset',
        benchmark='mrcr',
        only=dict(n_needles=needles),
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(
                type='MultiTurnPromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt='{question}'),
                        dict(role='BOT', prompt='{answer}'),
                    ]
                ),
            ),
            inferencer=dict(type='MultiTurnGenInferencer', infer_mode='last', max_out_len=4096),
        ),
        eval_cfg=dict(evaluator=dict(type='MrcrEvaluator')),
    )
    for needles in (2, 4, 8)
]
