"""The config of this run, resolved. Run it again: aisprompt run <this file>."""

work_dir = 'outputs'

run_name = 'facts'

paths_relative_to = '/project'

models = [
    dict(
        type='ScriptedModel',
        abbr='fake',
        likelihoods=dict(true=1.0, false=2.0),
        prompt_style='text',
    ),
]

datasets = [
    dict(
        abbr='facts',
        path='data/facts.jsonl',
        reader_cfg=dict(
            input_columns=['statement'],
            output_column='label',
        ),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    true='{statement} That is true.',
                    false='{statement} That is false.',
                ),
            ),
            inferencer=dict(type='PPLInferencer'),
        ),
        eval_cfg=dict(
            evaluator=dict(type='AccEvaluator'),
        ),
    ),
]
