"""Graphs: their names, schema, indexes, migrations and re-embedding."""
