"""A context that an agent names: a memory, its nodes and its edges in one call, and a note of who wrote it."""
