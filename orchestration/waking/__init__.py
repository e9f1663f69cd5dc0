"""Waking: finds memories that fit the state of a citizen, without a question (003, state-based retrieval)."""
