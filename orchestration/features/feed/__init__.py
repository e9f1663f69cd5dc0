"""What changed in a graph, in the order in which it was applied."""
