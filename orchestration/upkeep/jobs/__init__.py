"""The jobs of upkeep, one file each, and their table."""
