"""BigCodeBench, complete: functions to complete, tested in a sandbox; run it with --allow-code-execution."""

INSTRUCTION = (
    'Please provide a self-contained Python script that solves the following problem in a markdown code block:\n'
)
PROMPT = INSTRUCTION + '```\n{complete_prompt}\n```\n'

datasets = [
    dict(
        abbr='big-code-bench-complete',
        type='CatalogDataset',
        benchmark='big_code_bench',
        reader_cfg=dict(
            input_columns=['complete_prompt'],
            output_column='canonical_solution',
            gold_columns=['code_prompt', 'test', 'libs'],
        ),
        infer_cfg=dict(
            prompt_template=dict(type='PromptTemplate', template=dict(round=[dict(role='HUMAN', prompt=PROMPT)])),
            inferencer=dict(type='GenInferencer', max_out_len=1280),
        ),
        eval_cfg=dict(
            evaluator=dict(type='BigCodeBenchEvaluator'),
            pred_postprocessor=dict(type='humaneval_postprocess_v2'),
        ),
    )
]
