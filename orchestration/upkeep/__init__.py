"""The care of a store: sweeps and their repairs, and other vectors."""
