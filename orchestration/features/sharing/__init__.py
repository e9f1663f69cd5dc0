"""Sharing a memory on a shared level, its copies, and contests of what is shared."""
