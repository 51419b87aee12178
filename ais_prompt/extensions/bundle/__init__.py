"""Several runs as a static site, which any web server can show."""

from typing import Final

from ais_prompt.extension import Extension, VerbEntry

EXTENSION: Final = Extension(
    verbs={
        "bundle": VerbEntry("Others", "command:bundle", "Write a static site of several runs.", "site:BundleDocument"),
    },
)
