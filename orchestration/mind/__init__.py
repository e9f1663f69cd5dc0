"""A citizen: its state, energy, changed beliefs and identity."""
