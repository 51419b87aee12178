"""A model that takes texts and gives log-likelihoods."""

_ANSWER = "The answer is A."

models = [
    {"type": "ScriptedModel", "abbr": "text", "default": _ANSWER, "prompt_style": "text", "likelihoods": {"": 1.0}}
]
