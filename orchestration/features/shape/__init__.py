"""Resonance by shape: the same happened around two memories, whatever the words."""
