from mmengine.registry import Registry
LOAD_DATASET = Registry('load_dataset')
TEXT_POSTPROCESSORS = Registry('text_postprocessors')
ICL_EVALUATORS = Registry('icl_evaluators')
DICT_POSTPROCESSORS = Registry('dict_postprocessors')
