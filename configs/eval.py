"""The demo: a small model that ships with the package answers sums: as text, in chat, by choosing, in dialogues."""

from mmengine.config import read_base

with read_base():
    from .datasets.demo.demo_addition import datasets as addition_datasets
    from .datasets.demo.demo_chat_sums import datasets as chat_datasets
    from .datasets.demo.demo_choice import datasets as choice_datasets
    from .datasets.demo.demo_dialogue import datasets as dialogue_datasets
    from .models.demo.demo_base import models as base_models
    from .models.demo.demo_chat import models as chat_models

models = [*base_models, *chat_models]
datasets = [*addition_datasets, *chat_datasets, *choice_datasets, *dialogue_datasets]
# Dialogues take the most time: a hundred of them show as much as all.
dialogue_datasets[0]['reader_cfg']['test_range'] = '[:100]'
