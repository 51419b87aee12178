"""The first turns of MT-Bench, each answer rated from 1 to 10 by a judge."""

RATING = (
    'Rate an answer to a question.\n\nQuestion: {turn_1}\n\nAnswer: {prediction}\n\n'
    'A good answer is correct, complete, relevant and clear, and does what the question asks for. '
    'Give your reasons first. Then write the rating from 1, useless, to 10, excellent, in this form: [[5]]'
)

datasets = [
    dict(
        abbr='mt-bench-first-turn',
        type='CatalogDataset',
        benchmark='mt_bench',
        reader_cfg=dict(input_columns=['turn_1'], output_column=None),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(round=[dict(role='HUMAN', prompt='{turn_1}')]),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=2048),
        ),
        eval_cfg=dict(
            evaluator=dict(
                type='LLMRatingEvaluator',
                prompt_template=dict(type='PromptTemplate', template=RATING),
                judge_cfg=dict(type='OpenAIChatModel', abbr='judge', model='gpt-4o', max_out_len=1024),
            ),
        ),
    )
]
