"""MBPP+: the programs of MBPP with many more tests, in a sandbox; run it with --allow-code-execution."""

PROMPT = 'Write a Python program.\n\n{text}\n\nThese assertions must hold:\n\n```python\n{shown_tests}\n```'

datasets = [
    dict(
        abbr='mbpp-plus',
        type='CatalogDataset',
        benchmark='mbpp_plus',
        reader_cfg=dict(
            input_columns=['text', 'shown_tests'],
            output_column='code',
            gold_columns=['test_list', 'test_setup_code'],
        ),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt=PROMPT),
                        dict(role='BOT', prompt='{code}'),
                    ]
                ),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=1024),
        ),
        eval_cfg=dict(
            evaluator=dict(type='MBPPEvaluator', timeout=30),
            pred_postprocessor=dict(type='mbpp_postprocess'),
        ),
    )
]
