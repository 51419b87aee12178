"""Configs of OpenCompass and AISBench: translate what they say into the config of this program.

`translate` takes a loaded config and returns one that names our parts, with a note on everything that is dropped or
means something else here. ``table/`` maps their names to ours. A part without a row there runs their own code through
an adapter. The core does not know their form.
"""
