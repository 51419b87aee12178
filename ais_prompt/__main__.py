"""``python -m ais_prompt`` is ``aisprompt``."""

from ais_prompt.cli import main

main(prog_name="aisprompt")
