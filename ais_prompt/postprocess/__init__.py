"""From the text of an answer to the answer itself.

A postprocessor is a function of one text. It returns the answer as text, or **None where the text holds no answer**;
the sample is then counted as unparsed, never as an empty answer. Postprocessors of the gold (``dataset_postprocessor``)
raise `ais_prompt.errors.DataError` instead: a gold that cannot be read is a fault of the data. Further keyword
arguments of a postprocessor are given in the config, beside its ``type``.

Each can be imported from here; the module that defines it is loaded when its name is first used.
"""

from typing import Any

from ais_prompt.catalog import public_names
from ais_prompt.registry import POSTPROCESSORS

__all__ = public_names("postprocessors")


def __getattr__(name: str) -> Any:
    return POSTPROCESSORS.attribute(__name__, name)
