"""MBPP, 500 small programs after three worked examples, tested in a sandbox; run it with --allow-code-execution.

Tasks 2 to 4 are the examples and 11 to 510 the questions, as in its paper. `aisprompt data get mbpp` brings the data.
"""

QUESTION = (
    'You are an expert Python programmer, and here is your task: {text} '
    'Your code should pass these tests:\n\n{test_list}\n'
)

datasets = [
    dict(
        abbr='mbpp-3shot-chat',
        type='CatalogDataset',
        benchmark='mbpp',
        reader_cfg=dict(
            input_columns=['text', 'test_list'],
            output_column='code',
            gold_columns=['test_list', 'test_setup_code'],
            train_split='prompt',
            train_range='[1:4]',
        ),
        infer_cfg=dict(
            ice_template=dict(
                type='PromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt=QUESTION),
                        dict(role='BOT', prompt='[BEGIN]\n{code}\n[DONE]\n'),
                    ]
                ),
            ),
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    begin='</E>',
                    round=[
                        dict(role='HUMAN', prompt=QUESTION),
                        dict(role='BOT', prompt=''),
                    ],
                ),
                ice_token='</E>',
            ),
            retriever=dict(type='FixKRetriever', fix_id_list=[0, 1, 2]),
            inferencer=dict(type='GenInferencer', max_out_len=512),
        ),
        eval_cfg=dict(
            evaluator=dict(type='MBPPEvaluator'),
            pred_postprocessor=dict(type='mbpp_postprocess'),
        ),
    )
]
