"""Where people look: scores and samples in experiment trackers, and a message at the end of a run."""

from typing import Final

from ais_prompt.extension import Extension, SectionEntry

EXTENSION: Final = Extension(
    sections={
        "track": SectionEntry("the experiment trackers that get the scores", home="options:TRACK"),
        "notify": SectionEntry("who gets a message when the run has ended", home="options:NOTIFY"),
    },
    steps={"begin": "ended_run:check", "finished": "ended_run:tell_all"},
)
