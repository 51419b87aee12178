from opencompass.registry import TEXT_POSTPROCESSORS


@TEXT_POSTPROCESSORS.register_module('last-word')
def last_word(text, strip=''):
    return text.split()[-1].strip(strip) if text.split() else ''
