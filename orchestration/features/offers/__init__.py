"""Offers: what a citizen may want to write next, drawn from what it said; it takes or refuses them."""
