"""A postprocessor."""

from ais_prompt import POSTPROCESSORS


@POSTPROCESSORS.register_module()
def last_word(text: str) -> str:
    """Return the last word of an answer."""
    return text.split()[-1].strip(".")
