"""Feedback: what helped and what did not, kept and used in the ranking."""
