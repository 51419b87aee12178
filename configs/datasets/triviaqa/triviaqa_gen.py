"""TriviaQA without documents, a gold answer anywhere in the first line of the answer."""

PROMPT = '{question}\n\nAnswer with the name or number only, in one line.'

datasets = [
    dict(
        abbr='triviaqa',
        type='CatalogDataset',
        benchmark='triviaqa',
        reader_cfg=dict(input_columns=['question'], output_column='answers', test_split='validation'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt=PROMPT),
                        dict(role='BOT', prompt='{answers}'),
                    ]
                ),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=64),
        ),
        eval_cfg=dict(
            evaluator=dict(type='ContainedAnswerEvaluator'),
            pred_postprocessor=dict(type='first_line_postprocess'),
        ),
    )
]
