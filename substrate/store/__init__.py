"""Every read and write of the graphs, each with its own queries and the reading of their rows."""
