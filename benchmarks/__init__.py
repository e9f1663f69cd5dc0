"""Figures that anyone can take: recall, latency, footprint, embedding."""
