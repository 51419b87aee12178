"""OCRBench, one dataset a kind: a gold anywhere in the answer is right."""

KINDS = [
    *('Regular Text Recognition', 'Irregular Text Recognition', 'Artistic Text Recognition'),
    *('Handwriting Recognition', 'Digit String Recognition', 'Non-Semantic Text Recognition'),
    *('Scene Text-centric VQA', 'Doc-oriented VQA', 'Key Information Extraction'),
    'Handwritten Mathematical Expression Recognition',
]
ABBRS = [f"ocrbench-{kind.lower().replace(' ', '-')}" for kind in KINDS]
summarizer = dict(summary_groups=[dict(name='ocrbench', subsets=ABBRS, weights='n')])

datasets = [
    dict(
        abbr=abbr,
        type='CatalogDataset',
        benchmark='ocrbench',
        only=dict(question_type=kind),
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
            inferencer=dict(type='GenInferencer', max_out_len=128),
        ),
        eval_cfg=dict(evaluator=dict(type='OcrBenchEvaluator', formulas='Expression' in kind)),
    )
    for kind, abbr in zip(KINDS, ABBRS, strict=True)
]
