"""Whether two models are the same: the same weights, behind the same template."""
