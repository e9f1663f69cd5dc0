"""Likeness as a port: the nearest vectors of a graph, by a Redis vector set or by an index of FalkorDB."""
