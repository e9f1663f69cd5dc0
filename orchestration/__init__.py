"""The flows: they decide with pure calculations, between two I/O edges."""
