"""Waking: a citizen asks from its state alone (003, flux 1)."""
