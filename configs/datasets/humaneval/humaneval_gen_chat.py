"""HumanEval, 164 functions to complete, tested in a sandbox; run it with --allow-code-execution.

`aisprompt data get humaneval` brings the data. For pass@k of several answers:
--set datasets.0.infer_cfg.inferencer.n=10 and a model with temperature.
"""

datasets = [
    dict(
        abbr='humaneval-chat',
        type='CatalogDataset',
        benchmark='humaneval',
        reader_cfg=dict(
            input_columns=['prompt'],
            output_column='canonical_solution',
            gold_columns=['prompt', 'test', 'entry_point'],
        ),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt='Complete the following python code:\n{prompt}'),
                        dict(role='BOT', prompt='{canonical_solution}'),
                    ]
                ),
            ),
            retriever=dict(type='ZeroRetriever'),
            inferencer=dict(type='GenInferencer', max_out_len=512),
        ),
        eval_cfg=dict(
            evaluator=dict(type='HumanEvalEvaluator'),
            pred_postprocessor=dict(type='humaneval_postprocess_v2'),
        ),
    )
]
