"""Waking: a citizen asks from its state alone (003, state-based retrieval)."""
