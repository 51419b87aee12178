"""BFCL: which tools a model calls with which arguments, one dataset a category; calls are compared, never carried out.

A local model needs a parser: --set 'datasets.*.infer_cfg.inferencer.parser=hermes'
"""

CATEGORIES = [
    'simple_python', 'multiple', 'parallel', 'parallel_multiple', 'irrelevance',
    'live_simple', 'live_multiple', 'live_parallel', 'live_parallel_multiple', 'live_irrelevance',
]
summarizer = dict(
    summary_groups=[dict(name='bfcl', subsets=[f'bfcl-{category}' for category in CATEGORIES], weights='n')]
)

datasets = [
    dict(
        abbr=f'bfcl-{category}',
        type='CatalogDataset',
        benchmark='bfcl',
        only=dict(category=category),
        reader_cfg=dict(
            input_columns=['messages', 'tools'],
            output_column=None,
            gold_columns=['functions', 'answers'],
        ),
        infer_cfg=dict(
            prompt_template=dict(type='RawPromptTemplate', messages=[dict(expand_column='messages')]),
            inferencer=dict(type='ToolCallInferencer', tools='tools', max_out_len=1024),
        ),
        eval_cfg=dict(
            evaluator=dict(type='ToolCallEvaluator'),
            pred_postprocessor=dict(type='tool_calls_postprocess'),
        ),
    )
    for category in CATEGORIES
]
