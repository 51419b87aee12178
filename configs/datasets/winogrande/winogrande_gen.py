"""WinoGrande without examples, the letter read from the answer."""

PROMPT = (
    'Which option fills the gap _ in this sentence?\n\n{sentence}\n\n{options}\n\n'
    'Think step by step. End with a line "Answer: X", where X is the letter of your choice.'
)

datasets = [
    dict(
        abbr='winogrande',
        type='CatalogDataset',
        benchmark='winogrande',
        reader_cfg=dict(input_columns=['sentence', 'options'], output_column='answer', test_split='validation'),
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
