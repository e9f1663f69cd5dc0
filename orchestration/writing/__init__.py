"""Turns commands into stored records, or refuses them. Pure, except `atomic` and `erasure`."""
