"""A dataset of one question."""

datasets = [
    {
        "abbr": "question",
        "type": "tools.made_up_rows.MadeUpRows",
        "columns": ["question"],
        "gold": "answer",
        "shape": "letter",
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": "{question}"},
            "inferencer": {"type": "GenInferencer"},
        },
        "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
    }
]
