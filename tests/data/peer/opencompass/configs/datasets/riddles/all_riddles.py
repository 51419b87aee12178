from mmengine.config import read_base

with read_base():
    from .riddles_gen import riddles_datasets
