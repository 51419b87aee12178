"""MMMU validation: choices, and open questions; images are shown where the text names them."""

KINDS = {
    'choices': (
        'multiple-choice',
        'answer',
        'Think step by step. End with a line "Answer: X", where X is the letter of your choice.',
        dict(type='AccEvaluator'),
        dict(type='last_option_postprocess', options='ABCDEFGHI'),
    ),
    'open': (
        'open',
        'answers',
        'Think step by step. End with a line "Answer: X", where X is the answer alone.',
        dict(type='MmmuOpenEvaluator'),
        dict(type='after_phrase_postprocess', phrase='Answer:'),
    ),
}
summarizer = dict(summary_groups=[dict(name='mmmu', subsets=[f'mmmu-{kind}' for kind in KINDS], weights='n')])

datasets = [
    dict(
        abbr=f'mmmu-{kind}',
        type='CatalogDataset',
        benchmark='mmmu',
        only=dict(question_type=name),
        reader_cfg=dict(input_columns=['id', 'content'], output_column=column, test_split='validation'),
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
                        dict(role='HUMAN', prompt=prompt),
                    ]
                ),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=4096),
        ),
        eval_cfg=dict(evaluator=evaluator, pred_postprocessor=postprocessor),
    )
    for kind, (name, column, prompt, evaluator, postprocessor) in KINDS.items()
]
