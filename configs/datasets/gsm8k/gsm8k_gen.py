"""GSM8K without examples, the last number of the answer compared with the gold."""

PROMPT = '{question}\n\nReason step by step. Write the answer in the last line as "Answer: N", where N is a number.'

datasets = [
    dict(
        abbr='gsm8k',
        type='CatalogDataset',
        benchmark='gsm8k',
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
            dataset_postprocessor=dict(type='gsm8k_dataset_postprocess'),
        ),
    )
]
