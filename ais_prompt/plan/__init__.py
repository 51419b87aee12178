"""From a config to built parts, and everything that is looked at before a model is asked."""
