"""MMLU-Pro without examples, one dataset a category, the letter read from the answer."""

CATEGORIES = [
    *('biology', 'business', 'chemistry', 'computer science', 'economics', 'engineering', 'health', 'history'),
    *('law', 'math', 'other', 'philosophy', 'physics', 'psychology'),
]
summarizer = dict(
    summary_groups=[
        dict(
            name='mmlu-pro',
            subsets=[f"mmlu-pro-{category.replace(' ', '-')}" for category in CATEGORIES],
            weights='n',
        )
    ]
)

PROMPT = (
    '{question}\n\n{options}\n\n'
    'Think step by step. End with a line "Answer: X", where X is the letter of your choice.'
)

datasets = [
    dict(
        abbr=f"mmlu-pro-{category.replace(' ', '-')}",
        type='CatalogDataset',
        benchmark='mmlu_pro',
        only=dict(category=category),
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
            inferencer=dict(type='GenInferencer', max_out_len=4096),
        ),
        eval_cfg=dict(
            evaluator=dict(type='AccEvaluator'),
            pred_postprocessor=dict(type='last_option_postprocess', options='ABCDEFGHIJ'),
        ),
    )
    for category in CATEGORIES
]
