"""Emotion, result and relations that a text names, and its key phrases. Pure."""
