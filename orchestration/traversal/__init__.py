"""Paths of thought: how likely a link is followed."""
