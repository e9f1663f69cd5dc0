"""Situation: all that a cycle of the mind begins with, in one call."""
