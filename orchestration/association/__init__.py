"""The Tag-Walker: from labels to memories that bear them together."""
