"""Rules that a citizen learned or was given, and the verdict on an action that it thinks of."""
