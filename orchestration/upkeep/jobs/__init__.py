"""The jobs of upkeep, a file each."""
