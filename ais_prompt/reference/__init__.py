"""The reference: what everything is called, takes and means, read from signatures, docstrings and tables.

`aisprompt describe` shows an entry in a terminal, and ``python -m tools.reference`` writes the pages of docs/reference.
"""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.reference.code_entries import plugin_entries
    from ais_prompt.reference.config_files import config_file_entries
    from ais_prompt.reference.entry import REQUIRED, Argument, Docstring, Entry, parse_docstring, read_docstring
    from ais_prompt.reference.file_entries import FILES, FileKind, schema_of
    from ais_prompt.reference.lookup import entries, entry_text, find
    from ais_prompt.reference.programs import LLMS, SKILL, llms_txt, skill
else:
    __getattr__, __dir__ = offered(__name__)
