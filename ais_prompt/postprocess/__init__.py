"""From the text of an answer to the answer itself.

A postprocessor is a function of one text. It returns the answer as text, or **None where the text holds no answer**;
the sample is then counted as unparsed, never as an empty answer. Postprocessors of the gold (``dataset_postprocessor``)
raise `ais_prompt.errors.DataError` instead: a gold that cannot be read is a fault of the data. Further keyword
arguments of a postprocessor are given in the config, beside its ``type``.

Each can be imported from here; the module that defines it is loaded when its name is first used.
"""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.postprocess.chosen_option import (
        first_option_postprocess,
        last_option_postprocess,
        multiple_select_postprocess,
        option_dataset_postprocess,
        option_patterns,
    )
    from ais_prompt.postprocess.dates import date_postprocess, to_date
    from ais_prompt.postprocess.general import (
        first_number_postprocess,
        first_phrase,
        general_postprocess,
        last_number_postprocess,
        phrases_of,
        plain_phrase,
    )
    from ais_prompt.postprocess.label_words import label_postprocess, same_label
    from ais_prompt.postprocess.math import math_dataset_postprocess, math_postprocess_v2
    from ais_prompt.postprocess.numbers import (
        NUMBER,
        ONLY_NUMBER,
        UNMARKED,
        gsm8k_dataset_postprocess,
        gsm8k_postprocess,
        inside_numeral,
        number_dataset_postprocess,
        plain_number,
        to_decimal,
        without_unit,
    )
    from ais_prompt.postprocess.phrases import (
        bbh_freeform_postprocess,
        extract_non_reasoning_content,
        first_capital_postprocess,
        first_capital_postprocess_multi,
        last_capital_postprocess,
        match_answer_pattern,
        xml_tag_postprocessor,
    )
    from ais_prompt.postprocess.rule_engine import REACH, AnswerText, Candidate, Doubts, Rank, doubts, said, strongest
    from ais_prompt.postprocess.stated import boxed_spans, last_boxed
    from ais_prompt.postprocess.written_json import (
        ToolFormat,
        calls_as_text,
        json_postprocess,
        read_calls,
        tool_calls_postprocess,
    )
else:
    __getattr__, __dir__ = offered(__name__, "postprocessors")
