"""PIQA without examples, the letter read from the answer."""

PROMPT = (
    'Which way reaches the goal?\n\nGoal: {goal}\n\n{options}\n\n'
    'Think step by step. End with a line "Answer: X", where X is the letter of your choice.'
)

datasets = [
    dict(
        abbr='piqa',
        type='CatalogDataset',
        benchmark='piqa',
        reader_cfg=dict(input_columns=['goal', 'options'], output_column='answer', test_split='validation'),
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
            inferencer=dict(type='GenInferencer', max_out_len=2048),
        ),
        eval_cfg=dict(
            evaluator=dict(type='AccEvaluator'),
            pred_postprocessor=dict(type='last_option_postprocess', options='AB'),
        ),
    )
]
