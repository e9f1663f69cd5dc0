"""Contexts: what was done, about what, how it felt and how it ended."""
