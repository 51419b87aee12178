"""From the text of an answer to the answer itself.

A postprocessor is a function of one text. It returns the answer as text, or **None where the text holds no answer**;
the sample is then counted as unparsed, never as an empty answer. Postprocessors of the gold (``dataset_postprocessor``)
raise `ais_prompt.errors.DataError` instead: a gold that cannot be read is a fault of the data. Further keyword
arguments of a postprocessor are given in the config, beside its ``type``.
"""
