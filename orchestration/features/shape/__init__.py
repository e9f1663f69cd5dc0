"""Resonance by the shape of links, and the perspectives that other citizens have on a thing."""
