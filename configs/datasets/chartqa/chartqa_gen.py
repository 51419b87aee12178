"""ChartQA, scored with relaxed accuracy: numbers within 5 %."""

PROMPT = '{question}\nAnswer the question using a single word or phrase.'

datasets = [
    dict(
        abbr='chartqa',
        type='CatalogDataset',
        benchmark='chartqa',
        reader_cfg=dict(input_columns=['question', 'content'], output_column='answers'),
        infer_cfg=dict(
            prompt_template=dict(
                type='MMPromptTemplate',
                template=dict(
                    round=[
                        dict(
                            role='HUMAN',
                            prompt_mm={
                                'text': {'type': 'text', 'text': PROMPT},
                                'image': {'type': 'image_url', 'image_url': {'url': 'file://{image}'}},
                            },
                        ),
                    ]
                ),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=64),
        ),
        eval_cfg=dict(evaluator=dict(type='RelaxedAccuracyEvaluator')),
    )
]
