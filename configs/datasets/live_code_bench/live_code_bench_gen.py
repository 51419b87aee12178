"""LiveCodeBench, questions of some months, tested in a sandbox; run it with --allow-code-execution.

Reports name the months: of a model that was trained until July 2024, ask about later contests only.
"""

FIRST, LAST = '2024-08', '2025-05'
MONTHS = [f'{year}-{month:02}' for year in range(2023, 2027) for month in range(1, 13)]
SYSTEM = (
    'You are an expert Python programmer. You will be given a question (problem specification) and will generate a '
    'correct Python program that matches the specification and passes all tests.'
)

datasets = [
    dict(
        abbr='live-code-bench',
        type='CatalogDataset',
        benchmark='live_code_bench',
        only=dict(month=[month for month in MONTHS if FIRST <= month <= LAST]),
        reader_cfg=dict(
            input_columns=['question', 'form'], output_column='answer', gold_columns=['tests', 'method']
        ),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    begin=[dict(role='SYSTEM', fallback_role='HUMAN', prompt=SYSTEM)],
                    round=[
                        dict(
                            role='HUMAN',
                            prompt='### Question:\n{question}\n\n{form}### Answer: (use the provided format with '
                            'backticks)\n\n',
                        ),
                    ],
                ),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=16384),
        ),
        eval_cfg=dict(
            evaluator=dict(type='LiveCodeBenchEvaluator'),
            pred_postprocessor=dict(type='live_code_bench_postprocess'),
        ),
    )
]
