"""Everything of ``view-prompt``: the prompt of a sample, where its pieces come from, and its tokens."""
