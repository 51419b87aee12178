"""The old path of role templates, which configs import. They are in `ais_prompt.prompts` now."""
