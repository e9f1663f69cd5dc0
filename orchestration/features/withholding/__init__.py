"""Quarantines hide what came from a distrusted source; policies of retention end or erase what is old."""
