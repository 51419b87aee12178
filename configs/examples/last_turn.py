"""Only the last turn of each dialogue is asked, after the gold answers of those before; the shipped model in chat."""

from ais_prompt import MultiTurnGenInferencer, MultiTurnPromptTemplate
from mmengine.config import read_base

with read_base():
    from ..models.demo.demo_chat import models

datasets = [
    dict(
        abbr='last-turn',
        type='LocalDataset',
        path='data/demo/dialogue',
        reader_cfg=dict(input_columns=['question'], output_column='answer', test_range='[:20]'),
        infer_cfg=dict(
            prompt_template=dict(
                type=MultiTurnPromptTemplate,
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt='{question}'),
                        dict(role='BOT', prompt='{answer}'),
                    ]
                ),
            ),
            inferencer=dict(type=MultiTurnGenInferencer, infer_mode='last'),
        ),
        eval_cfg=dict(
            evaluator=dict(type='Gsm8kEvaluator'),
            pred_postprocessor=dict(type='gsm8k_postprocess'),
        ),
    )
]
