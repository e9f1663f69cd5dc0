"""The upkeep of a store: sweeps, repairs and re-embedding."""
