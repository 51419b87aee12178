"""The demo: a small model that ships with the package answers sums, as a language model and in chat."""

from mmengine.config import read_base

with read_base():
    from .datasets.demo.demo_addition import datasets as addition_datasets
    from .datasets.demo.demo_chat_sums import datasets as chat_datasets
    from .models.demo.demo_base import models as base_models
    from .models.demo.demo_chat import models as chat_models

models = [*base_models, *chat_models]
datasets = [*addition_datasets, *chat_datasets]
