"""The functions of the public Python API. Import them from `ais_prompt`."""
