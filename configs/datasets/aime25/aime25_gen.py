"""AIME 2025 without examples, the boxed result compared as mathematics."""

PROMPT = '{question}\n\nReason step by step. Put the final answer, and nothing else, into a LaTeX box: \\boxed{ANSWER}'

datasets = [
    dict(
        abbr='aime25',
        type='CatalogDataset',
        benchmark='aime25',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
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
            inferencer=dict(type='GenInferencer', max_out_len=32768),
        ),
        eval_cfg=dict(
            evaluator=dict(type='MATHVerifyEvaluator'),
            pred_postprocessor=dict(type='math_postprocess_v2'),
        ),
    )
]
