"""Tools beside the product: set-up, documentation, checks."""
