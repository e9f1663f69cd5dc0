"""Couche 1, the graph store: time, rows, Cypher, connection."""
