"""Make the demo: its data, and the small model that is trained on them."""
