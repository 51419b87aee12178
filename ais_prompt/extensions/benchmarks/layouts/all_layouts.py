"""All layouts, by the name of the class that reads them in OpenCompass or AISBench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ais_prompt.extensions.benchmarks.layouts import exact, functions, reading
from ais_prompt.extensions.benchmarks.layouts import language_tasks as language
from ais_prompt.extensions.benchmarks.layouts import multiple_choice as choices
from ais_prompt.extensions.benchmarks.layouts.file_layout import Layout

LAYOUTS: Final[Mapping[str, Layout]] = {
    **choices.KNOWLEDGE,
    **exact.LAYOUTS,
    **choices.LAYOUTS,
    **reading.LAYOUTS,
    **language.LAYOUTS,
    **reading.LONG_TEXTS,
    **functions.LAYOUTS,
}
