"""Sums in words (What is 23 plus 45?) as a dialogue without examples, answers compared as numbers."""

datasets = [
    dict(
        abbr='demo-chat-sums',
        type='LocalDataset',
        path='data/demo/chat',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt='{question}'),
                        dict(role='BOT', prompt='{answer}'),
                    ]
                ),
            ),
            retriever=dict(type='ZeroRetriever'),
            inferencer=dict(type='GenInferencer'),
        ),
        eval_cfg=dict(
            evaluator=dict(type='Gsm8kEvaluator'),
            pred_postprocessor=dict(type='gsm8k_postprocess'),
        ),
    )
]
