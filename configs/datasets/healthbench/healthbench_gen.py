"""HealthBench: the next answer of each conversation; a judge says of each criterion whether the answer meets it."""

datasets = [
    dict(
        abbr='healthbench',
        type='CatalogDataset',
        benchmark='healthbench',
        reader_cfg=dict(input_columns=['messages'], output_column=None, gold_columns=['rubrics']),
        infer_cfg=dict(
            prompt_template=dict(type='RawPromptTemplate', messages=[dict(expand_column='messages')]),
            inferencer=dict(type='GenInferencer', max_out_len=4096),
        ),
        eval_cfg=dict(
            evaluator=dict(
                type='RubricEvaluator',
                criteria='rubrics',
                together=False,
                judge_cfg=dict(type='OpenAIChatModel', abbr='judge', model='gpt-4.1-2025-04-14', max_out_len=1024),
            ),
        ),
    )
]
