"""Metrics and their aggregation: pure functions, each with its source."""

from ais_prompt.metrics.claims import fewest_for, samples_for
from ais_prompt.metrics.difference import mean_difference
from ais_prompt.metrics.interval import wilson_interval
from ais_prompt.metrics.repeated import Repeatability

__all__ = ["Repeatability", "fewest_for", "mean_difference", "samples_for", "wilson_interval"]
