"""The reference: what everything is called, takes and means, read from signatures, docstrings and tables.

`aisprompt describe` shows an entry in a terminal, and ``python -m tools.reference`` writes the pages of docs/reference.
"""

from typing import Final

from ais_prompt.extension import Extension, VerbEntry

EXTENSION: Final = Extension(
    verbs={
        "describe": VerbEntry(
            "Look", "command:describe", "Describe a part, key, error, file or option.", "lookup:DescribeDocument"
        ),
    },
    steps={"foreign_name": "command:advice_on_pattern"},
)
