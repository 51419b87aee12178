"""IFBench: instructions that a program checks, without examples; needs the extra [instructions]."""

datasets = [
    dict(
        abbr='ifbench',
        type='CatalogDataset',
        benchmark='ifbench',
        reader_cfg=dict(
            input_columns=['prompt'],
            output_column=None,
            gold_columns=['prompt', 'instruction_id_list', 'kwargs'],
        ),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(round=[dict(role='HUMAN', prompt='{prompt}')]),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=4096),
        ),
        eval_cfg=dict(evaluator=dict(type='InstructionEvaluator', benchmark='ifbench')),
    )
]
