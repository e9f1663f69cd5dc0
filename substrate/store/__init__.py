"""Every read and write of the graphs, each with its own queries and the reading of their rows.

A read raises as `Graph.read` does, a write as `Graph.write`; a docstring says what else.
"""
