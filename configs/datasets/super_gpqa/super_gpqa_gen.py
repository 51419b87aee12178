"""SuperGPQA without examples, the letter read from the answer."""

PROMPT = (
    '{question}\n\n{options}\n\n'
    'Think step by step. End with a line "Answer: X", where X is the letter of your choice.'
)

datasets = [
    dict(
        abbr='super-gpqa',
        type='CatalogDataset',
        benchmark='super_gpqa',
        reader_cfg=dict(input_columns=['question', 'options'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt=PROMPT),
                        dict(role='BOT', prompt='{answer}'),
                    ]
                ),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=16384),
        ),
        eval_cfg=dict(
            evaluator=dict(type='AccEvaluator'),
            pred_postprocessor=dict(type='last_option_postprocess', options='ABCDEFGHIJ'),
        ),
    )
]
