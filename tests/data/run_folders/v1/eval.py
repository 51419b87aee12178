"""Every way of asking, with rows that are equal, rows with equal questions, and a judge."""

import os

judge = dict(
    type='GenericLLMEvaluator',
    judge_cfg=dict(type='ScriptedModel', abbr='judge', answers={'Answer: It is [48]': 'A'}, default='B'),
    prompt_template=dict(
        type='PromptTemplate',
        template='Question: {question}\nGold: {gold}\nAnswer: {prediction}\nNote: {note}\nA or B?',
    ),
)


def sums(abbr, evaluator, **more):
    return dict(
        abbr=abbr,
        path='data/sums.jsonl',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(type='PromptTemplate', template='{question}\nAnswer: {answer}'),
            inferencer=dict(type='GenInferencer', **more),
        ),
        eval_cfg=dict(evaluator=evaluator, pred_postprocessor=dict(type='gsm8k_postprocess'))
        if evaluator['type'] == 'Gsm8kEvaluator'
        else dict(evaluator=evaluator),
    )


models = [
    dict(
        type='ScriptedModel',
        abbr='fake',
        answers={r'^3\+3': 'It is 6.'},
        default='It is 4.',
        prompt_style='text',
        max_concurrency=1,
    ),
    dict(
        type='OpenAIChatModel',
        abbr='served',
        model='default',
        base_url=os.environ.get('MOCK_URL', 'http://127.0.0.1:9/v1'),
        max_concurrency=2,
    ),
]
datasets = [
    sums('sums', dict(type='Gsm8kEvaluator')),
    sums('twice', dict(type='Gsm8kEvaluator'), n=2),
    sums('judged', judge),
    dict(
        abbr='talks',
        path='data/talks.jsonl',
        reader_cfg=dict(input_columns=['question', 'answer'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(
                type='MultiTurnPromptTemplate',
                template=dict(round=[dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')]),
            ),
            inferencer=dict(type='MultiTurnGenInferencer', infer_mode='every'),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    ),
]
