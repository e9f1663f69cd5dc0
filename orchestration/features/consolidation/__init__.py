"""Consolidation: clusters of like memories, and the generalisations made of them."""
