"""MGSM without examples, one dataset a language, the last number of the answer compared with the gold."""

LANGUAGES = ['bn', 'de', 'en', 'es', 'fr', 'ja', 'ru', 'sw', 'te', 'th', 'zh']

PROMPT = (
    '{question}\n\n'
    'Reason step by step. Write the answer in the last line as "Answer: N", where N is a number in digits.'
)

datasets = [
    dict(
        abbr=f'mgsm-{language}',
        type='CatalogDataset',
        benchmark='mgsm',
        only=dict(language=language),
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
            inferencer=dict(type='GenInferencer', max_out_len=1024),
        ),
        eval_cfg=dict(
            evaluator=dict(type='Gsm8kEvaluator'),
            pred_postprocessor=dict(type='gsm8k_postprocess'),
        ),
    )
    for language in LANGUAGES
]
