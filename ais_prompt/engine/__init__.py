"""Ask the models: send what is missing, keep every answer."""
