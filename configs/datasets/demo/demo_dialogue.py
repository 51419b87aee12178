"""Sums that go on from turn to turn (76-37=?, and 5 more?); the model's own answers are part of the dialogue."""

datasets = [
    dict(
        abbr='demo-dialogue',
        type='LocalDataset',
        path='data/demo/dialogue',
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
            retriever=dict(type='ZeroRetriever'),
            inferencer=dict(type='MultiTurnGenInferencer', infer_mode='every'),
        ),
        eval_cfg=dict(
            evaluator=dict(type='Gsm8kEvaluator'),
            pred_postprocessor=dict(type='gsm8k_postprocess'),
        ),
    )
]
