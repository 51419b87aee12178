"""CMATH without examples, the result compared as mathematics: some golds are fractions."""

PROMPT = '{question}\n\n请逐步推理，最后另起一行写“答案：N”，N 是一个数。'

datasets = [
    dict(
        abbr='cmath',
        type='CatalogDataset',
        benchmark='cmath',
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
            evaluator=dict(type='MATHVerifyEvaluator'),
            pred_postprocessor=dict(type='math_postprocess_v2'),
        ),
    )
]
