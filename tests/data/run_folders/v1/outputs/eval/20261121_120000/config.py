"""The config of this run, resolved. Run it again: aisprompt run <this file>."""

work_dir = 'outputs'

run_name = 'eval'

paths_relative_to = '/project'

models = [
    dict(
        type='ScriptedModel',
        abbr='fake',
        answers={'^3\\+3': 'It is 6.'},
        default='It is 4.',
        prompt_style='text',
        max_concurrency=1,
    ),
    dict(
        type='OpenAIChatModel',
        abbr='served',
        model='default',
        base_url='http://127.0.0.1:39285/v1',
        max_concurrency=2,
    ),
]

datasets = [
    dict(
        abbr='sums',
        path='data/sums.jsonl',
        reader_cfg=dict(
            input_columns=['question'],
            output_column='answer',
        ),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template='{question}\nAnswer: {answer}',
            ),
            inferencer=dict(type='GenInferencer'),
        ),
        eval_cfg=dict(
            evaluator=dict(type='Gsm8kEvaluator'),
            pred_postprocessor=dict(type='gsm8k_postprocess'),
        ),
    ),
    dict(
        abbr='twice',
        path='data/sums.jsonl',
        reader_cfg=dict(
            input_columns=['question'],
            output_column='answer',
        ),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template='{question}\nAnswer: {answer}',
            ),
            inferencer=dict(type='GenInferencer', n=2),
        ),
        eval_cfg=dict(
            evaluator=dict(type='Gsm8kEvaluator'),
            pred_postprocessor=dict(type='gsm8k_postprocess'),
        ),
    ),
    dict(
        abbr='judged',
        path='data/sums.jsonl',
        reader_cfg=dict(
            input_columns=['question'],
            output_column='answer',
        ),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template='{question}\nAnswer: {answer}',
            ),
            inferencer=dict(type='GenInferencer'),
        ),
        eval_cfg=dict(
            evaluator=dict(
                type='GenericLLMEvaluator',
                judge_cfg=dict(
                    type='ScriptedModel',
                    abbr='judge',
                    answers={
                        'Answer: It is [48]': 'A',
                    },
                    default='B',
                ),
                prompt_template=dict(
                    type='PromptTemplate',
                    template='Question: {question}\nGold: {gold}\nAnswer: {prediction}\nNote: {note}\nA or B?',
                ),
            ),
        ),
    ),
    dict(
        abbr='talks',
        path='data/talks.jsonl',
        reader_cfg=dict(
            input_columns=['question', 'answer'],
            output_column='answer',
        ),
        infer_cfg=dict(
            prompt_template=dict(
                type='MultiTurnPromptTemplate',
                template=dict(
                    round=[
                        dict(
                            role='HUMAN',
                            prompt='{question}',
                        ),
                        dict(
                            role='BOT',
                            prompt='{answer}',
                        ),
                    ],
                ),
            ),
            inferencer=dict(type='MultiTurnGenInferencer', infer_mode='every'),
        ),
        eval_cfg=dict(
            evaluator=dict(type='AccEvaluator'),
        ),
    ),
]
