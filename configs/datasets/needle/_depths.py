"""One needle at eleven depths of a text, still without a length and language."""

MAX_OUT_LEN = 128

needle = dict(
    type='RulerDataset',
    task='niah_single_2',
    num_samples=55,  # five prompts at each of eleven depths
    max_out_len=MAX_OUT_LEN,
    reader_cfg=dict(input_columns=['prompt'], output_column='answers'),
    infer_cfg=dict(
        prompt_template=dict(
            type='PromptTemplate',
            template=dict(
                round=[
                    dict(role='HUMAN', prompt='{prompt}'),
                    dict(role='BOT', prompt='{answers}'),
                ]
            ),
        ),
        inferencer=dict(type='GenInferencer', max_out_len=MAX_OUT_LEN),
    ),
    eval_cfg=dict(evaluator=dict(type='StringMatchEvaluator')),
)
LENGTHS = {'4k': 4096, '8k': 8192, '16k': 16384, '32k': 32768, '64k': 65536, '128k': 131072}
