"""Models behind an inference server of the kind of Triton."""
