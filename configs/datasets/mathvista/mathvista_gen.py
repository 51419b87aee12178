"""MathVista testmini: choices, whole numbers, decimal numbers and lists, each as a dataset."""

KINDS = {
    'choices': (
        dict(question_type='multi_choice'),
        dict(type='AccEvaluator'),
        dict(type='last_option_postprocess', options='ABCDEFGH'),
    ),
    'list': (
        dict(answer_type='list'),
        dict(type='AccEvaluator'),
        dict(type='after_phrase_postprocess', phrase='Answer: '),
    ),
    **{
        f'{kind}-{decimals}' if decimals else kind: (
            dict(question_type='free_form', answer_type=kind, precision=decimals),
            dict(type='RoundedNumberEvaluator', decimals=decimals),
            dict(type='gsm8k_postprocess'),
        )
        for kind, decimals in [('integer', 0), ('float', 1), ('float', 2)]
    },
}
summarizer = dict(summary_groups=[dict(name='mathvista', subsets=[f'mathvista-{kind}' for kind in KINDS], weights='n')])

PROMPT = '{question}\nEnd with a line "Answer: X", where X is the letter, number or list alone.'

datasets = [
    dict(
        abbr=f'mathvista-{kind}',
        type='CatalogDataset',
        benchmark='mathvista',
        only=only,
        reader_cfg=dict(input_columns=['pid', 'content'], output_column='answer'),
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
            inferencer=dict(type='GenInferencer', max_out_len=1024),
        ),
        eval_cfg=dict(evaluator=evaluator, pred_postprocessor=postprocessor),
    )
    for kind, (only, evaluator, postprocessor) in KINDS.items()
]
