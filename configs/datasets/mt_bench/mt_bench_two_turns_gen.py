"""Both turns of MT-Bench, each answer rated from 1 to 10 by a judge that sees the conversation before it."""

RATING = (
    'Rate the last answer of an assistant in a conversation.\n\n'
    'Conversation before the answer:\n{conversation}\n\n'
    'Reference for the answer, where there is one: {gold}\n\n'
    'Answer to rate: {prediction}\n\n'
    'A good answer is correct, complete, relevant and clear, and does what the last question asks for. '
    'Give your reasons first. Then write the rating from 1, useless, to 10, excellent, in this form: [[5]]'
)

datasets = [
    dict(
        abbr='mt-bench',
        type='CatalogDataset',
        benchmark='mt_bench',
        reader_cfg=dict(input_columns=['turns'], output_column='references'),
        infer_cfg=dict(
            prompt_template=dict(
                type='MultiTurnPromptTemplate',
                template=dict(round=[dict(role='HUMAN', prompt='{turns}'), dict(role='BOT', prompt='')]),
                turn_columns=['turns'],
            ),
            inferencer=dict(type='MultiTurnGenInferencer', infer_mode='every', max_out_len=2048),
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
