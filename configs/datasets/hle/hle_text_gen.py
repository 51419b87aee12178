"""The questions of Humanity's Last Exam without an image, in the published form, each answer rated by a judge."""

PROMPT = '{question}'
SYSTEM = (
    'Your response should be in the following format:\n'
    'Explanation: {{your explanation for your answer choice}}\n'
    'Answer: {{your chosen answer}}\n'
    'Confidence: {{your confidence score between 0% and 100% for your answer}}'
)
RATING = (
    'A question, its right answer and a response follow.\n\n'
    'Question: {question}\n\nRight answer: {answer}\n\nResponse: {prediction}\n\n'
    'Does the final answer of the response mean the right answer, within a small margin for numbers? Do not solve the '
    'question yourself. Reply with one letter: A for yes, B for no or for no final answer.'
)

datasets = [
    dict(
        abbr='hle-text',
        type='CatalogDataset',
        benchmark='hle',
        only=dict(shows='text'),
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    begin=[dict(role='SYSTEM', fallback_role='HUMAN', prompt=SYSTEM)],
                    round=[
                        dict(role='HUMAN', prompt=PROMPT),
                        dict(role='BOT', prompt='{answer}'),
                    ],
                ),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=8192),
        ),
        eval_cfg=dict(
            evaluator=dict(
                type='GenericLLMEvaluator',
                prompt_template=dict(type='PromptTemplate', template=RATING),
                judge_cfg=dict(type='OpenAIChatModel', abbr='judge', model='gpt-4o', max_out_len=16),
            ),
        ),
    )
]
