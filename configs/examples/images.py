"""Images as base64 in a column, a question about each; a scripted model that sees red everywhere."""

from ais_prompt import GenInferencer, MMPromptTemplate

models = [dict(type='ScriptedModel', abbr='sees-red', default='red')]
datasets = [
    dict(
        abbr='colours',
        type='LocalDataset',
        path='data/examples/colours',
        # A row: <AIS_IMAGE_START>iVBORw0...<AIS_CONTENT_TAG><AIS_TEXT_START>Which colour ...?<AIS_CONTENT_TAG>
        reader_cfg=dict(input_columns=['content'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(
                type=MMPromptTemplate,
                template=dict(
                    round=[
                        dict(
                            role='HUMAN',
                            prompt_mm={
                                'text': {'type': 'text', 'text': '{question}'},
                                'image': {
                                    'type': 'image_url',
                                    'image_url': {'url': 'data:image/png;base64,{image}'},
                                },
                            },
                        )
                    ]
                ),
            ),
            inferencer=dict(type=GenInferencer, max_out_len=8),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
]
