"""What the core never imports. Each extension registers parts by name, as the package of a stranger does."""
