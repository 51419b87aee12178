"""Video-MME without subtitles, the letter read from the answer."""

PROMPT = '{question}\nPlease select the correct answer from the options above. Answer with its letter.'

datasets = [
    dict(
        abbr='videomme',
        type='CatalogDataset',
        benchmark='videomme',
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
                                'video': {'type': 'video_url', 'video_url': {'url': 'file://{video}'}},
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
