"""Serving performance: when requests are sent, what came back when, and what follows from it."""
