"""GSM8K, four worked examples as earlier turns of a chat, the last number of the answer compared with the gold.

`aisprompt data get gsm8k` brings the data.
"""

datasets = [
    dict(
        abbr='gsm8k-4shot-chat',
        type='CatalogDataset',
        benchmark='gsm8k',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            ice_template=dict(
                type='PromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt="Question: {question}\nLet's think step by step.\nAnswer:"),
                        dict(role='BOT', prompt='{answer}\n'),
                    ]
                ),
            ),
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    begin='</E>',
                    round=[
                        dict(role='HUMAN', prompt="Question: {question}\nLet's think step by step.\nAnswer:"),
                        dict(role='BOT', prompt=''),
                    ],
                ),
                ice_token='</E>',
            ),
            retriever=dict(type='FixKRetriever', fix_id_list=[0, 1, 2, 3]),
            inferencer=dict(type='GenInferencer', max_out_len=512),
        ),
        eval_cfg=dict(
            evaluator=dict(type='Gsm8kEvaluator'),
            pred_postprocessor=dict(type='gsm8k_postprocess'),
            dataset_postprocessor=dict(type='gsm8k_dataset_postprocess'),
        ),
    )
]
