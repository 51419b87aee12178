"""Warn of placeholders that nothing fills."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Final

from ais_prompt.checks.warning import MisspeltPlaceholder, PromptProbe, PromptWarning, filled_texts, sent_texts
from ais_prompt.inferencers import Preview
from ais_prompt.utils.edits import is_one_edit
from ais_prompt.utils.text import listed

PLACEHOLDER: Final = re.compile(r"(\\[A-Za-z]+)?(\{[^\W\d]\w*\})")
"""``{name}``; what belongs to a LaTeX command, such as ``\\boxed{answer}``, is in the first group too."""

IN_BRACES: Final = re.compile(r"(\\[A-Za-z]+)?(\{([^{}\n]{1,80})\})")
"""Anything short in braces; the groups as in `PLACEHOLDER`, and what is between the braces."""

SHORTEST: Final = 3
"""Characters of a name that one edit does not turn into any other name."""


def unfilled(probe: PromptProbe, neutral: Preview) -> Iterator[PromptWarning]:
    """Yield a warning for each placeholder of the dataset's templates that is sent as it is."""
    texts = list(filled_texts(neutral.filled))
    for mark, column in unfilled_marks(texts, neutral, probe.columns).items():
        yield unfilled_warning(mark, column, mark, probe, probe.template)


def unfilled_warning(mark: str, column: str, named: str, probe: PromptProbe, where: str) -> PromptWarning:
    """Return the warning for a placeholder that is sent as it is.

    Args:
        mark, column: from `unfilled_marks`.
        named: the placeholder in words.
        probe: the prompt.
        where: config path of the text.
    """
    near = column or next(iter(get_close_matches(mark.strip("{}"), probe.columns, n=1)), "")
    fix = f"did you mean {{{near}}}? " * bool(near) + f"the columns are {listed(probe.columns)}"
    what = f"{named} is sent as it is: nothing is filled in there"
    return MisspeltPlaceholder(what, where, fix, mark) if column else PromptWarning(what, where, fix)


def unfilled_marks(texts: Sequence[str], neutral: Preview, columns: Sequence[str]) -> dict[str, str]:
    """Return each placeholder in the texts that is sent, with the column that it misspells; "" if it is near none."""
    marks: dict[str, str] = {}
    texts = [text for text in texts if "{" in text]
    if not texts:
        return marks
    sent = "\n".join(sent_texts(neutral.prompt))
    for text in texts:
        plain = {found[2] for found in PLACEHOLDER.finditer(text) if not found[1]}
        for found in IN_BRACES.finditer(text):
            column = _misspelt_column(found[3], columns)
            if not found[1] and found[2] in sent and (column or found[2] in plain):
                marks[found[2]] = column
    return marks


def _misspelt_column(name: str, columns: Sequence[str]) -> str:
    """Return the column that a name in braces misspells: by blanks, by case, or by one edit; "" if it is near none."""
    folded = name.strip().casefold()
    for column in columns:
        known = column.casefold()
        if folded == known or (min(len(folded), len(known)) >= SHORTEST and is_one_edit(folded, known)):
            return column
    return ""
