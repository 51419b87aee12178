"""The 13 tasks of RULER, still without a length."""

RULER_TASKS = [
    'niah_single_1', 'niah_single_2', 'niah_single_3', 'niah_multikey_1', 'niah_multikey_2', 'niah_multikey_3',
    'niah_multivalue', 'niah_multiquery', 'vt', 'cwe', 'fwe', 'qa_1', 'qa_2',
]
NUM_SAMPLES = 99  # a multiple of the eleven depths
MAX_OUT_LEN = 128

ruler_tasks = [
    dict(
        type='RulerDataset',
        task=task,
        num_samples=NUM_SAMPLES,
        max_out_len=MAX_OUT_LEN,
        reader_cfg=dict(input_columns=['prompt'], output_column='answers'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt='{prompt}'),
                        dict(role='BOT', prompt='{answers}'),
                    ]
                ),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=MAX_OUT_LEN),
        ),
        eval_cfg=dict(
            evaluator=dict(
                type='StringMatchEvaluator',
                match='part' if task in ['qa_1', 'qa_2'] else 'all',
            ),
        ),
    )
    for task in RULER_TASKS
]
