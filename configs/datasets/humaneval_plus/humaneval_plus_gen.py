"""HumanEval+: the functions of HumanEval with many more tests, in a sandbox; run it with --allow-code-execution."""

datasets = [
    dict(
        abbr='humaneval-plus',
        type='CatalogDataset',
        benchmark='humaneval_plus',
        reader_cfg=dict(
            input_columns=['prompt'],
            output_column='canonical_solution',
            gold_columns=['prompt', 'test', 'entry_point'],
        ),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt='Complete this Python function:\n\n```python\n{prompt}```'),
                        dict(role='BOT', prompt='{canonical_solution}'),
                    ]
                ),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=1024),
        ),
        eval_cfg=dict(
            evaluator=dict(type='HumanEvalEvaluator', timeout=30),
            pred_postprocessor=dict(type='humaneval_postprocess_v2'),
        ),
    )
]
