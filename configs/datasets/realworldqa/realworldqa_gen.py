"""RealWorldQA, the first phrase of the answer compared; questions say how to answer."""

datasets = [
    dict(
        abbr='realworldqa',
        type='CatalogDataset',
        benchmark='realworldqa',
        reader_cfg=dict(input_columns=['question', 'content'], output_column='answers'),
        infer_cfg=dict(
            prompt_template=dict(
                type='MMPromptTemplate',
                template=dict(
                    round=[
                        dict(
                            role='HUMAN',
                            prompt_mm={
                                'text': {'type': 'text', 'text': '{question}'},
                                'image': {'type': 'image_url', 'image_url': {'url': 'file://{image}'}},
                            },
                        ),
                    ]
                ),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=64),
        ),
        eval_cfg=dict(evaluator=dict(type='EMEvaluator', ignore_case=True)),
    )
]
