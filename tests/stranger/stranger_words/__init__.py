"""An extension of somebody else: a part, a verb, a format of logs, and what happens at the end of a run."""

from ais_prompt.extension import Extension, VerbEntry

EXTENSION = Extension(
    parts={"postprocessors": {"last_word": "parts"}},
    verbs={"count-words": VerbEntry("Others", "command:count_words", "Count the words of a file.")},
    logs={"words": "log:FORMAT"},
    steps={"finished": "tracker:finished"},
)
