"""Upkeep: what keeps a memory in order while nobody asks."""
