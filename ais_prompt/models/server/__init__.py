"""Servers of models that the program starts, watches and stops."""
