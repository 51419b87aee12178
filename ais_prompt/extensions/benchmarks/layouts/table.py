"""All layouts, by the name of the class that reads them in OpenCompass or AISBench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ais_prompt.extensions.benchmarks.layouts import choices
from ais_prompt.extensions.benchmarks.layouts import exact
from ais_prompt.extensions.benchmarks.layouts import functions
from ais_prompt.extensions.benchmarks.layouts import knowledge
from ais_prompt.extensions.benchmarks.layouts import language
from ais_prompt.extensions.benchmarks.layouts import long_texts
from ais_prompt.extensions.benchmarks.layouts import reading
from ais_prompt.extensions.benchmarks.layouts.layout import Layout

LAYOUTS: Final[Mapping[str, Layout]] = {
    **knowledge.LAYOUTS,
    **exact.LAYOUTS,
    **choices.LAYOUTS,
    **reading.LAYOUTS,
    **language.LAYOUTS,
    **long_texts.LAYOUTS,
    **functions.LAYOUTS,
}
