"""The store: time, graphs, queries, the engine and the connection to it."""
