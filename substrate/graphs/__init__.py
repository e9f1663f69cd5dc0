"""A graph's life: its name, schema, indexes and migrations."""
