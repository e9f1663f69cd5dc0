"""Imagination: what may follow from an action, by the contexts of before; predictions and how well they did."""
