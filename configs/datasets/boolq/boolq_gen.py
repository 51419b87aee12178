"""BoolQ without examples, yes or no read from the answer."""

PROMPT = '{passage}\n\n{question}\n\nAnswer with one word: yes or no.'

datasets = [
    dict(
        abbr='boolq',
        type='CatalogDataset',
        benchmark='boolq',
        reader_cfg=dict(input_columns=['passage', 'question'], output_column='answer', test_split='validation'),
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
            inferencer=dict(type='GenInferencer', max_out_len=16),
        ),
        eval_cfg=dict(
            evaluator=dict(type='AccEvaluator', ignore_case=True),
            pred_postprocessor=dict(type='match_answer_pattern', answer_pattern=r'(?i)\b(yes|no)\b'),
        ),
    )
]
