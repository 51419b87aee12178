"""Accuracy of code by running its tests in a sandbox."""
