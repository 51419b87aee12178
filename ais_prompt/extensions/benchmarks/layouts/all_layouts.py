"""All layouts, by the name of the class that reads them in OpenCompass or AISBench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ais_prompt.extensions.benchmarks.layouts import bfcl_questions, exact, language_tasks, multiple_choice, reading
from ais_prompt.extensions.benchmarks.layouts.file_layout import Layout

LAYOUTS: Final[Mapping[str, Layout]] = {
    **multiple_choice.KNOWLEDGE,
    **exact.LAYOUTS,
    **multiple_choice.LAYOUTS,
    **reading.LAYOUTS,
    **language_tasks.LAYOUTS,
    **reading.LONG_TEXTS,
    **bfcl_questions.LAYOUTS,
}
