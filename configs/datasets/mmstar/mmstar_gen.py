"""MMStar, the letter read from the answer; the question holds its options."""

PROMPT = '{question}\nPlease select the correct answer from the options above. Answer with its letter.'

datasets = [
    dict(
        abbr='mmstar',
        type='CatalogDataset',
        benchmark='mmstar',
        reader_cfg=dict(input_columns=['question', 'content'], output_column='answer'),
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
        eval_cfg=dict(
            evaluator=dict(type='AccEvaluator'),
            pred_postprocessor=dict(type='last_option_postprocess', options='ABCD'),
        ),
    )
]
