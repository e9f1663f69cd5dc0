"""One memory of several that belong together, made by the upkeep."""
