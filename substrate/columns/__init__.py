"""What a process holds of the present of its graphs, in columns."""
