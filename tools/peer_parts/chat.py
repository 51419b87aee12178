"""A model that takes messages."""

models = [{"type": "ScriptedModel", "abbr": "chat", "default": "The answer is A."}]
